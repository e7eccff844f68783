// The run over time: what training and each worker did, the queue's depth under it; zoom and pan.

const laneView = (() => {
  const TOP = 24, DEPTH = 58, MOST_HEIGHT = 860, LEAST_SPAN = 50;  // px; LEAST_SPAN: units that can fill the width
  const FONT = '11.5px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
  const canvas = el(
      'canvas', {tabindex: '0', role: 'img', 'aria-label': 'The run over time. Arrow keys pan, plus and minus zoom.'});
  const context = canvas.getContext('2d');
  let width = 0, left = 84, shown = d3.zoomIdentity, hovered = -1, hoveredLane = 0, pending = false;
  const deepest = d3.max(laneModel.depths) || 0;
  const pitch = Math.max(2, Math.min(26, Math.floor(MOST_HEIGHT / Math.max(1, laneModel.lanes.length))));
  const laneHeight = pitch - (pitch > 14 ? 5 : pitch > 6 ? 2 : pitch > 3 ? 1 : 0);
  const lanesBottom = TOP + laneModel.lanes.length * pitch;
  const height = lanesBottom + (deepest > 0 ? DEPTH + 12 : 0) + 2;

  const whole = () => d3.scaleLinear().domain([0, Math.max(1, run.span)]).range([left, width - 6]);
  const scale = () => shown.rescaleX(whole());
  const topOf = i => TOP + i * pitch;
  const zoom = d3.zoom()
                   .filter(() => d3.event.type !== 'wheel' || d3.event.ctrlKey || d3.event.metaKey || d3.event.shiftKey)
                   .wheelDelta(() => -(d3.event.deltaY || d3.event.deltaX) * (d3.event.deltaMode ? 0.05 : 0.004))
                   .on('zoom', () => {
                     shown = d3.event.transform;
                     tooltip.hide();
                     later();
                   });

  function later() {
    if (pending) return;
    pending = true;
    requestAnimationFrame(() => {
      pending = false;
      paint();
    });
  }

  function batchFill(i) {
    const b = run.batches;
    if (b.flags[i] & FAILED) return colours.bad;
    return b.number[i] % 2 ? colours.batch2 : colours.batch;
  }
  let colours = {};
  function takeColours() {
    colours = {
      batch: colour('--batch'),
      batch2: colour('--batch-2'),
      wait: colour('--wait'),
      receive: colour('--receive'),
      train: colour('--train'),
      inset: colour('--inset'),
      soft: colour('--soft'),
      ink: colour('--ink'),
      line: colour('--line'),
      mark: colour('--mark'),
      accent: colour('--accent'),
      accentSoft: colour('--accent-soft'),
      bad: colour('--bad')
    };
  }

  function paintLane(painter, lane, top) {
    context.fillStyle = colours.inset;
    context.fillRect(left, top, width - 6 - left, laneHeight);
    if (!lane.training) {
      if (painter.tooMany(lane.made, lane.stride))
        painter.shares([{level: lane.made, fill: colours.batch2}], top, laneHeight, lane.stride);
      else
        painter.each(lane.made, top, laneHeight, batchFill, i => String(run.batches.number[i]));
      return;
    }
    const parts = [
      {level: lane.wait, fill: colours.wait}, {level: lane.receive, fill: colours.receive},
      {level: lane.train, fill: colours.train}
    ];
    if (painter.tooMany(lane.wait, lane.stride)) return painter.shares(parts, top, laneHeight, lane.stride);
    for (const {level, fill} of parts) painter.each(level, top, laneHeight, () => fill);
  }

  function paintAxis(x) {
    const [from, to] = x.domain(),
                 ticks = timeTicks(from * run.unit, to * run.unit, Math.max(2, Math.floor((width - left) / 110)))
                             .map(ms => ms / run.unit);
    context.textAlign = 'center';
    for (const t of ticks) {
      context.fillStyle = colours.line;
      context.fillRect(x(t), 17, 1, height - 19);
      context.fillStyle = colours.soft;
      context.fillText(t === 0 ? '0' : axisTime(t, ticks), Math.min(width - 26, Math.max(left + 8, x(t))), 8);
    }
  }
  /** Times on the axis need as many digits as tell them apart. */
  function axisTime(t, ticks) {
    const step = ticks.length > 1 ? (ticks[1] - ticks[0]) * run.unit : run.span * run.unit, ms = t * run.unit;
    const [unit, name] = step >= 3600e3 ? [3600e3, 'h'] :
        step >= 59e3                    ? [60e3, 'min'] :
        step >= 50 || ms >= 10e3        ? [1e3, 's'] :
        step >= 0.05                    ? [1, 'ms'] :
                                          [1e-3, 'µs'];
    return (ms / unit).toFixed(Math.max(0, Math.min(6, Math.ceil(-Math.log10(step / unit) - 1e-9)))) + NARROW + name;
  }

  function paintHovered(x) {
    if (hovered < 0) return;
    const b = run.batches, lane = hoveredLane;
    const top = topOf(lane), from = x(b.start[hovered]), to = x(b.start[hovered] + b.duration[hovered]);
    context.strokeStyle = colours.ink;
    context.lineWidth = 2;
    context.strokeRect(from, top + 1, Math.max(2, to - from), laneHeight - 2);
    const training = laneModel.lanes.findIndex(l => l.training && l.run === laneModel.lanes[lane].run);
    if (b.consumed[hovered] === MISSING_TIME || training < 0) return;
    context.beginPath();
    context.moveTo(to, top);
    context.lineTo(x(b.consumed[hovered]), topOf(training) + laneHeight);
    context.lineWidth = 1.5;
    context.stroke();
  }

  function paint() {
    if (width === 0) return;
    const ratio = devicePixelRatio || 1, x = scale(), began = performance.now();
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = FONT;
    context.textBaseline = 'middle';
    context.textAlign = 'center';
    paintAxis(x);
    const painter = new LanePainter(context, x, left, width - 6);
    context.save();
    context.beginPath();
    context.rect(left, 0, width - 6 - left, height);
    context.clip();
    laneModel.lanes.forEach((lane, i) => paintLane(painter, lane, topOf(i)));
    painter.marks(laneModel.early, TOP - 6, 7, colours.mark);
    paintHovered(x);
    if (deepest > 0)
      painter.steps(
          laneModel.depthTimes, laneModel.depths, deepest, lanesBottom + 10, DEPTH - 4, colours.accentSoft,
          colours.accent);
    context.restore();
    context.textAlign = 'right';
    context.fillStyle = colours.ink;
    const every = Math.ceil(14 / pitch);  // so that names do not overlap
    laneModel.lanes.forEach((lane, i) => {
      if (i % every === 0) context.fillText(lane.name, left - 8, topOf(i) + laneHeight / 2);
    });
    if (deepest > 0) {
      context.fillStyle = colours.soft;
      context.fillText('queue', left - 8, lanesBottom + 10 + DEPTH / 2 - 6);
      context.fillText(`0 to ${deepest}`, left - 8, lanesBottom + 10 + DEPTH / 2 + 9);
    }
    const [from, to] = x.domain();
    Object.assign(canvas.dataset, {
      from: from * run.unit,
      to: to * run.unit,
      blocks: painter.blocks,
      dense: painter.dense,
      took: (performance.now() - began).toFixed(1)
    });
  }

  function draw(box, available) {
    if (!canvas.parentNode) box.append(canvas);
    width = available;
    context.font = FONT;
    left = Math.ceil(16 + (d3.max(laneModel.lanes, lane => context.measureText(lane.name).width) || 50));
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = height + 'px';
    zoom.extent([[left, 0], [width - 6, height]]).translateExtent([[left, 0], [width - 6, height]]).scaleExtent([
      1, Math.max(1, run.span / LEAST_SPAN)
    ]);
    takeColours();
    paint();
  }

  function hover() {
    const [px, py] = d3.mouse(canvas), t = scale().invert(px);
    const lane = laneModel.lanes[hoveredLane = Math.floor((py - TOP) / pitch)];
    const before = hovered;
    hovered = -1;
    if (!lane || px < left)
      tooltip.hide();
    else if (lane.training)
      explainTraining(lane, t);
    else
      explainBatch(lane, t);
    if (hovered !== before) later();
  }
  function explainTraining(lane, t) {
    const level = [['waiting for a batch', lane.wait], ['receiving', lane.receive], ['training step', lane.train]].find(
        ([, l]) => l.at(t) >= 0);
    if (!level) return tooltip.hide();
    const i = level[1].at(t);
    tooltip.show(d3.event, upperFirst(level[0]), [
      timeText((level[1].ends[i] - level[1].starts[i]) * run.unit), `from ${timeText(level[1].starts[i] * run.unit)}`
    ]);
  }
  function explainBatch(lane, t) {
    const at = lane.made.at(t);
    if (at < 0) return tooltip.hide();
    const i = hovered = lane.made.ids[at], b = run.batches, set = run.sets[b.set[i]];
    tooltip.show(d3.event, `Batch ${b.number[i]}, epoch ${set ? set.epoch : '?'}, ${lane.name}`, [
      `made in ${timeText(madeIn(i))}, from ${timeText(b.start[i] * run.unit)}`,
      `delay until training took it: ${timeText(delayOf(i))}`,
      b.flags[i] & OUT_OF_ORDER ? 'arrived out of order, before the one that was waited for' :
                                  `waited for: ${timeText(waitOf(i))}`,
      ...(b.flags[i] & FAILED ? ['making it failed'] : [])
    ]);
  }

  const by = factor => d3.select(canvas).call(zoom.scaleBy, factor);
  const pan = share => d3.select(canvas).call(zoom.translateBy, share * (width - left) / shown.k, 0);
  const reset = () => d3.select(canvas).call(zoom.transform, d3.zoomIdentity);
  function onKey(event) {
    const act = {
      ArrowLeft: () => pan(0.2),
      ArrowRight: () => pan(-0.2),
      '+': () => by(1.6),
      '=': () => by(1.6),
      '-': () => by(1 / 1.6),
      0: reset
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }
  d3.select(canvas).call(zoom).on('mousemove.hover', hover).on('mouseleave.hover', () => {
    hovered = -1;
    tooltip.hide();
    later();
  });
  canvas.addEventListener('keydown', onKey);
  const button = (text, title, act) => el('button', {type: 'button', title, onclick: act}, text);
  const buttons = () =>
      el('div.push', button('−', 'Zoom out', () => by(1 / 1.8)), button('+', 'Zoom in', () => by(1.8)),
         button('All', 'The whole run', reset));
  return {draw, buttons};
})();

function drawTime() {
  const how =
      'Read from left to right: red is training that waits for a batch, green is training that works; each blue block is a batch being made. ' +
      'Zoom with Ctrl and the wheel, a double click, two fingers or the buttons; drag to pan.';
  if (laneModel.lanes.length === 0)
    return fillSection(
        'time', 'The run over time', how,
        el('div.wide', missing('No batch was recorded: trace a program that takes batches from a DataLoader.')));
  const b = run.batches;
  const entries = [
    ['var(--wait)', 'waiting'], ['var(--receive)', 'receiving'], ['var(--train)', 'training'],
    ['var(--batch-2)', 'a batch being made'],
    ...(laneModel.depths.length ? [['var(--accent)', 'queue: batches asked for and not received', 'line']] : [])
  ];
  if (laneModel.early.length) entries.splice(4, 0, ['var(--mark)', 'arrived out of order', 'mark']);
  const thinned = b.stride > 1 || run.steps.stride > 1 ?
      el('p.how',
         `Of this long run one batch of ${
             Math.max(b.stride, run.steps.stride)} is drawn; the numbers of the page are of all.`) :
      null;
  fillSection(
      'time', 'The run over time', how,
      card(
          '.wide', null, null, el('div.tools', legend(entries), laneView.buttons()),
          chart((box, width) => laneView.draw(box, width)), thinned));
}
