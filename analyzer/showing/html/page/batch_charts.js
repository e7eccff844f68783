// Charts of times by batch.

const LONG_WAIT = 500;  // ms, the line of the research system

/** Batches in order of their making. */
const batchOrder = d3.range(run.batches.count).filter(i => run.batches.start[i] !== MISSING_TIME);

// Takes the pointer anywhere in the drawing area, not only on what is drawn.
function coverOf(at) {
  return at.svg.append('rect')
      .attr('x', at.left)
      .attr('y', at.top)
      .attr('width', at.right - at.left)
      .attr('height', at.bottom - at.top)
      .attr('fill', 'transparent');
}

/** values[] in at most `most` groups of neighbours: {at, mean, std, min, max, n}. */
function grouped(values, most) {
  const size = Math.max(1, Math.ceil(values.length / most)), groups = [];
  for (let from = 0; from < values.length; from += size) {
    const some = values.slice(from, from + size).filter(v => !Number.isNaN(v));
    if (some.length === 0) continue;
    const mean = d3.mean(some);
    groups.push({
      at: from + (Math.min(size, values.length - from) - 1) / 2,
      from,
      n: some.length,
      mean,
      std: Math.sqrt(d3.mean(some, v => (v - mean) ** 2)),
      min: d3.min(some),
      max: d3.max(some)
    });
  }
  return {groups, size};
}

/** A series by batch: range, mean; one dot a batch where they fit. */
function seriesChart(box, width, series, {log = false, limit = null} = {}) {
  const at = frame(box, width, 220);
  const drawn = series.map(s => ({...s, ...grouped(s.values, Math.max(40, (at.right - at.left) / 4))}));
  const x =
      d3.scaleLinear().domain([0, Math.max(1, d3.max(series, s => s.values.length - 1))]).range([at.left, at.right]);
  const all = drawn.flatMap(s => s.groups.flatMap(g => [g.min, g.max]));
  const y = log ?
      d3.scaleLog().domain(logDomain(limit ? [...all, limit] : all, 1e-3)).range([at.bottom, at.top]).clamp(true) :
      d3.scaleLinear().domain([0, d3.max(all) * 1.04 || 1]).range([at.bottom, at.top]);
  xAxis(at, x, v => countText(v * run.batches.stride));
  yAxis(at, y, v => v === 0 ? '0' : timeText(v));
  const place = v => y(Math.max(v, y.domain()[0]));
  for (const s of drawn) {
    const single = s.size === 1;
    if (!single)
      at.svg.append('path')
          .datum(s.groups)
          .attr('fill', s.fill)
          .attr('opacity', .22)
          .attr('d', d3.area().x(g => x(g.at)).y0(g => place(g.min)).y1(g => place(g.max)));
    at.svg.append('path')
        .datum(s.groups)
        .attr('fill', 'none')
        .attr('stroke', s.fill)
        .attr('stroke-width', single ? 1 : 1.7)
        .attr('opacity', single ? .45 : 1)
        .attr('d', d3.line().x(g => x(g.at)).y(g => place(g.mean)));
    if (single)
      at.svg.append('g')
          .selectAll('circle')
          .data(s.groups)
          .enter()
          .append('circle')
          .attr('cx', g => x(g.at))
          .attr('cy', g => place(g.mean))
          .attr('r', 2.6)
          .attr('fill', s.fill);
  }
  if (limit) limitLine(at, y(limit), true);
  const cover = coverOf(at);
  tooltip.attach(cover, () => {
    const k = x.invert(d3.mouse(at.svg.node())[0]);
    return [
      `Batch ${countText(k * run.batches.stride)} made`, drawn.map(s => {
        const g = s.groups[Math.max(0, d3.bisector(group => group.from).right(s.groups, k + 0.5) - 1)];
        return !g     ? '' :
            g.n === 1 ? `${s.name}: ${timeText(g.mean)}` :
                        `${s.name}: mean ${timeText(g.mean)} ± ${timeText(g.std)}, ${timeText(g.min)} to ${
                            timeText(g.max)} (${g.n} batches)`;
      })
    ];
  });
}

