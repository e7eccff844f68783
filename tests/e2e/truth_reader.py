"""Reads what a test program measured of itself (tests/programs/truth.py) into batches and operations."""
import collections
import json
import pathlib

OUT_OF_ORDER_NS = 1000  # the wait of a batch that arrived before its turn, by definition


class Batch:
    """Times in ns of the realtime clock; None where the program did not see it."""

    def __init__(self, loader, epoch, number):
        self.loader, self.epoch, self.number = loader, epoch, number
        self.keys = None  # of its samples
        self.wait = None  # duration
        self.out_of_order = False
        self.consumed = None
        self.fetch = None


Fetch = collections.namedtuple("Fetch", "pid keys start ns")  # keys: of the samples, in order


class Truth:
    def __init__(self):
        self.ops = collections.defaultdict(list)  # name -> durations in ns
        self.fetches = []
        self.batches = {}  # (loader, epoch, number) -> Batch
        self.next_calls = []  # (loader, epoch, start, ns)
        self.samples = []  # (key, ns)
        self.raised = []  # keys of samples that raised
        self.main_pid = None

    def batch(self, loader, epoch, number):
        key = (loader, epoch, number)
        if key not in self.batches:
            self.batches[key] = Batch(*key)
        return self.batches[key]

    @property
    def consumed(self):
        return [batch for batch in self.batches.values() if batch.consumed is not None]


def read(prefix):
    """All that was written to files PREFIX.<pid>."""
    truth = Truth()
    prefix = pathlib.Path(prefix)
    paths = {}
    for path in sorted(prefix.parent.glob(prefix.name + ".*")):
        records, pid = [], 0
        for line in path.read_text().splitlines():
            line = json.loads(line)
            pid = line["pid"]
            records += [(line["realtime_offset"], *record) for record in line["records"]]
        paths.update({record[3] if len(record) > 3 else "train": record[2]
                      for record in records if record[1] == "paths"})
        _read_process(truth, pid, records)
    _match(truth, paths)
    return truth


def _read_process(truth, pid, records):
    has_samples = any(kind in ("sample", "samples") for _, kind, *_ in records)
    keys, begin = [], None
    got = {}
    numbers = collections.Counter()
    for offset, kind, *rest in records:
        if kind == "op":
            name, start, end = rest[:3]
            truth.ops[name].append(end - start)
            if len(rest) > 3 and not has_samples:
                begin = start if begin is None else begin
                keys.append(rest[3])
        elif kind in ("sample", "samples"):
            key, start, end = rest
            begin = start if begin is None else begin
            keys += key if kind == "samples" else [key]
            truth.samples.append((key, end - start))
        elif kind == "fetched":
            start, end = rest
            truth.fetches.append(Fetch(pid, keys, offset + begin, end - begin))
            keys, begin = [], None
        elif kind == "raised":
            truth.raised.append(rest[0])
        elif kind == "index":
            loader, epoch, index = rest
            truth.batch(loader, epoch, numbers[loader, epoch]).keys = index
            numbers[loader, epoch] += 1
        elif kind == "get":
            loader, epoch, number, expected, start, end = rest
            got[loader, epoch, number] = (start, end)
        elif kind == "wait":
            loader, epoch, number, start, end = rest
            batch = truth.batch(loader, epoch, number)
            _set_wait(batch, start, end, got.get((loader, epoch, number)))
            if batch.consumed is None:
                batch.consumed = offset + end
        elif kind == "consume":
            loader, epoch, number, start, end = rest
            truth.batch(loader, epoch, number).consumed = offset + end
        elif kind == "next":
            truth.main_pid = pid
            truth.next_calls.append((*rest[:2], offset + rest[2], rest[3] - rest[2]))


def _set_wait(batch, start, end, got):
    if got is None:  # no worker: the whole call
        batch.wait = end - start
    elif got[0] >= start:  # received in the call that handed it out
        batch.wait = got[1] - start
    else:
        batch.wait, batch.out_of_order = OUT_OF_ORDER_NS, True


def _match(truth, paths):
    """Ties each fetch to its batch, where the sampler's indices tell which one it is."""
    by_keys = collections.defaultdict(list)
    for batch in truth.batches.values():
        if batch.keys is None or not isinstance(batch.keys, list) or None in batch.keys:
            continue
        known = paths.get(batch.loader)
        keys = [known[index] for index in batch.keys] if known else batch.keys
        by_keys[tuple(keys)].append(batch)
    for fetch in sorted(truth.fetches, key=lambda fetch: fetch.start):
        candidates = [batch for batch in by_keys[tuple(fetch.keys)] if batch.fetch is None]
        if candidates:
            min(candidates, key=lambda batch: batch.epoch).fetch = fetch
