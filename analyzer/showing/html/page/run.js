// The run itself: what ran where, with which settings; what the tracer cost and what it lost.

function programCard(file, program) {
  return card('.wide', program.training ? 'The training program' : 'Another program of the trace', null, facts([
                ['Command line', program.arguments || program.program || '–', '.mono', true],
                ['Directory', program.directory || '–', '.mono', true], ['Machine', program.host || '–'],
                ['Cores', countText(program.cores || null)], ['Python', program.python || '–'],
                ['PyTorch', program.torch || '–'], ['Process', String(program.pid)],
                ['Begun', new Date(file.created_ns / 1e6).toISOString().replace('T', ' ').slice(0, 19) + ' UTC']
              ]));
}

// As in the text report: of many loaders, those made at the same place with the same settings share a row.
function loaderRows() {
  const rows = report.loaders.map(l => ({
                                    ...l,
                                    loaders: 1,
                                    next: l.first_epoch.waited_s + l.later_epochs.waited_s,
                                    loop: l.first_epoch.loop_s + l.later_epochs.loop_s
                                  }));
  if (rows.length <= 16) return rows;
  const folded = new Map();
  for (const l of rows) {
    const key = JSON.stringify([
      l.file, l.line, l.variable, l.dataset, l.workers, l.prefetch, l.batch_size, l.pin_memory, l.persistent, l.in_order
    ]);
    const row = folded.get(key);
    if (!row)
      folded.set(key, l);
    else
      for (const sum of ['loaders', 'epochs', 'batches', 'next', 'loop']) row[sum] += l[sum];
  }
  for (const row of folded.values()) row.waited_percent = row.loop > 0 ? 100 * row.next / row.loop : null;
  return [...folded.values()].sort((x, y) => y.loop - x.loop);
}

function loaderTable() {
  const yes = value => value == null ? '–' : value ? 'yes' : 'no';
  const most = 64, rows = loaderRows();
  return [
    tableOf(
        rows.slice(0, most),
        [
          ['Dataset', 'name', l => l.dataset ?? 'unknown'],
          ...(rows.length < report.loaders.length ? [['Loaders', '', l => countText(l.loaders)]] : []),
          ['Workers', '', l => countText(l.workers)], ['Batch', '', l => countText(l.batch_size)],
          ['Prefetch', '', l => countText(l.prefetch)], ['Pinned', '', l => yes(l.pin_memory)],
          ['Persistent', '', l => yes(l.persistent)], ['In order', '', l => yes(l.in_order)],
          ['Epochs', '', l => countText(l.epochs)], ['Batches', '', l => countText(l.batches)],
          ['Waited', '', l => percentText(l.waited_percent)]
        ]),
    ...(rows.length > most ? [el('p.how', `and ${countText(rows.length - most)} more, in report --json.`)] : [])
  ];
}

function workerTable() {
  const most = 64, rows = report.workers.slice(0, most);
  const meter = w => el(
      'span',
      el('span.meter', el('i', {style: {width: `${Math.min(100, w.busy_percent ?? 0)}%`}, '--tone': 'var(--batch-2)'})),
      ' ' + percentText(w.busy_percent));
  const rest = report.workers.length > most ?
      el('p.how', `and ${countText(report.workers.length - most)} more worker processes, in report --json.`) :
      null;
  return [
    tableOf(
        rows,
        [
          ['Worker', 'name', w => w.id < 0 ? '?' : String(w.id)], ['Process', '', w => String(w.pid)],
          ['Loader', '', w => w.loader == null ? '–' : String(w.loader)], ['Batches', '', w => countText(w.batches)],
          ['Preprocessing', '', w => timeText(1e3 * w.fetch_s)], ['Life', '', w => timeText(1e3 * w.lifetime_s)],
          ['Busy', 'left', meter]
        ]),
    rest
  ];
}

