// The lanes of the run over time: what each consists of.

const laneModel = (() => {
  const {batches: b, steps: s, lanes} = run;
  const byLane = table => {
    const rows = lanes.map(() => []);
    for (let i = 0; i < table.count; ++i) rows[table.lane[i]]?.push(i);
    return rows;
  };
  const batchRows = byLane(b), stepRows = byLane(s);
  const several = (key, among = lanes) => new Set(among.map(l => l[key])).size > 1;

  function trainingLane(lane, id) {
    const rows = stepRows[id];
    if (rows.length === 0) return null;
    const end = i => s.start[i] + s.duration[i], got = i => end(i) - Math.min(s.receiving[i], s.duration[i]);
    return {
      name: several('run', lanes.filter(l => l.training)) ? `training ${lane.pid}` : 'training',
      training: true,
      run: lane.run,
      stride: s.stride,
      wait: levelOf(rows, i => [s.start[i], got(i)]),
      receive: levelOf(rows, i => [got(i), end(i)]),
      train: levelOf(rows, i => s.trained[i] > 0 && [end(i), end(i) + s.trained[i]])
    };
  }
  function workerLane(lane, id) {
    const made = levelOf(
        batchRows[id],
        i => b.start[i] !== MISSING_TIME && b.duration[i] !== MISSING_TIME && [b.start[i], b.start[i] + b.duration[i]]);
    if (made.starts.length === 0) return null;
    const workers = lanes.filter(l => !l.training);
    const of = (several('run', workers) ? `${lane.pid} ` : '') + (several('loader', workers) ? `L${lane.loader} ` : '');
    return {
      name: lane.training ? 'making batches' : `${of}worker ${lane.worker}`,
      run: lane.run,
      made,
      stride: b.stride
    };
  }
  const order = d3.range(lanes.length)
                    .sort(
                        (x, y) => lanes[x].run - lanes[y].run || lanes[x].loader - lanes[y].loader ||
                            lanes[x].worker - lanes[y].worker);
  const drawn =
      order.flatMap(id => [lanes[id].training ? trainingLane(lanes[id], id) : null, workerLane(lanes[id], id)])
          .filter(Boolean);

  const arrivals =
      d3.range(b.count).filter(i => b.received[i] !== MISSING_TIME).sort((x, y) => b.received[x] - b.received[y]);
  const early = Float64Array.from(arrivals.filter(i => b.flags[i] & OUT_OF_ORDER), i => b.received[i]);
  const counted = arrivals.filter(i => b.outstanding[i] !== MISSING_SHORT);
  return {
    lanes: drawn,
    early,
    depthTimes: Float64Array.from(counted, i => b.received[i]),
    depths: counted.map(i => b.outstanding[i])
  };
})();
