// Memory: what a training step holds when it holds most, where it was made, and what stays.

const ROLES = {
  activation: ['activations', 0],
  backward: ['on the way back', 1],
  gradient: ['gradients of parameters', 2],
  optimizer: ['made in the optimizer’s step', 3],
  batch: ['the batch', 4],
  parameter: ['parameters', 5],
  optimizer_state: ['states of the optimizer', 6],
  older: ['older tensors', 7],
  workspace: ['the operator’s own workspace', 8],
  untouched: ['older, not used in this step', -1]
};
const PHASES = {
  forward: 'var(--c0)',
  backward: 'var(--c1)',
  optimizer: 'var(--c2)'
};

/** The operator that made what is in a row, as the text has it. */
const makerOf = g => g.op ?? (g.older ? '(made before)' : '(outside of operators)');

const sourceText = at => at.file == null ? '–' : `${at.file.replace(/.*\//, '')}${at.line == null ? '' : `:${at.line}`}`;

/** Of what the backward pass made, the line of the forward pass that it belongs to. */
const madeAt = g => g.forward ? `backward of ${sourceText(g.forward)}` : sourceText(g);

/** Bytes in use over the step; phases as a band at the foot. */
function liveChart(box, width, told) {
  const at = frame(box, width, 250, {left: 66, bottom: 36});
  const end = told.live[told.live.length - 1][0] || 1e-9;
  const x = d3.scaleLinear().domain([0, 1e3 * end]).range([at.left, at.right]);
  const y = d3.scaleLinear().domain([0, 1.06 * d3.max(told.live, p => p[1]) || 1]).range([at.bottom - 10, at.top]);
  xTimeAxis(at, x);
  yAxis(at, y, v => v === 0 ? '0' : bytesText(v), 5, sizeTicks(y.domain()[1], 5));
  at.svg.append('path')
      .datum(told.live)
      .attr('fill', 'var(--accent)')
      .attr('opacity', .25)
      .attr('d', d3.area().curve(d3.curveStepAfter).x(p => x(1e3 * p[0])).y0(y(0)).y1(p => y(p[1])));
  at.svg.append('path')
      .datum(told.live)
      .attr('fill', 'none')
      .attr('stroke', 'var(--accent)')
      .attr('stroke-width', 1.4)
      .attr('d', d3.line().curve(d3.curveStepAfter).x(p => x(1e3 * p[0])).y(p => y(p[1])));
  at.svg.append('g')
      .selectAll('rect')
      .data(told.phases)
      .enter()
      .append('rect')
      .attr('x', p => x(1e3 * p.begin_s))
      .attr('y', at.bottom - 7)
      .attr('width', p => Math.max(1, x(1e3 * p.end_s) - x(1e3 * p.begin_s)))
      .attr('height', 6)
      .attr('fill', p => PHASES[p.phase]);
  at.svg.append('line')
      .attr('class', 'limit')
      .attr('x1', at.left)
      .attr('x2', at.right)
      .attr('y1', y(told.peak_bytes))
      .attr('y2', y(told.peak_bytes));
  at.svg.append('circle')
      .attr('cx', x(1e3 * told.peak_s))
      .attr('cy', y(told.peak_bytes))
      .attr('r', 4)
      .attr('fill', 'var(--bad)');
  const cover = coverOf(at), find = d3.bisector(p => 1e3 * p[0]).right;
  tooltip.attach(cover, () => {
    const ms = x.invert(d3.mouse(at.svg.node())[0]), point = told.live[Math.max(0, find(told.live, ms) - 1)];
    const phase = told.phases.find(p => 1e3 * p.begin_s <= ms && ms <= 1e3 * p.end_s);
    return [bytesText(point[1]), [`${timeText(ms)} after the step began`, phase ? phase.phase : 'between operators']];
  });
}

function roleTable(told) {
  const rows = Object.entries(told.peak_by_role).filter(([, bytes]) => bytes > 0).sort((a, b) => b[1] - a[1]);
  const whole = Math.max(told.peak_bytes, d3.sum(rows, row => row[1]));  // some may lie beside the allocator
  const share = bytes => 100 * bytes / whole;
  return tableOf(rows, [
    ['At the peak', 'name', ([role]) => ROLES[role][0]], ['Bytes', '', ([, bytes]) => bytesText(bytes)],
    ['Share', 'left', ([role, bytes]) => el(
        'span',
        el('span.meter', el('i', {style: {width: `${share(bytes)}%`}, '--tone': tone(ROLES[role][1])})),
        ' ' + percentText(share(bytes)))]
  ]);
}

const groupColumns = [
  ['Made by', 'name', g => [makerOf(g), g.largest ? el('small', g.largest) : '']],
  ['At', 'left', madeAt], ['Kind', 'left', g => ROLES[g.role][0]],
  ['Storages', '', g => countText(g.storages)], ['Bytes', '', g => bytesText(g.bytes)]
];

function memoryCards(told) {
  const step = told.steps.find(s => s.number === told.step.number && s.process === told.step.process);
  const at = told.peak_at;
  const peak = el(
      'p', el('b', bytesText(told.peak_bytes)), ' in step ', countText(told.step.number), ' of process ',
      String(told.step.process),
      at ? `, in ${at.op} (${at.forward ? madeAt(at) : at.phase}) at ${sourceText(at)}.` : ', between two operators.',
      step.ended ? '' : ' The program was ended inside of this step.');
  const grown = told.growth.left_behind;
  return [
    card(
        '.wide', 'Memory in use over the step', null, peak, ...told.findings.map(text => el('p', text)),
        legend([
          ...Object.entries(PHASES).map(([name, fill]) => [fill, name]), ['var(--bad)', 'peak', 'line']
        ]),
        chart((box, width) => liveChart(box, width, told))),
    card('', 'What the peak is', null, roleTable(told)),
    card(
        '.wide.long', 'Alive at the peak', 'By the operator that made it and the program’s line that called it.',
        tableOf(told.alive_at_peak, groupColumns)),
    ...(grown.length ?
            [card(
                '.wide.long', 'Left behind by each step', 'Made in a step, and not released in the next one.',
                tableOf(grown, groupColumns))] :
            []),
    ...(told.held_longer.length ?
            [card(
                '.wide.long', 'Held longer than used', 'How long after its last use a tensor was released.',
                tableOf(
                    told.held_longer,
                    [
                      ...groupColumns.slice(0, 2), ['Bytes', '', g => bytesText(g.bytes)],
                      ['Held for', '', g => timeText(1e3 * g.byte_seconds / g.bytes)]
                    ]))] :
            [])
  ];
}

function drawMemory() {
  const how =
      'What PyTorch’s CPU allocator had given out in the recorded step of the highest peak. Which steps are recorded: LOTUS_STEPS.';
  fillSection(
      'memory', 'Memory of a training step', how,
      ...(memory.length ? memory.slice(0, 4).flatMap(memoryCards) :
                          [el('div.wide', missing('No step of training was recorded with its operators.'))]));
}
