// Native: which functions of C and C++ each operation runs, and what its time is: computing, files, waiting.

/**
 * The wall time of each operation in percent: `bar` in three parts, of which file I/O has its own, whoever computed
 * it.
 */
function timeSplits() {
  return report.ops.filter(op => op.count > 0).map(op => {
    const {cpu_percent: cpu, off_cpu_percent: off, file_io_percent: file} = op.native, files = Math.min(100, file ?? 0);
    const computing = Math.min(100 - files, cpu ?? 0);
    return {
      op,
      cpu,
      off,
      file,
      bar: cpu == null ?
          null :
          [['var(--train)', computing], ['var(--receive)', files], ['var(--wait)', 100 - files - computing]]
    };
  });
}

function splitTable() {
  const bar = s => s.bar ?
      el('div.split', s.bar.map(([tone, percent]) => el('i', {'--tone': tone, style: {width: `${percent}%`}}))) :
      'CPU time was not measured';
  const native = s => s.op.native, splits = timeSplits(), mapped = splits.some(s => native(s).mapped_bytes > 0);
  return [
    legend([
      ['var(--train)', 'computing'], ['var(--receive)', 'opening and reading files'],
      ['var(--wait)', 'waiting: for a core, a lock, a sleep']
    ]),
    tableOf(
        splits,
        [
          ['Operation', 'name', s => short(s.op.name, 48)], ['Split', 'left', bar],
          ['CPU', '', s => percentText(s.cpu)], ['Off CPU', '', s => percentText(s.off)],
          ['File I/O', '', s => percentText(s.file)],
          ['File I/O time', '', s => native(s).file_io_s > 0 ? timeText(1e3 * native(s).file_io_s) : '–'],
          ['Read', '', s => native(s).read_bytes > 0 ? bytesText(native(s).read_bytes) : '–'],
          ...(mapped ? [['Mapped', '', s => native(s).mapped_bytes > 0 ? bytesText(native(s).mapped_bytes) : '–']] : [])
        ])
  ];
}

function functionTable(op) {
  const shares = op.functions.filter(f => f.listed), most = d3.max(shares, f => f.share_percent_high) || 1;
  const meter = f => {
    const at = v => `${100 * v / most}%`;
    return el(
        'span.meter', el('i', {style: {width: at(f.share_percent)}, '--tone': 'var(--c1)'}),
        el('b', {style: {left: at(f.share_percent_low), width: at(f.share_percent_high - f.share_percent_low)}}));
  };
  const rows = shares.length ? [tableOf(shares.slice(0, 25), [['Function', 'path', f => [el('b', {title: f.function}, breakable(readable(f.function))), el('br'), el('span.mono', f.library)]], ['', 'left', meter], ['Share', '', f => percentText(f.share_percent)],
    ['95 % interval', '', f => `${percentText(f.share_percent_low)} to ${percentText(f.share_percent_high)}`], ['Samples', '', f => countText(f.samples)], ['Calls, exact', '', f => f.exact ? countText(f.exact.calls) : '–']])]
    : [missing(op.samples === 0 ? 'No sample of the stack hit this operation: it is short; sample more often (LOTUS_SAMPLE_HZ) or trace longer.' : 'No native function was sampled often enough here to be listed: sample more often (LOTUS_SAMPLE_HZ) or trace longer.')];
  return [
    el('p.how', {style: {fontSize: '13.5px', margin: '4px 0 8px'}},
       `${countText(op.samples)} samples, ${timeText(1e3 * op.cpu_s)} of CPU time; a function of ${
           percentText(op.smallest_seen_percent)} or more is seen with 95 % probability; the interpreter itself: ${
           percentText(op.cpu_s > 0 ? 100 * op.interpreter.cpu_s / op.cpu_s : 0)}.`),
    ...rows
  ];
}

/** Functions in rows, operations in columns, shares as tones. */
function functionMapTable() {
  const ops = native.ops.filter(op => op.samples > 0).slice(0, 8), rows = new Map();
  ops.forEach((op, i) => op.functions.filter(f => f.listed).slice(0, 7).forEach(f => {
    const key = `${f.function}|${f.library}`;
    if (!rows.has(key)) rows.set(key, {name: f.function, library: f.library, shares: []});
  }));
  for (const row of rows.values())
    row.shares = ops.map(op => op.functions.find(f => f.function === row.name && f.library === row.library));
  const cell = f => f && f.samples > 0 ? el('span.heat', {
    style: {
      background: `color-mix(in srgb, var(--c1) ${Math.min(85, 12 + f.share_percent * 1.5).toFixed(0)}%, transparent)`
    },
    title: `${percentText(f.share_percent_low)} to ${percentText(f.share_percent_high)}`
  },
                                            percentText(f.share_percent)) :
                                         '';
  return tableOf([...rows.values()], [
    [
      'Function', 'path',
      r => [el('b', {title: r.name}, breakable(readable(r.name))), el('br'), el('span.mono', r.library)]
    ],
    ...ops.map((op, i) => [op.name, '', r => cell(r.shares[i])])
  ]);
}

function opExplorer() {
  const ops = native.ops.filter(op => op.samples > 0 || op.functions.length > 0);
  const target = el('div'),
        select =
            el('select', {'aria-label': 'Operation'}, ops.map((op, i) => el('option', {value: String(i)}, op.name)));
  const outside = native.flames.ops.find(f => f.name === '(outside operations)' && f.us > 0);
  if (outside) select.append(el('option', {value: String(ops.length)}, outside.name));
  const tabs = [...ops, ...(outside ? [outside] : [])].map(op => {
    const flame = native.flames.ops.find(f => f.name === op.name);
    return el(
        'div',
        op === outside ?
            el('p.how',
               'The dataset’s own code and all else that ran while stacks were sampled: the training itself, too.') :
            functionTable(op),
        el('h3', {style: {marginTop: '16px'}}, `Flame graph of ${op.name}`),
        flame && flame.us > 0 ? flameGraph(flame) : missing('No stack was sampled in this operation.'));
  });
  const choose = () => {
    target.replaceChildren(tabs[+select.value]);
  };
  select.addEventListener('change', choose);
  if (tabs.length) choose();
  return {select, target};
}

function drawNative() {
  const how =
      'Below Python: which functions of which library the time of an operation goes to, and how much of it is computing, reading files or waiting.';
  const split = card(
      '.wide.long', 'What the time is',
      'Much red: too few cores, or a sleep; much yellow: slow storage. CPU and off CPU are 100 % together; file I/O is part of both and exact, from the calls themselves.',
      splitTable());
  if (report.ops.length === 0)
    return fillSection(
        'native', 'Native functions', how,
        el('div.wide', unmade('No operation was recorded, so nothing can be assigned to one.')));
  if (native.sampling.samples === 0 || native.why_no_samples)
    return fillSection(
        'native', 'Native functions', how, split,
        el('div.wide',
           missing(
               (native.why_no_samples || 'No stack was sampled.') +
               (native.sampling.timers_refused ? '' : ' To have them: LOTUS_SAMPLE_HZ=199.'))));
  const {select, target} = opExplorer();
  fillSection(
      'native', 'Native functions', how, split,
      card(
          '.wide.long', 'Operations and functions',
          'The deeper the tone, the more of the operation’s CPU time is spent in that function itself; a function with tones in several columns is shared.',
          functionMapTable()),
      card(
          '.wide.long', 'One operation',
          'Shares of its CPU time with their 95 % intervals; below, the stacks from the operation down: the wider, the more CPU time.',
          el('div.tools', select, legend(PARTS.slice(0, 2).map((part, i) => [PART_FILLS[i], part]))), target));
}
