// Intervals of one lane that can be drawn at any zoom: each one as a block, or, where they are too many, the
// share of every pixel that they cover.

/** Position behind the last of the ascending numbers that is at most t. */
function behind(numbers, t) {
  let low = 0, high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (numbers[middle] <= t)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/** `starts` ascending; times in any one unit. */
class Level {
  constructor(starts, ends, ids) {
    this.starts = starts;
    this.ends = ends;
    this.ids = ids;
    this.before = new Float64Array(starts.length + 1);  // covered by the intervals before i
    this.reach = new Float64Array(starts.length);       // latest end of the intervals up to i
    let reach = -Infinity;
    for (let i = 0; i < starts.length; ++i) {
      const fresh = Math.max(0, ends[i] - Math.max(starts[i], reach));
      this.before[i + 1] = this.before[i] + fresh;
      reach = this.reach[i] = Math.max(reach, ends[i]);
    }
  }

  /** Covered time up to t. */
  until(t) {
    const i = behind(this.starts, t) - 1;
    if (i < 0) return 0;
    const whole = this.before[i + 1];
    return whole - Math.max(0, Math.min(this.reach[i] - t, whole - this.before[i]));
  }

  /** Positions [first, last) of the intervals that meet [from, to]. */
  range(from, to) {
    const last = d3.bisectRight(this.starts, to);
    let first = d3.bisectLeft(this.reach, from);
    return [Math.min(first, last), last];
  }

  /** Position of the interval at t, or −1. */
  at(t) {
    const i = d3.bisectRight(this.starts, t) - 1;
    return i >= 0 && t <= this.ends[i] ? i : -1;
  }
}

/** A Level of those rows for which of(i) gives [start, end], sorted by start. */
function levelOf(rows, of) {
  const found = [];
  for (const i of rows) {
    const interval = of(i);
    if (interval && interval[1] >= interval[0]) found.push([interval[0], interval[1], i]);
  }
  found.sort((a, b) => a[0] - b[0]);
  return new Level(
      Float64Array.from(found, f => f[0]), Float64Array.from(found, f => f[1]), Uint32Array.from(found, f => f[2]));
}
