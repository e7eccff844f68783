// Hardware: what counters of the processor and the kernel counted in each operation.

/** An amount of a counter: task-clock is a time in ns, all others are counts. */
function amountText(counter, value) {
  if (value == null) return '–';
  if (counter === 'task-clock') return timeText(value / 1e6);
  return Math.abs(value) < 100 ? digits(value) : countText(value);
}

/** The interval as text; `text` is that of a value. */
const intervalText = (interval, text) => interval == null || interval.includes(null) ? 'not known' :
    interval[0] === interval[1]                                                      ? 'exact' :
                                  `${text(interval[0])} to ${text(interval[1])}`;
const ratioText = (key, value) => key.endsWith('_percent') ? percentText(value) : digits(value);

/** Why counters that were asked for are not here: a sentence a reason. */
function notCounted() {
  const refused = Object.entries(counted.counters).flatMap(([name, {errors}]) => errors.map(error => ({name, error})));
  return d3.nest()
      .key(entry => entry.error)
      .entries(refused)
      .map(({key, values}) => missing(`Not counted: ${values.map(entry => entry.name).join(', ')} (${key}).`));
}

// The first level of the top-down analysis, in the order of its bar: ratio, in the legend, as a column, tone.
const SLOT_PARTS = [
  ['retiring_percent', 'used', 'Used', 'var(--train)'],
  ['frontend_bound_percent', 'lost to the front end', 'Front end', 'var(--c4)'],
  ['bad_speculation_percent', 'to wrong speculation', 'Speculation', 'var(--mark)'],
  ['backend_bound_percent', 'to the back end', 'Back end', 'var(--wait)'],
  ['other_thread_percent', 'to the core’s other thread', 'Other thread', 'var(--c9)']
];
// What divides them, where the processor says it: whether it is the memory is asked most.
const SLOT_DETAILS = [
  ['memory_bound_percent', '', 'Memory'], ['core_bound_percent', '', 'Execution units'],
  ['fetch_latency_percent', '', 'Waiting for code']
];

function slotTable(rows) {
  const known = ([key]) => rows.some(row => row.ratios[key]), parts = SLOT_PARTS.filter(known);
  const part = row => ([key, , , tone]) => el('i', {
    '--tone': tone,
    style: {width: `${row.ratios[key]?.value ?? 0}%`},
    title: `${counted.titles[key]}: ${percentText(row.ratios[key]?.value)}`
  });
  const cell = key => row => row.ratios[key] &&
      el('span', {title: intervalText(row.ratios[key].interval, percentText)}, percentText(row.ratios[key].value));
  return [
    legend(parts.map(([, text, , tone]) => [tone, text])),
    tableOf(
        rows,
        [
          ['Operation', 'name', row => short(row.name, 48)],
          [upperFirst(counted.topdown.unit), 'left', row => el('div.split', parts.map(part(row)))],
          ...[...parts, ...SLOT_DETAILS.filter(known)].map(([key, , heading]) => [heading, '', cell(key)])
        ])
  ];
}

/** Operations in rows: what each call made the machine do. */
function perCallTable(rows) {
  const names = Object.keys(counted.counters)
                    .filter(name => !counted.own_events.includes(name) && rows.some(row => row.counters[name]));
  const ratios = Object.keys(counted.titles)
                     .filter(
                         key => !(counted.topdown && /_percent$/.test(key) && !/miss_percent$/.test(key)) &&
                             rows.some(row => row.ratios[key]));
  return tableOf(rows, [
    ['Operation', 'name', row => short(row.name, 48)], ['Calls', '', row => countText(row.calls)],
    ...names.map(
        name => [breakable(name), '', row => row.counters[name] && amountText(name, row.counters[name].per_call)]),
    ...ratios.map(key => [counted.titles[key], '', row => row.ratios[key] && ratioText(key, row.ratios[key].value)])
  ]);
}

function oneCounted(row) {
  const text = name => value => amountText(name, value);
  const rows = [
    ...Object.entries(row.counters).map(([name, counter]) => ({...counter, name, text: text(name)})),
    ...Object.entries(row.ratios)
        .map(([key, ratio]) => ({...ratio, name: counted.titles[key], text: value => ratioText(key, value)}))
  ];
  return tableOf(rows, [
    ['Counter', 'name', r => r.name], ['Value', '', r => r.value == null ? '–' : r.text(r.value)],
    ['95 % interval', '', r => intervalText(r.interval, r.text)],
    ['Per call', '', r => r.per_call == null ? '' : r.text(r.per_call)],
    ['Per second', '', r => r.per_second == null ? '' : r.text(r.per_second)],
    ['Calls measured', '', r => r.measured_calls == null ? '' : percentText(100 * r.measured_calls / row.calls)],
    [
      'Counted', '',
      r => r.on_percent == null ? '' :
          r.on_percent < 100    ? `${percentText(r.on_percent)} of the time` :
                                  'always'
    ]
  ]);
}

function drawHardware() {
  const how = 'What each operation made the kernel and the processor do, operations inside it included.';
  const none = text => fillSection('hardware', 'Hardware', how, el('div.wide', missing(text)));
  if (!counted)
    return none(
        'Nothing was counted. To have page faults, switches, instructions and misses of each operation: LOTUS_COUNTERS=default.');
  const rows = counted.ops.concat(
      Object.keys(counted.fetches.counters).length ? [{...counted.fetches, name: '(fetches of batches)'}] : []);
  if (rows.length === 0)
    return fillSection(
        'hardware', 'Hardware', how, el('div.wide', notCounted(), missing('No call of an operation was measured.')));
  const target = el('div');
  const select =
      el('select', {'aria-label': 'Operation'}, rows.map((row, i) => el('option', {value: String(i)}, row.name)));
  const choose = () => target.replaceChildren(oneCounted(rows[+select.value]));
  select.addEventListener('change', choose);
  choose();
  const slots = counted.topdown && rows.some(row => row.ratios.backend_bound_percent);
  const lost = report.lost_slots.map(
      op =>
          el('li', el('b', op.op),
             ` loses its ${counted.topdown.unit} to: ` +
                 op.to.map(to => `${to.what} ${percentText(to.percent)}`).join(', ')));
  fillSection(
      'hardware', 'Hardware', how, el('div.wide', notCounted()),
      slots ?
          card(
              '.wide.long', 'What its slots became',
              'A processor can begin several instructions a cycle. Green is used; the rest is lost, where the table says to what. A cell’s tooltip has the 95 % interval.',
              lost.length ? el('ul.also', lost) : null, slotTable(rows)) :
          null,
      card(
          '.wide.long', 'Each call',
          'Means of all calls; the kernel’s part of the work included where it permits that.', perCallTable(rows)),
      card(
          '.wide.long', 'One operation',
          'Of all its calls together. Where not every call was measured, the measured ones stand for those that took as long; the interval says how well.',
          el('div.tools', select), target));
}
