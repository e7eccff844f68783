// Batches: how long they took to make, how long training waited for them, how long they lay ready.

const facts = entries =>
    el('dl.facts',
       entries.filter(Boolean).map(
           ([name, value, kind, wide]) =>
               el('div' + (wide ? '.wide' : ''), el('dt', name), el('dd' + (kind || ''), value))));

function batchFacts() {
  const {batches, wait, delay} = report, made = batches.preprocess_ms;
  return facts([
    ['Batches made', countText(batches.count)],
    ['Making one, mean ± std', `${timeText(made.mean)} ± ${timeText(made.std)}`],
    ['Std in percent of the mean', percentText(batches.std_percent)], ['Middle half (IQR)', timeText(batches.iqr_ms)],
    ['Waits over 500 ms', percentText(wait.over_500ms_percent)],
    ['Delays over 500 ms', percentText(delay.over_500ms_percent)],
    ['Out of order', percentText(wait.out_of_order_percent)],
    ['Waits under 1 ms, in order', percentText(wait.under_1ms_in_order_percent)],
    batches.failed > 0 && ['Failed', countText(batches.failed)]
  ]);
}

function statsTable() {
  const rows = [
    ['Preprocessing (T1)', report.batches.preprocess_ms], ['Wait (T2)', report.wait.ms], ['Delay', report.delay.ms],
    ['Training step', report.train_step_ms], ['Sample', report.batches.sample_ms],
    ['Serialize', report.transfer.serialize_ms], ['Send', report.transfer.send_ms],
    ['Deserialize', report.transfer.deserialize_ms], ['Pin memory', report.pin.ms]
  ].filter(([, stats]) => stats.mean != null);
  return tableOf(rows, [
    ['Time of a batch', 'name', r => r[0]],
    ...['mean', 'std', 'min', 'p25', 'p50', 'p75', 'p90', 'p99', 'max'].map(
        key => [key === 'p50' ? 'Median' : upperFirst(key).replace('p', 'P'), '', r => timeText(r[1][key])])
  ]);
}

function drawBatches() {
  const how =
      'A batch that takes long to make shows up as a wait unless others lie ready: wait is how long training stood still for it, delay how long it lay ready.';
  if (report.batches.count === 0)
    return fillSection(
        'batches', 'Batches', how,
        el('div.wide',
           unmade('No batch was made while the program was traced: let it take some batches from a DataLoader.')));
  const made = {name: 'made in', fill: 'var(--batch-2)', values: batchOrder.map(madeIn)};
  const wait = {name: 'wait', fill: 'var(--wait)', values: batchOrder.map(waitOf)},
        delay = {name: 'delay', fill: 'var(--receive)', values: batchOrder.map(delayOf)};
  const inOrder = {
    name: 'wait, in order',
    fill: report.wait.out_of_order > 0 ? 'var(--c3)' : 'var(--wait)',
    values: batchOrder.map(i => run.batches.flags[i] & OUT_OF_ORDER ? NaN : waitOf(i))
  };
  const some = report.wait.count > 0;
  const curves = report.wait.out_of_order > 0 ? [wait, inOrder, delay] : [wait, delay];
  const key = entries => legend(entries.map(s => [s.fill, s.name, 'line']));
  const noWait = () => missing('No wait was recorded: no training loop asked for a batch while it was traced.');
  fillSection(
      'batches', 'Batches', how, card('.wide', null, null, batchFacts()),
      card(
          '', 'Preprocessing time by batch',
          'Line: mean; band: from the shortest to the longest of neighbouring batches.',
          chart((box, width) => seriesChart(box, width, [made]))),
      card(
          '', 'Out-of-order share', 'High bars: batches that were ready had to wait behind slower ones.',
          !some                              ? noWait() :
              report.wait.out_of_order === 0 ? el('p.none', 'No batch arrived out of order.') :
                                               chart(outOfOrderChart)),
      card(
          '', 'Wait and delay by batch',
          'Waits above the dashed line stop training noticeably; batches that arrived out of order have no wait of their own.',
          key([inOrder, delay]),
          some ? chart((box, width) => seriesChart(box, width, [inOrder, delay], {log: true, limit: LONG_WAIT})) :
                 noWait()),
      card(
          '', 'Wait and delay as percentiles',
          'How many percent of the batches stayed below a time; the further left, the better for waits.', key(curves),
          some ? chart((box, width) => percentileChart(box, width, curves)) : noWait()),
      card(
          '.wide.long', 'All times', 'Statistics of one batch (Sample: of one sample); std is that of the population.',
          statsTable()));
}
