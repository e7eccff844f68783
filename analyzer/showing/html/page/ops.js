// Operations: their shares of worker time, their durations, by worker and over time.

function opRows() {
  return report.ops.map((op, i) => ({
                          ...op,
                          fill: tone(i),
                          min: op.min_ms,
                          p25: op.p25_ms,
                          p50: op.p50_ms,
                          p75: op.p75_ms,
                          p90: op.p90_ms,
                          p99: op.p99_ms,
                          max: op.max_ms,
                          mean: op.mean_ms,
                          times: opTimes.rows[i]
                        }));
}

/** What of the worker time is in no operation, as a last row. */
function outsideRow(ops) {
  const share = 100 - d3.sum(ops, op => op.share_percent);
  return share >= 0.1 ? [{
    name: '(outside operations)',
    qualified: 'the dataset’s own code',
    share_percent: share,
    total_s: report.outside_ops_s,
    fill: 'var(--c9)',
    errors: 0
  }] :
                        [];
}

function opTable(ops) {
  const ms = key => op => timeText(op[key]);
  const meter = op =>
      el('span', el('span.meter', el('i', {style: {width: `${Math.min(100, op.share_percent)}%`}, '--tone': op.fill})),
         ' ' + percentText(op.share_percent));
  const name = op =>
      [breakable(short(op.name, 48)),
       op.qualified && op.qualified !== op.name ? el('small', breakable(short(op.qualified, 90))) : ''];
  return tableOf([...ops, ...outsideRow(ops)], [
    ['Operation', 'name', name], ['Share of worker time', 'left', meter], ['Calls', '', op => countText(op.count)],
    ['Mean', '', ms('mean_ms')], ['Median', '', ms('median_ms')], ['P90', '', ms('p90_ms')], ['P99', '', ms('p99_ms')],
    ['Std', '', ms('std_ms')], ['Sum', '', op => timeText(1e3 * op.total_s)],
    ['CPU', '', op => op.cpu_s == null ? '–' : timeText(1e3 * op.cpu_s)],
    ['Under 10 ms', '', op => percentText(op.under_10ms_percent)],
    ['Under 100 µs', '', op => percentText(op.under_100us_percent)],
    ...(ops.some(op => op.errors > 0) ? [['Errors', '', op => countText(op.errors)]] : [])
  ]);
}

/** Own time of each operation in each worker, as stacked bars. */
function opsByWorker(box, width, ops) {
  const lanes =
      run.lanes.map((lane, id) => ({name: lane.training ? 'training' : `worker ${lane.worker}`, id, lane, parts: []}));
  ops.forEach(
      op => op.times.lanes.forEach(([lane, calls, total, own]) => lanes[lane].parts.push({op, calls, total, own})));
  const rows =
      lanes.filter(l => l.parts.length)
          .sort((a, b) => a.lane.run - b.lane.run || a.lane.loader - b.lane.loader || a.lane.worker - b.lane.worker);
  const loaders = new Set(rows.map(r => `${r.lane.run} ${r.lane.loader}`)).size > 1;
  if (loaders)
    rows.forEach(r => {
      r.name += `, ${
          new Set(rows.map(other => other.lane.run)).size > 1 ? `process ${r.lane.pid}` : `loader ${r.lane.loader}`}`;
    });
  const pitch = rows.length <= 40 ? Math.max(15, Math.min(46, Math.floor(196 / rows.length))) :
                                    Math.max(3, Math.floor(640 / rows.length)),
        at = frame(box, width, rows.length * pitch + 36, {left: loaders ? 150 : 76});
  const x =
      d3.scaleLinear().domain([0, d3.max(rows, r => d3.sum(r.parts, p => p.own)) || 1]).range([at.left, at.right]);
  xTimeAxis(at, x);
  const bar = pitch - (pitch > 14 ? 6 : pitch > 5 ? 2 : 1);
  rows.forEach((row, i) => {
    let from = 0;
    const y = at.top + i * pitch + 3;
    if (i % Math.ceil(14 / pitch) === 0)
      at.svg.append('text')
          .attr('class', 'strong')
          .attr('x', at.left - 9)
          .attr('y', y + bar / 2 + 4)
          .attr('text-anchor', 'end')
          .text(row.name);
    for (const part of row.parts) {
      part.from = from;
      from += part.own;
      part.worker = row.name;
    }
    const bars = at.svg.append('g')
                     .selectAll('rect')
                     .data(row.parts)
                     .enter()
                     .append('rect')
                     .attr('x', p => x(p.from))
                     .attr('y', y)
                     .attr('width', p => Math.max(0, x(p.from + p.own) - x(p.from)))
                     .attr('height', bar)
                     .attr('fill', p => p.op.fill);
    tooltip.attach(bars, p => [`${p.op.name}, ${p.worker}`, [
                           `${timeText(p.own)} of its own in ${countText(p.calls)} calls`,
                           `mean ${timeText(p.total / p.calls)}, all workers ${timeText(p.op.mean)}`
                         ]]);
  });
}

