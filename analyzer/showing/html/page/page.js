// Building blocks of the page. Names from a trace only ever become text nodes.

/** el('p.how#id', {title: …}, child…): children are nodes, text, or arrays of them; null is left out. */
function el(selector, ...rest) {
  const [tag, ...marks] = selector.split(/(?=[.#])/);
  const node = document.createElement(tag);
  for (const mark of marks) mark[0] === '#' ? node.id = mark.slice(1) : node.classList.add(mark.slice(1));
  const plain = rest[0] && Object.getPrototypeOf(rest[0]) === Object.prototype;
  if (plain) {
    for (const [name, value] of Object.entries(rest[0])) {
      if (name.startsWith('--'))
        node.style.setProperty(name, value);
      else if (name === 'style')
        Object.assign(node.style, value);
      else if (name.startsWith('on'))
        node.addEventListener(name.slice(2), value);
      else
        node.setAttribute(name, value);
    }
  }
  node.append(...rest.slice(plain ? 1 : 0).flat(Infinity).filter(child => child != null));
  return node;
}

/** Fills the section: its title, one sentence on how to read it, then the parts in a grid. */
function fillSection(id, title, how, ...parts) {
  document.getElementById(id).append(el('h2', title), el('p.how', how), el('div.grid', ...parts));
}

/** A card with a title, a sentence and its content; `marks`: more classes, as '.wide'. */
const card = (marks, title, how, ...content) =>
    el('div.card' + marks, title && el('h3', title), how && el('p.how', how), ...content);

/** Says what the trace lacks, and the remedy. */
const missing = text => el('p.missing', text);
/** The same of what workers do: the file may end before. */
const unmade = text => missing(
    report.trace.missing_workers > 0 ? 'Not in this file: it ends before anything that the workers recorded.' : text);

/** A table; columns: [title, class or '', row → cell]. */
function tableOf(rows, columns) {
  const cell = (tag, content, kind) => el(tag + (kind ? '.' + kind : ''), content ?? '–');
  const heading = kind => kind === 'name' || kind === 'path' || kind === 'left' ? 'left' : '';
  return el(
      'div.scroll',
      el('table', el('thead', el('tr', columns.map(([title, kind]) => cell('th', title, heading(kind))))),
         el('tbody',
            rows.map((row, i) => el('tr', columns.map(([, kind, value]) => cell('td', value(row, i), kind)))))));
}

const legend = entries =>
    el('ul.legend',
       entries.map(([tone, text, kind]) => el('li', el('i' + (kind ? '.' + kind : ''), {'--tone': tone}), text)));

/** A name or path that may be broken into lines after its separators. */
const breakable = text => text.split(/(?<=[./_:,-])/).flatMap(part => [part, el('wbr')]);

// Charts are drawn anew when their width or the colours change.
const charts = [];

/** A chart's box; draw(box, width) fills it, when it is first seen and later again. */
function chart(draw, marks = '') {
  const box = el('div.chart' + marks);
  const entry = {box, draw, width: 0};
  charts.push(entry);
  return box;
}
function drawChart(entry) {
  entry.width = entry.box.clientWidth;
  if (entry.width === 0) return;
  entry.draw(entry.box, entry.width);
}
function watchCharts() {
  const byBox = new Map(charts.map(entry => [entry.box, entry]));
  const observer = new ResizeObserver(changes => {
    for (const change of changes) {
      const entry = byBox.get(change.target);
      if (Math.abs(entry.width - change.target.clientWidth) >= 1) drawChart(entry);
    }
  });
  for (const entry of charts) observer.observe(entry.box);
}
const redrawCharts = () => charts.forEach(drawChart);

/** A colour of the style sheet, for canvases. */
const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const tone = i => i < 0 ? 'var(--c9)' : `var(--c${i % 9})`;
