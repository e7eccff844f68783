// Flame graphs of sampled stacks.

const PARTS = ['native code', 'Python', 'CPython', 'tracer'];
const PART_FILLS = ['#f0a35e', '#7fb2f0', '#b9c0cc', '#c9a0ff'];

/** The tree of a flame: {name, library, part, us, children}. */
function flameTree(flame) {
  const root = {name: flame.name, library: '', part: 1, us: flame.us, children: [], root: true}, path = [root];
  for (let i = 0; i < flame.tree.length; i += 3) {
    const [name, library, part] = native.flames.frames[flame.tree[i + 1]];
    const node = {name, library, part, us: flame.tree[i + 2], children: []};
    path.length = flame.tree[i] + 1;
    path[path.length - 1].children.push(node);
    path.push(node);
  }
  (function bySize(node) { node.children.sort((a, b) => b.us - a.us).forEach(bySize); })(root);
  return root;
}

/** Draws `flame` into the box; a click on a frame makes it the whole width. */
function flameGraph(flame) {
  const whole = d3.hierarchy(flameTree(flame));
  whole.eachAfter(node => {
    node.value = node.data.us;
  });
  let focus = whole;
  const crumbs = el('p.crumbs'), box = chart(draw, '.flame');
  const share = node => percentText(100 * node.value / (whole.value || 1));
  const within = (name, library) => library ? `${name} | ${library}` : name;

  function place(node, from, perUs, list) {
    list.push({node, from, width: node.value * perUs});
    let at = from;
    for (const child of node.children || []) {
      if (child.value * perUs >= 0.6) place(child, at, perUs, list);
      at += child.value * perUs;
    }
    return list;
  }
  function draw(target, width) {
    const above = focus.ancestors().slice(1).reverse(), row = 19;
    const list = above.map(node => ({node, from: 0, width, above: true}));
    place(focus, 0, width / (focus.value || 1), list);
    const deepest = d3.max(list, d => d.node.depth);
    const at = frame(target, width, (deepest + 1) * row + 2, {left: 0, right: 0, top: 0, bottom: 0});
    const cells = at.svg.selectAll('g').data(list).enter().append('g').attr(
        'transform', d => `translate(${d.from},${d.node.depth * row})`);
    cells.append('rect')
        .attr('width', d => Math.max(.5, d.width))
        .attr('height', row)
        .attr('rx', 2)
        .attr('fill', d => PART_FILLS[d.node.data.part])
        .attr('opacity', d => d.above ? .45 : 1)
        .on('click', d => {
          focus = d.node;
          tooltip.hide();
          draw(target, target.clientWidth);
        });
    cells.filter(d => d.width > 34).append('text').attr('x', 5).attr('y', 13).text(d => {
      const room = Math.floor((d.width - 8) / 6.3), text = readable(d.node.data.name);
      return text.length <= room ? text : room > 3 ? text.slice(0, room - 1) + '…' : '';
    });
    tooltip.attach(
        cells,
        d => [within(d.node.data.name, d.node.data.library), [
          `${timeText(d.node.value / 1e3)} of CPU time, ${share(d.node)} of ${flame.name}`, PARTS[d.node.data.part]
        ]]);
    crumbs.textContent = focus === whole ?
        'Click a frame to make it fill the width.' :
        `${within(readable(focus.data.name), focus.data.library)}: ${share(focus)} of ${flame.name}. Click a frame above it to go back.`;
  }
  return el('div', crumbs, box);
}
