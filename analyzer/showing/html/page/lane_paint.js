// Paints lanes on a canvas.

/** Blocks are drawn one by one while they are at least so wide on average; else their share of each pixel. */
const NARROWEST_BLOCK = 2.5;

class LanePainter {
  /** `x`: from time to pixels; `right`: where the lanes end. */
  constructor(context, x, left, right) {
    Object.assign(this, {context, x, left, right, blocks: 0, dense: 0});
    [this.from, this.to] = x.domain();
  }

  tooMany(level, stride) {
    const [first, last] = level.range(this.from, this.to);
    return (last - first) * NARROWEST_BLOCK > this.right - this.left || (stride > 1 && last - first > 200);
  }

  /** The parts stacked in each pixel by their share of it, from the bottom up. */
  shares(parts, top, height, stride) {
    ++this.dense;
    const perPixel = (this.to - this.from) / (this.right - this.left),
          used = new Float64Array(Math.ceil(this.right - this.left));
    for (const {level, fill} of parts) {
      this.context.fillStyle = fill;
      let before = level.until(this.from);
      for (let k = 0; k < used.length; ++k) {
        const now = level.until(this.from + (k + 1) * perPixel);
        const tall = Math.min(height - used[k], height * stride * (now - before) / perPixel);
        before = now;
        if (tall <= 0) continue;
        this.context.fillRect(this.left + k, top + height - used[k] - tall, 1, tall);
        used[k] += tall;
      }
    }
  }

  /** Each interval as a block; fillOf(id), labelOf(id) or none. */
  each(level, top, height, fillOf, labelOf) {
    const {context, x} = this;
    const [first, last] = level.range(this.from, this.to);
    for (let i = first; i < last; ++i) {
      const a = Math.max(this.left, x(level.starts[i])), b = Math.min(this.right, x(level.ends[i]));
      if (b < this.left || a > this.right) continue;
      const gap = b - a > 5 ? 1 : 0;
      context.fillStyle = fillOf(level.ids[i]);
      context.fillRect(a, top, Math.max(1, b - a - gap), height);
      ++this.blocks;
      if (!labelOf || b - a < 26 || height < 12) continue;
      const label = labelOf(level.ids[i]);
      if (context.measureText(label).width > b - a - 6) continue;
      context.fillStyle = '#fff';
      context.fillText(label, (a + b) / 2, top + height / 2 + 0.5);
    }
  }

  /** Small triangles at these ascending times; one a pixel at most. */
  marks(times, top, size, fill) {
    const {context, x} = this;
    context.fillStyle = fill;
    let before = -Infinity;
    for (let i = behind(times, this.from); i < times.length && times[i] <= this.to; ++i) {
      const at = x(times[i]);
      if (at - before < 1) {  // to the first one of the next pixel
        i = Math.max(i, behind(times, x.invert(before + 1)) - 1);
        continue;
      }
      before = at;
      context.beginPath();
      context.moveTo(at - size / 2, top);
      context.lineTo(at + size / 2, top);
      context.lineTo(at, top + size);
      context.fill();
    }
  }

  /** A quantity that holds from one time to the next, as an area; of many in a pixel, the greatest. */
  steps(times, values, most, top, height, fill, line) {
    const {context, x} = this;
    if (times.length === 0) return;
    const y = value => top + height - height * value / most;
    context.beginPath();
    context.moveTo(this.left, top + height);
    const perPixel = (this.to - this.from) / (this.right - this.left), end = times[times.length - 1];
    let at = behind(times, this.from) - 1;  // whose value holds
    for (let px = this.left; px <= this.right; ++px) {
      const from = this.from + (px - this.left) * perPixel, next = behind(times, from + perPixel) - 1;
      let value = at >= 0 && from <= end ? values[at] : 0;
      for (let k = Math.max(at, 0); k <= next; ++k) value = Math.max(value, values[k]);
      at = next;
      context.lineTo(px, y(value));
      context.lineTo(px + 1, y(value));
    }
    context.lineTo(this.right, top + height);
    context.fillStyle = fill;
    context.fill();
    context.strokeStyle = line;
    context.lineWidth = 1;
    context.stroke();
  }
}
