// The first screen: what is slow, what to change first and what that gains, four numbers.

const BOUNDS = {
  input: ['Input-bound', 'var(--wait)'],
  compute: ['Training-bound', 'var(--train)'],
  balanced: ['Balanced', 'var(--receive)']
};

/** The verdict's sentence without the advice at its end, in two parts: the claim and what supports it. */
function sentenceParts(verdict) {
  let sentence = verdict.message;
  const advice = verdict.advice[0];
  if (advice && sentence.endsWith('; ' + advice.message + '.'))
    sentence = sentence.slice(0, -advice.message.length - 3) + '.';
  const cut = sentence.indexOf('; ');
  return cut < 0 ? [sentence, ''] : [sentence.slice(0, cut) + '.', upperFirst(sentence.slice(cut + 2))];
}

function compareRow(kind, label, value, most, tone, text, interval) {
  const percent = v => `${Math.min(100, 100 * v / most)}%`;
  const track = el('div.track', el('div.fill', {style: {width: percent(value)}, '--tone': tone}));
  if (interval)
    track.append(el('div.range', {
      style: {
        left: percent(interval[0]),
        width: `${Math.min(100, 100 * interval[1] / most) - Math.min(100, 100 * interval[0] / most)}%`
      }
    }));
  return el('div.row.' + kind, el('div', label), track, el('div', text));
}

/** As recorded and as the replay predicts it, with the 90 % interval. */
function comparison(verdict, advice) {
  const most = 1.06 * Math.max(verdict.images_per_s, advice.images_per_s_interval[1], advice.images_per_s);
  return el(
      'div.compare', el('div.title', 'Images per second'),
      compareRow('now', 'as recorded', verdict.images_per_s, most, 'var(--c9)', rateText(verdict.images_per_s)),
      compareRow(
          'then', 'changed', advice.images_per_s, most, 'var(--train)', rateText(advice.images_per_s),
          advice.images_per_s_interval),
      el('div.title', 'Time that training waits'),
      compareRow(
          'now', 'as recorded', verdict.waited_percent_of_loader, 100, 'var(--c9)',
          percentText(verdict.waited_percent_of_loader)),
      compareRow(
          'then', 'changed', advice.waited_percent, 100, 'var(--train)', percentText(advice.waited_percent),
          advice.waited_percent_interval),
      el('p.how', {style: {fontSize: '12.5px'}},
         `Predicted by replaying the recorded batches: ${rateText(advice.images_per_s_interval[0])} to ${
             rateText(advice.images_per_s_interval[1])} ${verdict.unit} per second with 90 % confidence, the replay's own error included.`));
}

function firstChange(verdict) {
  const [advice, ...others] = verdict.advice;
  const nothing = !advice || advice.action === 'none';
  const say = !advice ? 'Too little was recorded to replay the run: trace some more batches of training.' :
                        upperFirst(advice.message) + '.';
  const gainText = a => ` +${percentText(a.gain_percent)} ${verdict.unit} per second.`;
  const more = others.filter(other => other.action !== 'none')
                   .map(other => el('li', upperFirst(other.message) + '.', el('b', gainText(other))));
  const gain = !nothing && advice.gain_percent > 0 ?
      el('span.gain', gainText(advice)) :
      null;
  return el(
      'div.card.first', {id: 'first-change'},
      el('div',
         el('div.label',
            !advice || (nothing && verdict.bound === 'input') ? 'What to change' :
                nothing                                       ? 'Nothing to change' :
                                                                'Change first'),
         el('p.say', say, gain), more.length ? el('ul.also', el('li', el('b', 'Or, each by itself')), more) : null),
      nothing || verdict.images_per_s == null ?
          el('div.compare',
             el('p.how',
                nothing && advice && verdict.unit ?
                    `The replay found no change to the loader that gains more than 5 % in ${verdict.unit} per second.` :
                    'Without a replay there is no prediction.')) :
          comparison(verdict, advice));
}

function number(id, label, value, unit, note, mood = '') {
  return el(
      'div.card.number', {'data-number': id}, el('div.label', label),
      el('div.value' + mood, value, unit && el('small', unit)), el('div.note', note));
}

/** Time in fetches in the lives of all workers, in percent. */
function busyPercent(workers) {
  const life = d3.sum(workers, w => w.lifetime_s);
  return life > 0 ? 100 * d3.sum(workers, w => w.fetch_s) / life : null;
}

function lostNumber() {
  const {trace} = report;
  const others = trace.lost_events ? `besides ${countText(trace.events)} recorded` :
      trace.events                 ? `all ${countText(trace.events)} are here` :
                                     'none were recorded';
  return number('lost', 'Lost events', countText(trace.lost_events), '', others, trace.lost_events === 0 ? '.good' : '.bad');
}

