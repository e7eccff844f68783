// One tooltip for all charts.

const tooltip = (() => {
  const box = el('div.tooltip', {hidden: '', role: 'status'});
  document.body.append(box);

  /** Shows a title and lines beside the pointer. */
  function show(event, title, lines) {
    box.replaceChildren(el('b', title), ...lines.map(line => el('div', line)));
    box.hidden = false;
    const {width, height} = box.getBoundingClientRect();
    const left = event.clientX + 14 + width > innerWidth ? event.clientX - 14 - width : event.clientX + 14;
    const top = event.clientY + 14 + height > innerHeight ? event.clientY - 10 - height : event.clientY + 14;
    box.style.left = Math.max(4, left) + 'px';
    box.style.top = Math.max(4, top) + 'px';
  }
  const hide = () => {
    box.hidden = true;
  };

  /** Lets the nodes of a d3 selection explain themselves; of(datum) → [title, lines]. */
  const attach = (selection, of) =>
      selection.on('mousemove', function(d) { show(d3.event, ...of(d)); }).on('mouseleave', hide);

  return {show, hide, attach};
})();
