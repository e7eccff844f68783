"""A test program's measurements of itself, independent of any tracer.

A program records events with `log`, and times with `now`: ns of one monotonic clock for all processes. Both
are C functions, so that measuring adds no Python frame. Events are strings, which the garbage collector does
not track; else it might run right after the measured call.

    op START END NAME       one call of one operation
    load START END PATH     one call of the file loader
    sample START END KEY    one call of the dataset; KEY: an index or a path
    samples START END LIST  one call for several samples
    fetch START END         one call of the fetcher; the samples before it made up the batch
    pin START END           one batch was pinned
    synchronize START END   training waited for the GPU
    raised KEY              an operation raised for this sample
    native OP NAME CALLS BYTES [NS]  calls of a native entry point inside an operation and nested ones

`watch` logs tuples of the training process's steps; loader is a name, and batch counts from 0:

    ("paths", list[, loader])                 the files of a dataset's samples, in order of index
    ("index", loader, epoch, keys)            the sampler's next batch, in order of batches
    ("iter", loader, epoch, start, end)       iter(loader)
    ("get", loader, epoch, batch, expected, start, end)   a result came out of the queue
    ("wait", loader, epoch, batch, start, end)            _next_data
    ("consume", loader, epoch, batch, start, end)         _process_data
    ("next", loader, epoch, start, end)       next(iterator), as the training loop sees it

`flush` writes the events as a JSON line to the file PREFIX.<pid>, if `start(PREFIX)` was called in this
process or its parent: in the training loop after each batch, in a worker at its end. Without `start`, nothing
is written and PyTorch's classes are not changed.
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
_flushing = threading.Lock()  # taken around a fork, so that the child can flush
os.register_at_fork(before=_flushing.acquire, after_in_parent=_flushing.release, after_in_child=_flushing.release)
_VARIABLE = "TRUTH_PREFIX"  # an environment variable, which spawned workers inherit
_starting = threading.local()  # .whose: (loader, epoch) while iter(loader) runs


def start(prefix):
    """Starts to measure and to write files PREFIX.<pid>. None: does nothing."""
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
    """Keeps Python from switching threads, except where this one waits or computes in C.

    Python switches threads at the first instruction of a function. A worker's feeder thread could then run
    for some ms after the tracer, which sees the call, and before this program take their start times.
    """
    sys.setswitchinterval(60)


def flush():
    """Writes what was logged since the last call, in one write.

    The lock is held until the events are written, so that the file has each thread's events in order.
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
    """Call this after a sleep: with cold caches, the first measurement would take some µs."""
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
    del loader  # like a `for` loop, which keeps only the iterator
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
    """A decorator: replaces the method by the function, whose first argument is the original method."""

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
    """Times pin_memory(), which the pin thread calls for each batch, and which recurses into its parts.

    It is also called for a worker's answer to a new epoch and for its end marker, which are left out.
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
    """The index of the batch that the iterator hands out; call it after the index was incremented."""
    if not hasattr(iterator, "_rcvd_idx"):
        return iterator.truth_single
    return iterator._rcvd_idx - 1 if getattr(iterator, "_in_order", True) else iterator.truth_last


def _in_worker(_):
    _records.clear()
    multiprocessing.util.Finalize(None, flush, exitpriority=1)


# The first line is for forked processes, the rest for spawned ones, which import this module.
multiprocessing.util.register_after_fork(flush, _in_worker)
if getattr(multiprocessing.current_process(), "_inheriting", False):
    _in_worker(flush)
    if _VARIABLE in os.environ:
        _hold_threads_back()
        _watch_fetchers()