function stuckTable() {
  const most = 40;
  const place = f => `${f.function} (${f.file.replace(/.*\//, '')}${f.line == null ? '' : `:${f.line}`})`;
  return tableOf(report.stuck.slice(0, most), [
    ['Process', 'name', s => s.worker == null ? 'training' : `worker ${s.worker}`], ['Pid', '', s => String(s.pid)],
    ['In', 'left', s => s.in], ['For at least', '', s => timeText(s.at_least_ms)],
    ['Batch', '', s => s.batch == null ? '–' : countText(s.batch)],
    ['Sample', '', s => s.index == null ? '–' : countText(s.index)],
    ['Stands in', 'path', s => s.frames.slice(0, 4).map(place).join(' ← ') || '–']
  ]);
}

function cutShortTable() {
  const most = 40;
  return tableOf(report.cut_short.slice(0, most), [
    ['Process', 'name', c => c.worker == null ? 'training' : `worker ${c.worker}`], ['Pid', '', c => String(c.pid)],
    ['In', 'left', c => c.in], ['For at most', '', c => timeText(c.at_most_ms)],
    ['Batch', '', c => c.batch == null ? '–' : countText(c.batch)],
    ['Sample', '', c => c.index == null ? '–' : countText(c.index)], ['File', 'path', c => c.path ?? '–']
  ]);
}

function qualityFacts() {
  const t = report.trace, n = countText, yes = v => v ? 'yes' : 'no';
  return facts([
    ['Events', n(t.events)], ['Lost events', n(t.lost_events)],
    ['Overhead of the tracer', t.overhead_percent == null ? '–' : percentText(t.overhead_percent)],
    ['Cut off or still growing', yes(t.truncated)], ['Ended early', yes(t.interrupted)], ['Gaps', n(t.gaps)],
    ['Missing workers', n(t.missing_workers)], ['Open at the end', n(t.open_spans)],
    ['Lost definitions', n(t.lost_definitions)], ['Dropped spans', n(t.dropped_spans)],
    ['Damaged bytes', n(t.damaged_bytes)],
    ['Clock calibrated', yes(t.clock_calibrated)],
    ['Stack samples', `${n(native.sampling.samples)}, lost ${n(native.sampling.lost)}`]
  ]);
}

function drawRun() {
  const how =
      'What was traced, where and with which settings, and how far to trust it: a lost or damaged part would be named here.';
  const damage = runs.flatMap(file => file.damage.map(d => ({...d, file: file.file})));
  const programs = runs.flatMap(
      file => file.programs.filter((p, i) => p.training || i === 0).map(program => programCard(file, program)));
  fillSection(
      'run', 'The run itself', how, ...programs,
      report.loaders.length ? card('.wide.long', 'DataLoaders', null, ...loaderTable()) :
                              el('div.wide', missing('No DataLoader was recorded.')),
      ...(report.workers.length ?
              [card(
                  '.wide.long', 'Workers', 'Busy: share of a worker’s life that it spent making batches.',
                  ...workerTable().filter(Boolean))] :
              []),
      ...(report.stuck.length ? [card(
                                    '.wide.long', 'Does not go on',
                                    'What was still open when the program was looked at last.', stuckTable())] :
                                []),
      ...(report.cut_short.length ?
              [card(
                  '.wide.long', 'Cut short', 'What processes were in when they ended: killed, crashed, out of memory?',
                  cutShortTable())] :
              []),
      card(
          '.wide', 'Quality of the trace', null, qualityFacts(),
          el('p.how', {style: {marginTop: '10px'}},
             runs.map(
                     f => `${f.file}: ${bytesText(f.bytes)}, format ${f.format}, ${
                         countText(f.processes)} processes, clock ${f.clock}`)
                     .join('; ') +
                 '.')),
      ...(damage.length ? [card(
                              '.wide.long', 'Damage', null,
                              tableOf(
                                  damage.slice(0, 40),
                                  [
                                    ['File', 'path', d => d.file], ['At byte', '', d => countText(d.offset)],
                                    ['Bytes', '', d => countText(d.bytes)], ['What', 'left', d => d.what]
                                  ]))] :
                          []));
}
