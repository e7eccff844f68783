// Native: which functions of C and C++ each operation runs, and what its time is: computing, files, waiting.

const FILE_HOOKS = new Set(['open', 'openat', 'fopen', 'read', 'pread', 'readv', 'preadv', 'fread', 'mmap']);
const isFileHook = name => FILE_HOOKS.has(name.replace(/64$/, ''));

/** The wall time of each operation in ms: {cpu, file, waiting}; what reading files computes counts as file I/O. */
function timeSplits() {
  return report.ops.map((op, i) => {
    const mapped = native.ops.find(m => m.name === op.name && m.qualified === op.qualified);
    const total = 1e3 * op.total_s, known = op.cpu_s != null;
    const file = Math.min(total, 1e3 * d3.sum((mapped ? mapped.entry_points : []).filter(p => isFileHook(p.function)), p => p.total_s));
    const cpu = known ? Math.min(total - file, 1e3 * op.cpu_s) : 0;
    return {op, fill: tone(i), total, file, cpu, known, waiting: Math.max(0, total - file - cpu)};
  }).filter(s => s.total > 0);
}

function splitTable() {
  const bar = s => !s.known ? 'CPU time was not measured' : el('div.split', [['var(--train)', s.cpu], ['var(--receive)', s.file], ['var(--wait)', s.waiting]]
    .map(([tone, ms]) => el('i', {'--tone': tone, style: {width: `${100 * ms / s.total}%`}})));
  const part = key => s => (s.known || key === 'file') && s[key] > 0 ? `${timeText(s[key])} (${percentText(100 * s[key] / s.total)})` : '–';
  return [legend([['var(--train)', 'computing'], ['var(--receive)', 'opening and reading files'], ['var(--wait)', 'waiting: for a core, a lock, a sleep']]),
    tableOf(timeSplits(), [['Operation', 'name', s => s.op.name], ['Split', 'left', bar], ['Computing', '', part('cpu')], ['Files', '', part('file')], ['Waiting', '', part('waiting')]])];
}

function functionTable(op) {
  const shares = op.functions.filter(f => f.listed), most = d3.max(shares, f => f.share_percent_high) || 1;
  const meter = f => {
    const at = v => `${100 * v / most}%`;
    return el('span.meter', el('i', {style: {width: at(f.share_percent)}, '--tone': 'var(--c1)'}), el('b', {style: {left: at(f.share_percent_low), width: at(f.share_percent_high - f.share_percent_low)}}));
  };
  const rows = shares.length ? [tableOf(shares.slice(0, 25), [['Function', 'path', f => [el('b', {title: f.function}, breakable(short(f.function))), el('br'), el('span.mono', f.library)]], ['', 'left', meter], ['Share', '', f => percentText(f.share_percent)],
    ['95 % interval', '', f => `${percentText(f.share_percent_low)} to ${percentText(f.share_percent_high)}`], ['Samples', '', f => countText(f.samples)], ['Calls, exact', '', f => f.exact ? countText(f.exact.calls) : '–']])]
    : [missing(op.samples === 0 ? 'No sample of the stack hit this operation: it is short; sample more often (LOTUS_SAMPLE_HZ) or trace longer.' : 'No native function was sampled often enough here to be listed: sample more often (LOTUS_SAMPLE_HZ) or trace longer.')];
  return [el('p.how', {style: {fontSize: '13.5px', margin: '4px 0 8px'}}, `${countText(op.samples)} samples, ${timeText(1e3 * op.cpu_s)} of CPU time; a function of ${percentText(op.smallest_seen_percent)} or more is seen with 95 % probability; the interpreter itself: ${percentText(op.cpu_s > 0 ? 100 * op.interpreter.cpu_s / op.cpu_s : 0)}.`), ...rows];
}

/** Functions in rows, operations in columns, shares as tones. */
function functionMapTable() {
  const ops = native.ops.filter(op => op.samples > 0).slice(0, 8), rows = new Map();
  ops.forEach((op, i) => op.functions.filter(f => f.listed).slice(0, 7).forEach(f => {
    const key = `${f.function}|${f.library}`;
    if (!rows.has(key)) rows.set(key, {name: f.function, library: f.library, shares: []});
  }));
  for (const row of rows.values()) row.shares = ops.map(op => op.functions.find(f => f.function === row.name && f.library === row.library));
  const cell = f => f && f.samples > 0 ? el('span.heat', {style: {background: `color-mix(in srgb, var(--c1) ${Math.min(85, 12 + f.share_percent * 1.5).toFixed(0)}%, transparent)`},
    title: `${percentText(f.share_percent_low)} to ${percentText(f.share_percent_high)}`}, percentText(f.share_percent)) : '';
  return tableOf([...rows.values()], [['Function', 'path', r => [el('b', {title: r.name}, breakable(short(r.name))), el('br'), el('span.mono', r.library)]], ...ops.map((op, i) => [op.name, '', r => cell(r.shares[i])])]);
}

function opExplorer() {
  const ops = native.ops.filter(op => op.samples > 0 || op.functions.length > 0);
  const target = el('div'), select = el('select', {'aria-label': 'Operation'}, ops.map((op, i) => el('option', {value: String(i)}, op.name)));
  const outside = native.flames.ops.find(f => f.name === '(outside operations)' && f.us > 0);
  if (outside) select.append(el('option', {value: String(ops.length)}, outside.name));
  const tabs = [...ops, ...(outside ? [outside] : [])].map(op => {
    const flame = native.flames.ops.find(f => f.name === op.name);
    return el('div', op === outside ? el('p.how', 'The dataset’s own code and all else that ran while stacks were sampled: the training itself, too.') : functionTable(op), el('h3', {style: {marginTop: '16px'}}, `Flame graph of ${op.name}`),
      flame && flame.us > 0 ? flameGraph(flame) : missing('No stack was sampled in this operation.'));
  });
  const choose = () => { target.replaceChildren(tabs[+select.value]); };
  select.addEventListener('change', choose);
  if (tabs.length) choose();
  return {select, target};
}

function drawNative() {
  const how = 'Below Python: which functions of which library the time of an operation goes to, and how much of it is computing, reading files or waiting.';
  const split = card('.wide.long', 'What the time is', 'Much waiting: too few cores, or a sleep; much time in files: slow storage. File time is exact, from the calls themselves; waiting is at least this much.', splitTable());
  if (report.ops.length === 0) return fillSection('native', 'Native functions', how, el('div.wide', missing('No operation was recorded, so nothing can be assigned to one.')));
  if (native.sampling.samples === 0 || native.why_no_samples)
    return fillSection('native', 'Native functions', how, split, el('div.wide', missing((native.why_no_samples || 'No stack was sampled.') + ' To have them: LOTUS_SAMPLE_HZ=199.')));
  const {select, target} = opExplorer();
  fillSection('native', 'Native functions', how, split,
    card('.wide.long', 'Operations and functions', 'The deeper the tone, the more of the operation’s CPU time is spent in that function itself; a function with tones in several columns is shared.', functionMapTable()),
    card('.wide.long', 'One operation', 'Shares of its CPU time with their 95 % intervals; below, the stacks from the operation down: the wider, the more CPU time.',
      el('div.tools', select, legend(PARTS.slice(0, 2).map((part, i) => [PART_FILLS[i], part]))), target));
}
