// Control flow: which part of a region's time is work on tensors, and what its loops, branches and recursions cost.

const PARTS_OF_TIME = [
  ['native_s', 'operators', 'var(--c4)'], ['control_s', 'operators that only serve tests', 'var(--c1)'],
  ['python_s', 'Python', 'var(--c0)']
];
const untraced = parts => d3.sum(PARTS_OF_TIME, ([key]) => parts[key]);
/** A range, where a call waited: whether that was Python's is not known. */
const overheadText = region =>
    [...new Set(region.overhead_range.map(share => percentText(100 * share)))].join(' to ');
const countOf = value => value == null ? '–' : Number.isInteger(value) ? countText(value) : value.toFixed(value < 1 ? 2 : 1);

/** Horizontal bars of [name, parts], stacked. */
function partsChart(box, width, rows) {
  const rowHeight = 26, left = Math.min(260, width / 3);
  const at = frame(box, width, 40 + rowHeight * rows.length, {left, bottom: 34});
  const x = d3.scaleLinear().domain([0, 1e3 * d3.max(rows, ([, parts]) => untraced(parts)) || 1]).range([at.left, at.right]);
  xTimeAxis(at, x);
  rows.forEach(([name, parts], i) => {
    const y = at.top + i * (at.bottom - at.top) / rows.length + 3;
    let before = 0;
    for (const [key, title, fill] of PARTS_OF_TIME) {
      const bar = at.svg.append('rect')
                      .attr('x', x(1e3 * before))
                      .attr('y', y)
                      .attr('width', Math.max(0, x(1e3 * (before + parts[key])) - x(1e3 * before)))
                      .attr('height', rowHeight - 8)
                      .attr('fill', fill);
      tooltip.attach(bar, () => [timeText(1e3 * parts[key]), [title, name]]);
      before += parts[key];
    }
    at.svg.append('text')
        .attr('class', 'label')
        .attr('x', at.left - 6)
        .attr('y', y + rowHeight / 2 - 1)
        .attr('text-anchor', 'end')
        .text(name);
  });
}

const constructTime = c => c.kind === 'branch' ? c.test : c.within;
const constructName = c => `${c.kind} ${sourceText(c)}`;

function constructTable(rows) {
  const sides = c => c.exact ? [`${countOf(c.taken)} taken`, `${countOf(c.not_taken)} not`, ...(c.unknown ? [`${countOf(c.unknown)} not known`] : [])].join(', ') :
                               `${countOf(c.taken + c.not_taken + c.unknown)} visits`;
  const rounds = c => c.iterations == null ? 'iterations are not seen' : `${countOf(c.iterations)} iteration${c.iterations === 1 ? '' : 's'}${
      c.entries === 1 ? '' : ` in ${countOf(c.entries)} entries`}`;
  const did = c => (c.exact || (c.kind === 'loop' && c.iterations == null) ? '' : 'about ') + ({
    loop: () => rounds(c),
    branch: () => sides(c),
    recursion: () => `${countOf(c.calls)} calls, ${countOf(c.depth)} deep`
  })[c.kind]();
  const pays = c => !c.skip ? '–' : c.skip.break_even_share <= 0 ? 'never' : `up to ${percentText(100 * c.skip.break_even_share)}`;
  const own = c => c.kind === 'branch' ? untraced(c.test) : c.own.python_s + c.own.control_s;
  return tableOf(rows, [
    ['Construct', 'name', c => [constructName(c), el('small', c.function)]],
    ['A call', 'left', c => (c.lower_bound && c.exact ? 'at least ' : '') + did(c)],
    ['By data', 'left', c => c.data_dependent ? 'yes' : 'no'], ['Operators', '', c => timeText(1e3 * constructTime(c).native_s)],
    ['Python', '', c => timeText(1e3 * constructTime(c).python_s)], ['Own control flow', '', c => timeText(1e3 * own(c))],
    ['Pays', 'left', pays]
  ]);
}

function compiledTables({graph_breaks, functions}) {
  const known = seconds => seconds == null ? 'not known' : timeText(1e3 * seconds);
  return [
    ...(graph_breaks.length ? [tableOf(graph_breaks.slice(0, 40), [
      ['Graph break', 'name', c => [sourceText(c), el('small', c.reasons.join('; '))]], ['Met', '', c => countText(c.times)],
      ['A call', '', c => c.calls == null ? 'not known' : countOf(c.calls)], ['Python', '', c => known(c.python_s)],
      ['Operators', '', c => known(c.operators_s)]
    ])] : []),
    ...(functions.length ? [tableOf(functions.slice(0, 40), [
      ['Compiled', 'name', c => [c.function, el('small', [sourceText(c), ...c.reasons].join('; '))]],
      ['Times', '', c => countText(c.compiled)], ['Again', '', c => countText(c.again)], ['Failed', '', c => countText(c.failed)],
      ['Took', '', c => known(c.compile_s)], ['Guards', '', c => c.guards == null ? 'not known' : countText(c.guards)]
    ])] : [])
  ];
}

function controlFlowCards(told, index) {
  const region = told.regions[index], constructs = told.constructs.filter(c => c.region === index);
  const head = el(
      'p', el('b', overheadText(region)), ` of ${region.name}, a call of which takes ${timeText(1e3 * untraced(region))}, is control flow `,
      `and Python. ${region.gain}`);
  const bars = [
    ['a call', region],
    ...constructs.filter(c => c.kind !== 'branch').slice(0, 10).map(c => [constructName(c), c.within])
  ];
  return [
    card(
        '.wide', region.name, 'Host side only. What recording took is left out.', head,
        ...region.findings.map(text => el('p', {style: {marginTop: '6px'}}, text)), legend(PARTS_OF_TIME.map(([, name, fill]) => [fill, name])),
        chart((box, width) => partsChart(box, width, bars))),
    ...(region.compilation ?
            [card('.wide.long', 'What torch.compile made of it', 'From the graph before a break to the one behind it, in a usual call.',
                  ...compiledTables(region.compilation))] :
            []),
    ...(constructs.length ?
            [card('.wide.long', 'Loops, branches and recursions', 'What costs most control flow comes first.',
                  constructTable(constructs.slice(0, 40)))] :
            [])
  ];
}

function drawControlFlow() {
  const how = 'Which part of a call’s time is work on tensors, and which is control flow. What is recorded: LOTUS_REGION.';
  const cards = controlFlow.flatMap(told => told.regions.slice(0, 4).flatMap((_, index) => controlFlowCards(told, index)));
  fillSection(
      'control-flow', 'Control flow', how,
      ...(cards.length ? cards :
                         [el('div.wide', missing('No control flow was recorded: set LOTUS_REGION to a function of the model.'))]));
}
