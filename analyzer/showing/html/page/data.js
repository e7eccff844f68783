'use strict';
// What lotus-analyze put into the page: JSON, with columns of numbers in base64.

const readJson = id => JSON.parse(document.getElementById(id).textContent);

/** A column of little-endian numbers; Type: a typed array. */
function column(text, Type) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return new Type(bytes.buffer);
}

const MISSING_TIME = 0xffffffff, MISSING_SHORT = 0xffff;

/** Columns of `json` under the names of `types`. */
function columns(json, types) {
  const table = {count: json.count, stride: json.stride};
  for (const [name, Type] of Object.entries(types)) table[name] = column(json[name], Type);
  return table;
}

const report = readJson('data-report');
const runs = readJson('data-runs');
const native = readJson('data-native');
const memory = readJson('data-memory');
const controlFlow = readJson('data-control-flow');
/** A C++ function's name without what makes it long. */
const readable = name => Object.hasOwn(native.readable, name) ? native.readable[name] : name;
/** null: LOTUS_COUNTERS was not set. */
const counted = readJson('data-counters');
const opTimes = readJson('data-op-times');

const sampleData = readJson('data-samples');
Object.assign(sampleData.chosen, columns(sampleData.chosen, {ms: Float32Array, bytes: Float32Array, op: Uint16Array}));

// Times in units of `unit` ms after the first record drawn.
const run = (() => {
  const json = readJson('data-time');
  const long = Uint32Array, short = Uint16Array;
  return {
    unit: json.unit_ns / 1e6,
    origin_ns: json.origin_ns,
    span: json.span,
    lanes: json.lanes,
    sets: json.sets,
    batches: columns(json.batches, {
      start: long,
      duration: long,
      received: long,
      consumed: long,
      wait_start: long,
      wait: long,
      number: long,
      lane: short,
      set: short,
      outstanding: short,
      flags: Uint8Array
    }),
    steps: columns(json.steps, {start: long, duration: long, receiving: long, trained: long, lane: short}),
  };
})();
const OUT_OF_ORDER = 1, FAILED = 2;

/** Delay of batch i in ms: from made to handed to training; NaN: not known. */
function delayOf(i) {
  const b = run.batches;
  if (b.consumed[i] === MISSING_TIME || b.start[i] === MISSING_TIME || b.duration[i] === MISSING_TIME) return NaN;
  return (b.consumed[i] - b.start[i] - b.duration[i]) * run.unit;
}
const waitOf = i => run.batches.wait[i] === MISSING_TIME ? NaN : run.batches.wait[i] * run.unit;
const madeIn = i => run.batches.duration[i] === MISSING_TIME ? NaN : run.batches.duration[i] * run.unit;