/** Own time of each operation per time, as stacked areas: how many workers it kept busy. */
function opsOverTime(box, width, ops) {
  const bins = d3.max(ops, op => op.times.bins_ms.reduce((last, own, i) => own > 0 ? i + 1 : last, 0)) || 1;
  const group = Math.max(1, Math.floor(bins / Math.max(24, width / 9))), count = Math.ceil(bins / group),
        binMs = opTimes.bin_ms * group;
  const rows = d3.range(count).map(k => {
    const row = {};
    ops.forEach((op, i) => {
      row[i] = d3.sum(op.times.bins_ms.slice(k * group, (k + 1) * group)) / binMs;
    });
    return row;
  });
  const at = frame(box, width, 230, {left: 40});
  const layers = d3.stack().keys(ops.map((_, i) => i))(rows);
  const begin = (opTimes.origin_ns - run.origin_ns) / 1e6;  // of bin 0, as the lanes count time
  const x = d3.scaleLinear()
                .domain([0, Math.max(begin + count * binMs, run.span * run.unit)])
                .range([at.left, at.right])
                .clamp(true);
  const y = d3.scaleLinear().domain([0, d3.max(layers[layers.length - 1] || [], d => d[1]) || 1]).nice().range([
    at.bottom, at.top
  ]);
  xTimeAxis(at, x);
  yAxis(at, y, v => digits(v));
  const area = d3.area()
                   .x(d => x(begin + d.at * binMs))
                   .y0(d => y(d[0]))
                   .y1(d => y(d[1]))
                   .curve(count < 16 ? d3.curveLinear : d3.curveMonotoneX);
  const points = layer => layer.flatMap(
      (d, k) => (count < 16 ? [k, k + 1] : [k + 0.5]).map(place => Object.assign([d[0], d[1]], {at: place})));
  const paths = at.svg.append('g')
                    .selectAll('path')
                    .data(layers)
                    .enter()
                    .append('path')
                    .attr('d', layer => area(points(layer)))
                    .attr('fill', layer => ops[layer.key].fill)
                    .attr('opacity', .92);
  tooltip.attach(paths, layer => {
    const k = Math.max(0, Math.min(count - 1, Math.floor((x.invert(d3.mouse(at.svg.node())[0]) - begin) / binMs)));
    return [
      ops[layer.key].name, [`at ${timeText(begin + k * binMs)}: ${digits(rows[k][layer.key])} workers busy with it`]
    ];
  });
}

function drawOps() {
  const how =
      'Which preprocessing operation costs what: shares are of all time that workers spent making batches, an operation inside another counted once.';
  const ops = opRows();
  if (ops.length === 0)
    return fillSection(
        'ops', 'Operations', how,
        el('div.wide',
           unmade(
               'No operation was recorded: give the dataset its transforms as a list of callables (Compose), or do the work in functions below __getitem__.')));
  const wide = run.lanes.length > 14 ? '.wide' : '';
  const key = legend(ops.slice(0, 12).map(op => [op.fill, short(op.name, 40)]));
  fillSection(
      'ops', 'Operations', how,
      card(
          '.wide.long', 'What each one costs',
          'Share: own time, without operations inside; all durations are of whole calls, Sum is their total, CPU what they computed.',
          opTable(ops)),
      card(
          '.wide', 'How long one call takes',
          'A long bar or a P99 far to the right means uneven samples; the axis is logarithmic.', legend(BOX_LEGEND),
          chart((box, width) => boxPlot(box, width, ops))),
      card(
          wide, 'By worker', 'Bars of one length: even work; one that is longer is slow or had more to do.', key,
          chart((box, width) => opsByWorker(box, width, ops))),
      card(
          wide, 'Over time', 'How many workers each operation kept busy on average.', key.cloneNode(true),
          chart((box, width) => opsOverTime(box, width, ops))));
}