function limitLine(at, place, across) {
  const line = at.svg.append('line').attr('class', 'limit');
  if (across)
    line.attr('x1', at.left).attr('x2', at.right).attr('y1', place).attr('y2', place);
  else
    line.attr('x1', place).attr('x2', place).attr('y1', at.top).attr('y2', at.bottom);
  const before = across || place > at.right - 60;
  at.svg.append('text')
      .attr('class', 'limit-label')
      .attr('text-anchor', before ? 'end' : 'start')
      .attr(
          'x',
          across     ? at.right - 2 :
              before ? place - 4 :
                       place + 4)
      .attr('y', across ? place - 5 : at.bottom - 7)
      .text(`${LONG_WAIT} ms`);
}

/** Percentile curves: how many percent of the batches stayed below a time. */
function percentileChart(box, width, series) {
  const at = frame(box, width, 220, {left: 44});
  const sorted = series.map(s => ({...s, sorted: s.values.filter(v => !Number.isNaN(v)).sort((a, b) => a - b)}))
                     .filter(s => s.sorted.length);
  const x =
      d3.scaleLog()
          .domain(logDomain(
              [LONG_WAIT, ...sorted.flatMap(s => [Math.max(0.01, s.sorted[0]), s.sorted[s.sorted.length - 1]])], 1e-2))
          .range([at.left, at.right])
          .clamp(true);
  const y = d3.scaleLinear().domain([0, 100]).range([at.bottom, at.top]);
  xAxis(at, x, timeText);
  yAxis(at, y, v => v + NARROW + '%');
  const points = s => {
    const n = s.sorted.length, count = Math.min(n, 400);
    return d3.range(count + 1).map(k => {
      const r = Math.min(n - 1, Math.round(k / count * (n - 1)));
      return [s.sorted[r], n === 1 ? 100 : 100 * (r + 1) / n];
    });
  };
  for (const s of sorted)
    at.svg.append('path')
        .datum([[x.domain()[0], 0], ...points(s), [x.domain()[1], 100]])
        .attr('fill', 'none')
        .attr('stroke', s.fill)
        .attr('stroke-width', 2)
        .attr('d', d3.line().x(p => x(Math.max(p[0], x.domain()[0]))).y(p => y(p[1])).curve(d3.curveStepAfter));
  limitLine(at, x(LONG_WAIT), false);
  const cover = coverOf(at);
  tooltip.attach(cover, () => {
    const t = x.invert(d3.mouse(at.svg.node())[0]);
    return [
      `Up to ${timeText(t)}`,
      sorted.map(s => `${s.name}: ${percentText(100 * d3.bisectRight(s.sorted, t) / s.sorted.length)} of the batches`)
    ];
  });
}

/** Share of batches that arrived out of order, along the run. */
function outOfOrderChart(box, width) {
  const b = run.batches, at = frame(box, width, 220, {left: 44});
  const values = batchOrder.map(i => b.wait[i] === MISSING_TIME ? NaN : b.flags[i] & OUT_OF_ORDER ? 100 : 0);
  const {groups, size} = grouped(values, Math.min(60, Math.max(12, values.length / 8)));
  const x = d3.scaleLinear().domain([0, Math.max(1, values.length)]).range([at.left, at.right]),
        y = d3.scaleLinear().domain([0, 100]).range([at.bottom, at.top]);
  xAxis(at, x, v => countText(v * b.stride));
  yAxis(at, y, v => v + NARROW + '%');
  const bars = at.svg.append('g')
                   .selectAll('rect')
                   .data(groups)
                   .enter()
                   .append('rect')
                   .attr('x', g => x(g.from) + .5)
                   .attr('width', g => Math.max(1, x(Math.min(values.length, g.from + size)) - x(g.from) - 1))
                   .attr('y', g => y(g.mean))
                   .attr('height', g => at.bottom - y(g.mean))
                   .attr('fill', 'var(--mark)')
                   .attr('rx', 1.5);
  tooltip.attach(
      bars,
      g => [`Batches from ${countText(g.from * b.stride)}`, [`${percentText(g.mean)} of ${g.n} arrived out of order`]]);
}
