// Frames and axes of SVG charts.

const MARGIN = {
  top: 8,
  right: 12,
  bottom: 26,
  left: 54
};

/** An empty SVG of `width` and `height` in the box; returns it with the room inside of the margins. */
function frame(box, width, height, margin = {}) {
  const m = {...MARGIN, ...margin};
  box.replaceChildren();
  const svg = d3.select(box).append('svg').attr('viewBox', `0 0 ${width} ${height}`).attr('role', 'img');
  return {svg, left: m.left, top: m.top, right: Math.max(m.left + 10, width - m.right), bottom: height - m.bottom};
}

/** An axis of times from a linear scale in ms. */
function xTimeAxis(at, scale) {
  const count = Math.max(2, Math.floor((at.right - at.left) / 95)), [from, to] = scale.domain();
  xAxis(at, scale, v => v === 0 ? '0' : timeText(v), count, timeTicks(from, to, count));
}

/** Ticks that neither crowd the axis nor repeat powers of ten between them. */
function ticksOf(scale, count) {
  if (!scale.base) return scale.ticks(count);
  const powers = scale.ticks().filter(t => Math.abs(Math.log10(t) - Math.round(Math.log10(t))) < 1e-9);
  const every = Math.max(1, Math.ceil(powers.length / count));
  if (powers.length < 3)
    return scale.ticks().filter(t => [1, 2, 5].includes(Math.round(t / 10 ** Math.floor(Math.log10(t) + 1e-9))));
  return powers.filter((_, i) => i % every === 0);
}

/** Numbers on an axis need no zeros at their end: 5 s, not 5.00 s. */
const plainly = format => v => format(v).replace(/(\.\d*?)0+(?=\D|$)/, '$1').replace(/\.(?=\D|$)/, '');

function xAxis(
    at, scale, format, count = Math.max(2, Math.floor((at.right - at.left) / 95)), ticks = ticksOf(scale, count)) {
  at.svg.append('g')
      .attr('class', 'gridline')
      .attr('transform', `translate(0,${at.bottom})`)
      .call(d3.axisBottom(scale).tickValues(ticks).tickSize(at.top - at.bottom).tickFormat(''));
  at.svg.append('g')
      .attr('class', 'axis')
      .attr('transform', `translate(0,${at.bottom})`)
      .call(d3.axisBottom(scale).tickValues(ticks).tickSize(4).tickFormat(plainly(format)));
}

function yAxis(at, scale, format, count = 5, ticks = ticksOf(scale, count)) {
  at.svg.append('g')
      .attr('class', 'gridline')
      .attr('transform', `translate(${at.left},0)`)
      .call(d3.axisLeft(scale).tickValues(ticks).tickSize(at.left - at.right).tickFormat(''));
  at.svg.append('g')
      .attr('class', 'axis')
      .attr('transform', `translate(${at.left},0)`)
      .call(d3.axisLeft(scale).tickValues(ticks).tickSize(0).tickPadding(7).tickFormat(plainly(format)))
      .select('.domain')
      .remove();
}

/** Round times within [from, to] ms, about `count` of them: minutes and hours by sixties. */
function timeTicks(from, to, count) {
  const least = (to - from) / Math.max(1, count);
  const clock = [60e3, 120e3, 300e3, 600e3, 900e3, 1800e3, 3600e3, 7200e3, 14400e3, 28800e3, 86400e3];
  const step = least > 60e3 ? clock.find(s => s >= least) ?? 86400e3 * Math.ceil(least / 86400e3) :
      least > 30e3          ? 60e3 :
                              null;
  if (!step) return d3.ticks(from, to, count);
  return d3.range(Math.ceil(from / step) * step, to + step * 1e-6, step);
}

/** Powers of two bytes for an axis of sizes. */
function byteTicks(scale, count) {
  const [low, high] = scale.domain().map(Math.log2), every = Math.max(1, Math.ceil((high - low) / count));
  return d3.range(Math.ceil(low), high, every).map(power => 2 ** power);
}

/** Sizes from 0 to `most` bytes, about `count` of them, each a round number of its unit: 10 MiB, 512 KiB. */
function sizeTicks(most, count) {
  const least = most / Math.max(1, count), unit = 1024 ** Math.floor(Math.log2(Math.max(1, least)) / 10);
  const step = unit * [1, 2, 5, 10, 20, 50, 100, 200, 256, 512, 1024].find(s => s * unit >= least);
  return d3.range(0, most, step);
}

/** The domain of a logarithmic axis that holds the positive ones of these values. */
function logDomain(values, least) {
  let low = Infinity, high = 0;
  for (const v of values)
    if (v > 0) {
      low = Math.min(low, v);
      high = Math.max(high, v);
    }
  if (high === 0) return [least, least * 10];
  low = Math.max(low, least);
  high = Math.max(high, low);
  const room = Math.max(1.25, Math.sqrt(10 * low / high));  // at least a power of ten
  return [low / room, high * room];
}
