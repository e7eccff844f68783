// Samples: the slowest, and duration against file size.

function sampleTable() {
  const sized = sampleData.slowest.some(s => s.bytes != null);
  return tableOf(sampleData.slowest.slice(0, 20), [
    ['Time', '', s => timeText(s.ms)],
    ['File', 'path', s => s.path ? el('span.mono', {title: s.path}, breakable(short(s.path, 160))) : '(no file known)'],
    ...(sized ? [['Bytes', '', s => bytesText(s.bytes)]] : []), ['Mostly', 'left', s => s.op ?? '–'],
    ['Index', '', s => s.index < 0 ? '–' : countText(s.index)],
    ['Worker', '', s => s.worker < 0 ? '–' : String(s.worker)]
  ]);
}

function scatter(box, width) {
  const c = sampleData.chosen, at = frame(box, width, 320, {left: 62});
  const rows = d3.range(c.count).filter(i => c.bytes[i] > 0 && c.ms[i] > 0);
  const x = d3.scaleLog().domain(logDomain(rows.map(i => c.bytes[i]), 1)).range([at.left, at.right]);
  const y = d3.scaleLog().domain(logDomain(rows.map(i => c.ms[i]), 1e-4)).range([at.bottom, at.top]);
  xAxis(at, x, bytesText, 0, byteTicks(x, Math.max(2, (at.right - at.left) / 90)));
  yAxis(at, y, timeText);
  const fill = i =>
      c.op[i] === MISSING_SHORT ? 'var(--c9)' : tone(report.ops.findIndex(op => op.name === sampleData.ops[c.op[i]]));
  const dots = at.svg.append('g')
                   .selectAll('circle')
                   .data(rows)
                   .enter()
                   .append('circle')
                   .attr('cx', i => x(c.bytes[i]))
                   .attr('cy', i => y(c.ms[i]))
                   .attr('r', rows.length > 1500 ? 2.1 : 3)
                   .attr('fill', fill)
                   .attr('fill-opacity', .55);
  tooltip.attach(dots, i => [timeText(c.ms[i]), [
                         `${bytesText(c.bytes[i])} read or mapped`,
                         c.op[i] === MISSING_SHORT ? 'in no operation' : `mostly ${sampleData.ops[c.op[i]]}`
                       ]]);
}

function histogram(box, width) {
  const c = sampleData.chosen, at = frame(box, width, 240, {left: 48});
  const values = Array.from(c.ms).filter(v => v > 0);
  const x = d3.scaleLog().domain(logDomain(values, 1e-4)).range([at.left, at.right]);
  const [low, high] = x.domain().map(Math.log), bins = Math.max(16, Math.min(70, Math.floor(width / 11))),
              counts = new Array(bins).fill(0);
  for (const v of values) ++counts[Math.min(bins - 1, Math.floor((Math.log(v) - low) / (high - low) * bins))];
  const edge = k => Math.exp(low + (high - low) * k / bins),
        y = d3.scaleLinear().domain([0, 100 * d3.max(counts) / values.length]).nice().range([at.bottom, at.top]);
  xAxis(at, x, timeText);
  yAxis(at, y, v => v + NARROW + '%');
  const bars = at.svg.append('g')
                   .selectAll('rect')
                   .data(counts)
                   .enter()
                   .append('rect')
                   .attr('x', (_, k) => x(edge(k)) + .5)
                   .attr('width', (_, k) => Math.max(.5, x(edge(k + 1)) - x(edge(k)) - 1))
                   .attr('y', n => y(100 * n / values.length))
                   .attr('height', n => at.bottom - y(100 * n / values.length))
                   .attr('fill', 'var(--batch-2)')
                   .attr('rx', 1.5);
  tooltip.attach(bars, n => [`${percentText(100 * n / values.length)} of the samples`, []]);
}

function drawSamples() {
  const how =
      'One slow sample holds up its whole batch: look at the files at the top of the list, and whether large files are the slow ones.';
  if (sampleData.seen === 0)
    return fillSection(
        'samples', 'Samples', how,
        el('div.wide',
           unmade('No sample was recorded: the dataset gives whole batches (__getitems__), or none was fetched.')));
  const c = sampleData.chosen,
        used = [...new Set(Array.from(c.op))]
                   .filter(op => op !== MISSING_SHORT)
                   .map(op => report.ops.findIndex(o => o.name === sampleData.ops[op]))
                   .filter(i => i >= 0)
                   .sort((a, b) => a - b);
  const leftOut = sampleData.left_out > 0 ?
      ` The first sample of each worker (${countText(sampleData.left_out)}) is left out: it imports modules and fills caches.` :
      '';
  const chosen = c.count < sampleData.seen ?
      `${countText(c.count)} of ${countText(sampleData.seen)} samples, chosen at random` :
      `all ${countText(c.count)} samples`;
  const sizes = sampleData.with_bytes > 0 ?
      card(
          '.wide', 'Duration against file size',
          `Dots that climb to the right: large files cost more. Bytes are those that the sample read or mapped; ${
              chosen}; colour: the operation that took most of it.`,
          legend(used.map(i => [tone(i), report.ops[i].name])), chart(scatter)) :
      card(
          '.wide', 'Duration against file size', null,
          missing(
              'This trace has no file sizes: no read of a sample’s file was seen. Trace with a liblotus.so that times file I/O (see `lotus-analyze info`, hooks), with files that are read by libc.'));
  fillSection(
      'samples', 'Samples', how,
      card(
          '.wide.long', 'The slowest',
          'The slowest of all samples, slowest first; Mostly: the operation that took most of it.' + leftOut, sampleTable()),
      card(
          '.wide', 'How long a sample takes', `Share of samples by duration, on a logarithmic axis; ${chosen}.`,
          chart(histogram)),
      sizes);
}