function fourNumbers() {
  const {verdict, trace, workers} = report;
  const busy = busyPercent(workers);
  const loaderWorkers = verdict.workers;
  const notKnown =
      report.loaders.some(l => l.taken_elsewhere) ? 'not known: another thread takes the batches' : null;
  const noRate = notKnown ??
      (report.loaders.some(l => l.library) ? "not known: only PyTorch's loaders are replayed" : 'too few batches to tell');
  return el(
      'div.numbers',
      number(
          'rate', upperFirst(`${verdict.unit ?? 'samples'} per second`), rateText(verdict.images_per_s), '',
          verdict.images_per_s == null ? noRate : 'while training ran'),
      number(
          'waited', 'Waited for data', percentText(verdict.waited_percent), '',
          verdict.waited_percent == null ? notKnown ?? 'no training loop was seen' :
                                           `${timeText(1e3 * verdict.waited_s)} of ${timeText(1e3 * verdict.loop_s)}`,
          verdict.waited_percent >= 15 ? '.bad' : ''),
      number(
          'busy', 'Workers busy', percentText(busy), '',
          workers.length === 0 ?
              (trace.missing_workers   ? 'what they did is not in this file' :
               report.loaders.length ? 'no worker processes: num_workers=0' :
                                       'no DataLoader was recorded') :
              `${loaderWorkers ?? '?'} worker${loaderWorkers === 1 ? '' : 's'} on ${trace.cores || '?'} cores`),
      lostNumber());
}

/** What control-flow says first, where a region was recorded. */
function controlFlowLine(said) {
  if (!said) return null;
  return el('p.rest', {id: 'first-of-control-flow'}, said + ' ', el('code', 'lotus-analyze control-flow'), ' and ',
            el('a', {href: '#control-flow'}, 'the section below'), ' tell more.');
}

// A region was recorded, and no loader: the page is about control flow.
const onlyRegion = report.control_flow && report.batches.count === 0 && report.loaders.length === 0;

// Of which report.control_flow tells.
const [firstRegion] = controlFlow.flatMap(told => told.regions);

function regionNumbers() {
  const region = firstRegion;
  const whole = untraced(region);
  return el(
      'div.numbers',
      number('call', 'A call takes', timeText(1e3 * whole), '', `without recording; ${countText(region.calls)} calls were recorded`),
      number(
          'native', 'Work on tensors', percentText(100 * region.native_s / whole), '',
          `${timeText(1e3 * region.native_s)} a call, in ${countOf(region.operators - region.control_operators)} operators`),
      number('flow', 'Control flow', overheadText(region), '', 'Python, and operators that only serve tests'), lostNumber());
}

/** Of a page about a region: sections of which nothing was recorded, and their links. */
function leaveOutEmptySections() {
  for (const section of document.querySelectorAll('main > section:not(#verdict)')) {
    if (section.querySelector('.card')) continue;
    document.querySelector(`nav a[href="#${section.id}"]`).remove();
    section.remove();
  }
}

/** Says where processes were that were killed or crashed: the first, and how many more. */
function cutShort() {
  if (report.cut_short.length === 0) return null;
  const [first, ...others] = report.cut_short;
  const who = first.worker == null ? 'The training process' : `Worker ${first.worker}`;
  const sample = first.index == null ? '' : `, sample ${countText(first.index)}`;
  const more = others.length ? ` ${countText(others.length)} more ended so.` : '';
  return el(
      'p.missing', `${who} (process ${first.pid}) ended in the middle of its work: ${first.in}${sample}`,
      first.path && el('span', ', ', el('span.path', first.path)), `.${more} Killed, crashed, out of memory?`);
}

function drawVerdict() {
  const {verdict, trace} = report;
  const judged = verdict.waited_percent != null;
  const unjudged = report.loaders.some(l => l.taken_elsewhere) ? 'Not known' : 'Not enough to judge';
  const [flowClaim, ...flowSupport] = report.control_flow?.split(/(?<=\.) (?=[A-Z])/) ?? [];
  const [claim, support] = onlyRegion ? [flowClaim, verdict.message] : sentenceParts(verdict);
  const [state, tone] = onlyRegion ? ['Control flow', 'var(--c0)'] : judged ? BOUNDS[verdict.bound] : [unjudged, 'var(--c9)'];
  const flowLine = controlFlowLine(onlyRegion ? flowSupport.join(' ') : report.control_flow);
  // Other libraries' loaders make them out of sight.
  const batches = report.batches.count || report.loaders.reduce((sum, l) => sum + l.batches, 0);
  const amount = onlyRegion ? `${countText(firstRegion.calls)} calls` :
                              `${countText(batches)} batches` +
          (report.batches.samples == null ? '' : ` · ${countText(report.batches.samples)} samples`);
  const damage = trace.truncated ?
      el('p.missing', 'The trace was cut off or is still being written: this is what it says up to there.') :
      null;
  const tried = (report.tried?.messages ?? []).map(message => el('p.missing', message));
  document.getElementById('verdict').append(
      ...tried,
      el('div.head', el('span.state', {'--tone': tone}, state), el('h1', claim),
         onlyRegion ? [flowLine, el('p.rest', support)] : [support ? el('p.rest', support) : null, flowLine],
         el('p.which', `${trace.paths.join(', ')} · ${timeText(1e3 * trace.duration_s)} · ${amount}`)),
      ...[damage, cutShort(), judged ? firstChange(verdict) : null, onlyRegion ? regionNumbers() : fourNumbers()].filter(Boolean));
}
