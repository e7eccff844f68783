// Distributions as box plots, one a row, on a common logarithmic axis.

/** rows: {name, fill, min, p25, p50, p75, p90, p99, max, mean}, in ms. */
function boxPlot(box, width, rows) {
  const rowHeight = 34, narrow = width < 520;
  const margin = {left: narrow ? 8 : Math.min(210, 30 + 7.2 * d3.max(rows, r => short(r.name, 28).length)), top: 6};
  const pitch = narrow ? rowHeight + 16 : rowHeight;
  const at = frame(box, width, rows.length * pitch + 36, margin);
  const x = d3.scaleLog().domain(logDomain(rows.flatMap(r => [r.min, r.max, r.mean]), 1e-4)).range([at.left, at.right]);
  const place = v => x(Math.max(v, x.domain()[0]));
  xAxis(at, x, timeText);
  const row = at.svg.selectAll('g.box')
                  .data(rows)
                  .enter()
                  .append('g')
                  .attr('class', 'box')
                  .attr('transform', (_, i) => `translate(0,${at.top + i * pitch + (narrow ? 32 : rowHeight / 2)})`);
  const line = (selection, from, to, y1, y2, stroke, weight) => selection.append('line')
                                                                    .attr('x1', r => place(r[from]))
                                                                    .attr('x2', r => place(r[to]))
                                                                    .attr('y1', y1)
                                                                    .attr('y2', y2)
                                                                    .attr('stroke', stroke)
                                                                    .attr('stroke-width', weight);
  line(row, 'min', 'max', 0, 0, 'var(--c9)', 1.2);
  row.append('rect')
      .attr('x', r => place(r.p25))
      .attr('width', r => Math.max(2, place(r.p75) - place(r.p25)))
      .attr('y', -9)
      .attr('height', 18)
      .attr('rx', 3)
      .attr('fill', r => r.fill);
  line(row, 'p50', 'p50', -9, 9, 'var(--card)', 2.4);
  line(row, 'p90', 'p90', -7, 7, 'var(--ink)', 1.6);
  line(row, 'p99', 'p99', -7, 7, 'var(--bad)', 1.6);
  row.append('path')
      .attr('d', d3.symbol().type(d3.symbolDiamond).size(70))
      .attr('transform', r => `translate(${place(r.mean)},0)`)
      .attr('fill', 'var(--ink)')
      .attr('stroke', 'var(--card)');
  row.append('text')
      .attr('class', 'strong')
      .attr('x', narrow ? at.left : at.left - 10)
      .attr('y', narrow ? -15 : 4)
      .attr('text-anchor', narrow ? 'start' : 'end')
      .text(r => short(r.name, 28));
  row.append('rect')
      .attr('x', 0)
      .attr('width', width)
      .attr('y', -rowHeight / 2)
      .attr('height', rowHeight)
      .attr('fill', 'transparent');
  tooltip.attach(
      row,
      r => [r.name, [
        `median ${timeText(r.p50)}, mean ${timeText(r.mean)}`, `middle half ${timeText(r.p25)} to ${timeText(r.p75)}`,
        `P90 ${timeText(r.p90)}, P99 ${timeText(r.p99)}`, `${timeText(r.min)} to ${timeText(r.max)}`
      ]]);
}
const BOX_LEGEND = [
  ['var(--c0)', 'middle half, white line: median'], ['var(--ink)', 'diamond: mean; line: P90', 'line'],
  ['var(--bad)', 'P99', 'line']
];
