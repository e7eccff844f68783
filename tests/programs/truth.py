"""What a test program measures about itself, independently of any tracer.

A program notes what it did with `log`; times are those of `now`, ns of one monotonic clock for all
processes. Both are C functions, so that taking a time adds no Python frame to what is timed; and a string
is no work for the garbage collector, which would else run just behind the end of what was timed.

    op START END NAME       one call of one operation
    load START END PATH     the same of the file loader
    sample START END KEY    one call of the dataset; KEY: an index or a path
    samples START END LIST  one call for several samples
    fetch START END         one call of the fetcher; the samples before it made up the batch
    pin START END           one batch was pinned
    synchronize START END   training waited for the GPU
    raised KEY              an operation raised for this sample
    native OP NAME CALLS BYTES [NS]  what a native entry point did inside an operation and those below it

`watch` notes tuples of what the training process sees; loader is a name, and batch counts from 0:

    ("paths", list[, loader])                 the files of a dataset's samples, in order of index
    ("index", loader, epoch, keys)            the sampler's next batch, in order of batches
    ("iter", loader, epoch, start, end)       iter(loader)
    ("get", loader, epoch, batch, expected, start, end)   a result came out of the queue
    ("wait", loader, epoch, batch, start, end)            _next_data
    ("consume", loader, epoch, batch, start, end)         _process_data
    ("next", loader, epoch, start, end)       next(iterator), as the training loop sees it

`flush` writes it as a JSON line to the file PREFIX.<pid>, where `start(PREFIX)` was called, in this
process or in its parent: in the training loop after each batch, in a worker when it ends. Without it
nothing is written and no class of PyTorch is touched.
"""
import collections
import functools
import json
import multiprocessing.util
import os
import sys
import threading
import time

now = time.perf_counter_ns
_records = collections.deque()  # of all threads
log = _records.append
_flushing = threading.Lock()  # held by no other thread over a fork, so that the child can flush
os.register_at_fork(before=_flushing.acquire, after_in_parent=_flushing.release, after_in_child=_flushing.release)
_VARIABLE = "TRUTH_PREFIX"  # in the environment: spawned workers inherit it
_starting = threading.local()  # .whose: (loader, epoch) while iter(loader) runs


def start(prefix):
    """Begins to write files PREFIX.<pid>; None: measures nothing."""
    if prefix is None:
        return
    os.environ[_VARIABLE] = os.path.abspath(prefix)
    _hold_threads_back()
    _watch_fetchers()
    _watch_pinning()
    from torch.utils.data import dataloader

    _watch_iterator(dataloader._MultiProcessingDataLoaderIter)
    _watch_iterator(dataloader._SingleProcessDataLoaderIter)


def _hold_threads_back():
    """Lets other threads run only where this one waits or computes in C.

    Python changes threads at the first instruction of a function: between the clock of a tracer, which
    sees the call, and our own behind that instruction, a worker's feeder thread could run for ms.
    """
    sys.setswitchinterval(60)


def flush():
    """Writes what was logged since the last call, in one write.

    What one thread took is in the file before another takes what came after it: the file has each thread's
    records in the order in which it logged them.
    """
    prefix = os.environ.get(_VARIABLE)
    with _flushing:
        records = [_records.popleft() for _ in range(len(_records))]
        if prefix is None or not records:
            return
        line = {"pid": os.getpid(), "realtime_offset": time.time_ns() - now(), "records": records}
        file = os.open(f"{prefix}.{os.getpid()}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.write(file, json.dumps(line).encode() + b"\n")
        os.close(file)


def discard():
    """Forgets what was logged since the last flush."""
    _records.clear()


def warm_up():
    """For behind a sleep: others had the caches meanwhile, and the first time that is taken would take some µs."""
    records = collections.deque()
    for _ in range(3):
        records.append(f"load {now()} {now()} ")


def watch(loader, name="train", epoch=0):
    """Yields what `for batch in loader` yields and logs each step of the iterator."""
    if _VARIABLE not in os.environ:
        yield from loader
        return
    _starting.whose = (name, epoch)
    begin = now()
    iterator = iter(loader)
    del loader  # a `for` loop holds the iterator alone
    log(("iter", name, epoch, begin, now()))
    iterator.truth = _starting.whose
    _starting.whose = None
    while True:
        begin = now()
        try:
            batch = next(iterator)
        except StopIteration:
            log(("next", name, epoch, begin, now()))
            flush()
            return
        log(("next", name, epoch, begin, now()))
        flush()
        yield batch


def _whose(iterator):
    return getattr(_starting, "whose", None) or getattr(iterator, "truth", ("?", -1))


def _replace(owner, method):
    """A decorator: puts the function in the method's place; it gets the original as its first argument."""

    def install(function):
        original = getattr(owner, method)

        @functools.wraps(original)
        def replacement(self, *arguments):
            return function(original, self, *arguments)

        setattr(owner, method, replacement)

    return install


def _watch_fetchers():
    from torch.utils.data._utils import fetch as fetchers

    for owner in (fetchers._MapDatasetFetcher, fetchers._IterableDatasetFetcher):

        @_replace(owner, "fetch")
        def fetch(original, self, index):
            begin = now()
            batch = original(self, index)
            log(f"fetch {begin} {now()}")
            return batch


def _watch_pinning():
    """What the pin thread calls for each batch; it calls itself for what a batch holds.

    What is no batch is pinned as well: a worker's answer to a new epoch, its note that it has no more.
    """
    from torch.utils.data._utils import pin_memory as module

    inside = threading.local()

    @_replace(module, "pin_memory")
    def pin_memory(original, data, *arguments):
        if data is None or type(data).__name__ == "_IterableDatasetStopIteration" or getattr(inside, "a_batch", False):
            return original(data, *arguments)
        inside.a_batch = True
        begin = now()
        pinned = original(data, *arguments)
        log(f"pin {begin} {now()}")
        inside.a_batch = False
        return pinned


def _watch_iterator(owner):
    @_replace(owner, "_next_index")
    def next_index(original, self):
        index = original(self)
        log(("index", *_whose(self), index))
        return index

    @_replace(owner, "_next_data")
    def next_data(original, self):
        begin = now()
        self.truth_single = self._num_yielded
        data = original(self)
        end = now()
        log(("wait", *_whose(self), _delivered(self), begin, end))
        return data

    if not hasattr(owner, "_get_data"):
        return

    @_replace(owner, "_get_data")
    def get_data(original, self):
        begin = now()
        result = original(self)
        end = now()
        if isinstance(result[0], int):  # else: a worker's answer to a new epoch
            self.truth_last = result[0]
            log(("get", *_whose(self), result[0], self._rcvd_idx, begin, end))
        return result

    @_replace(owner, "_process_data")
    def process_data(original, self, *arguments):
        begin = now()
        data = original(self, *arguments)
        end = now()
        log(("consume", *_whose(self), _delivered(self), begin, end))
        return data


def _delivered(iterator):
    """The index of the batch that the iterator hands out: asked after the method that counted it."""
    if not hasattr(iterator, "_rcvd_idx"):
        return iterator.truth_single
    return iterator._rcvd_idx - 1 if getattr(iterator, "_in_order", True) else iterator.truth_last


def _in_worker(_):
    _records.clear()
    multiprocessing.util.Finalize(None, flush, exitpriority=1)


# A forked process begins with the former, a spawned one with the import of this module.
multiprocessing.util.register_after_fork(flush, _in_worker)
if getattr(multiprocessing.current_process(), "_inheriting", False):
    _in_worker(flush)
    if _VARIABLE in os.environ:
        _hold_threads_back()
        _watch_fetchers()
