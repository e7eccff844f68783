import itertools
import multiprocessing
import os
import queue
import random
import threading

from . import _utils
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, SequentialSampler, _InfiniteConstantSampler

# From PyTorch 2.6 on, _next_data increments `_rcvd_idx` before it calls _process_data, which did so in
# earlier versions. From 2.7 on, it also passes the worker.
SHAPE = os.environ.get("LOADER_SHAPE", "1")
COUNTS_BEFORE, PASSES_WORKER = SHAPE in ("2", "2.6"), SHAPE == "2"


class _DatasetKind:
    Map = 0
    Iterable = 1

    @staticmethod
    def create_fetcher(kind, dataset, auto_collation, collate_fn, drop_last):
        fetch = _utils.fetch
        fetcher = fetch._MapDatasetFetcher if kind == _DatasetKind.Map else fetch._IterableDatasetFetcher
        return fetcher(dataset, auto_collation, collate_fn, drop_last)


class DataLoader:
    _iterator = None

    def __init__(self, dataset, batch_size=1, shuffle=False, num_workers=0, collate_fn=None, pin_memory=False,
                 drop_last=False, worker_init_fn=None, multiprocessing_context=None, *, prefetch_factor=2,
                 persistent_workers=False, in_order=True):
        self.dataset = dataset
        self.batch_size = batch_size
        self.num_workers = num_workers
        self.prefetch_factor = prefetch_factor
        self.pin_memory = pin_memory
        self.drop_last = drop_last
        self.timeout = 0
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing.get_context(multiprocessing_context)
        self.persistent_workers = persistent_workers
        self.in_order = in_order
        iterable = isinstance(dataset, IterableDataset)
        self._dataset_kind = _DatasetKind.Iterable if iterable else _DatasetKind.Map
        if iterable:
            self.sampler = _InfiniteConstantSampler()
        else:
            self.sampler = RandomSampler(dataset) if shuffle else SequentialSampler(dataset)
        self.batch_sampler = None if batch_size is None else BatchSampler(self.sampler, batch_size, drop_last)
        collate = _utils.collate
        default = collate.default_collate if self._auto_collation else collate.default_convert
        self.collate_fn = collate_fn or default

    @property
    def _auto_collation(self):
        return self.batch_sampler is not None

    @property
    def _index_sampler(self):
        return self.batch_sampler if self._auto_collation else self.sampler

    def _get_iterator(self):
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self)
        return _MultiProcessingDataLoaderIter(self)

    def __iter__(self):
        if not (self.persistent_workers and self.num_workers > 0):
            return self._get_iterator()
        if self._iterator is None:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    def __len__(self):
        return len(self._index_sampler)


class _BaseDataLoaderIter:
    def __init__(self, loader):
        self._dataset = loader.dataset
        self._dataset_kind = loader._dataset_kind
        self._auto_collation = loader._auto_collation
        self._drop_last = loader.drop_last
        self._index_sampler = loader._index_sampler
        self._num_workers = loader.num_workers
        self._prefetch_factor = loader.prefetch_factor
        self._pin_memory = loader.pin_memory
        self._collate_fn = loader.collate_fn
        self._sampler_iter = iter(self._index_sampler)
        self._base_seed = random.randrange(2**31)
        self._persistent_workers = loader.persistent_workers
        self._in_order = loader.in_order
        self._num_yielded = 0

    def __iter__(self):
        return self

    def _reset(self, loader, first_iter=False):
        self._sampler_iter = iter(self._index_sampler)
        self._num_yielded = 0

    def _next_index(self):
        return next(self._sampler_iter)

    def _next_data(self):
        raise NotImplementedError

    def __next__(self):
        data = self._next_data()
        self._num_yielded += 1
        return data

    def __len__(self):
        return len(self._index_sampler)


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    def __init__(self, loader):
        super().__init__(loader)
        self._dataset_fetcher = _DatasetKind.create_fetcher(
            self._dataset_kind, self._dataset, self._auto_collation, self._collate_fn, self._drop_last)

    def _next_data(self):
        index = self._next_index()
        data = self._dataset_fetcher.fetch(index)
        if self._pin_memory:
            data = _utils.pin_memory.pin_memory(data, None)
        return data


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    def __init__(self, loader):
        super().__init__(loader)
        context = loader.multiprocessing_context
        self._worker_result_queue = context.Queue()
        self._shutdown = False
        self._workers_done_event = context.Event()
        self._index_queues = []
        self._workers = []
        for i in range(self._num_workers):
            index_queue = context.Queue()
            index_queue.cancel_join_thread()
            w = context.Process(
                target=_utils.worker._worker_loop,
                args=(self._dataset_kind, self._dataset, index_queue, self._worker_result_queue,
                      self._workers_done_event, self._auto_collation, self._collate_fn, self._drop_last,
                      self._base_seed, loader.worker_init_fn, i, self._num_workers, self._persistent_workers,
                      None))
            w.daemon = True
            w.start()
            self._index_queues.append(index_queue)
            self._workers.append(w)
        self._data_queue = self._worker_result_queue
        if self._pin_memory:
            self._start_pin_memory_thread()
        self._reset(loader, first_iter=True)

    def _start_pin_memory_thread(self):
        self._pin_memory_thread_done_event = threading.Event()
        self._data_queue = queue.Queue()
        self._pin_memory_thread = threading.Thread(
            target=_utils.pin_memory._pin_memory_loop,
            args=(self._worker_result_queue, self._data_queue, 0, self._pin_memory_thread_done_event, None))
        self._pin_memory_thread.daemon = True
        self._pin_memory_thread.start()

    def _reset(self, loader, first_iter=False):
        super()._reset(loader, first_iter)
        self._send_idx = 0
        self._rcvd_idx = 0
        self._task_info = {}
        self._tasks_outstanding = 0
        self._workers_status = [True] * self._num_workers
        self._worker_queue_idx_cycle = itertools.cycle(range(self._num_workers))
        if not first_iter:
            for index_queue in self._index_queues:
                index_queue.put(_utils.worker._ResumeIteration())
            answers = 0
            while answers < self._num_workers:
                return_idx, _ = self._get_data()
                answers += isinstance(return_idx, _utils.worker._ResumeIteration)
        for _ in range(self._prefetch_factor * self._num_workers):
            self._try_put_index()

    def _try_get_data(self, timeout=_utils.MP_STATUS_CHECK_INTERVAL):
        try:
            data = self._data_queue.get(timeout=timeout)
            return (True, data)
        except queue.Empty as e:
            dead = [w for w, runs in zip(self._workers, self._workers_status) if runs and not w.is_alive()]
            if dead:
                pids = ", ".join(str(w.pid) for w in dead)
                raise RuntimeError(f"DataLoader worker (pid(s) {pids}) exited unexpectedly") from e
            return (False, None)

    def _get_data(self):
        while True:
            success, data = self._try_get_data()
            if success:
                return data

    def _skip_idle(self):
        """Moves on to the next batch that a worker has or may still have; False: there is none."""
        while self._rcvd_idx < self._send_idx:
            info = self._task_info.get(self._rcvd_idx)
            if info is not None:
                if len(info) == 2 or self._workers_status[info[0]]:
                    return True
                del self._task_info[self._rcvd_idx]
            self._rcvd_idx += 1
        return False

    def _next_data(self):
        while True:
            if not self._skip_idle():
                if not self._persistent_workers:
                    self._shutdown_workers()
                raise StopIteration
            if len(self._task_info[self._rcvd_idx]) == 2:
                worker_id, data = self._task_info.pop(self._rcvd_idx)
                if not COUNTS_BEFORE:
                    return self._process_data(data)
                self._rcvd_idx += 1
                return self._process_data(*((data, worker_id) if PASSES_WORKER else (data,)))
            idx, data = self._get_data()
            self._tasks_outstanding -= 1
            if isinstance(data, _utils.worker._IterableDatasetStopIteration):
                if self._persistent_workers:
                    self._workers_status[data.worker_id] = False
                else:
                    self._mark_worker_as_unavailable(data.worker_id)
                self._try_put_index()
                continue
            if idx == self._rcvd_idx:
                worker_id = self._task_info.pop(idx)[0]
                if not COUNTS_BEFORE:
                    return self._process_data(data)
                self._rcvd_idx += 1
                return self._process_data(*((data, worker_id) if PASSES_WORKER else (data,)))
            if not self._in_order:
                worker_id = self._task_info.pop(idx)[0]
                return self._process_data(*((data, worker_id) if PASSES_WORKER else (data,)))
            self._task_info[idx] += (data,)

    def _try_put_index(self):
        try:
            index = self._next_index()
        except StopIteration:
            return
        for _ in range(self._num_workers):
            worker_queue_idx = next(self._worker_queue_idx_cycle)
            if self._workers_status[worker_queue_idx]:
                break
        else:
            return
        self._index_queues[worker_queue_idx].put((self._send_idx, index))
        self._task_info[self._send_idx] = (worker_queue_idx,)
        self._tasks_outstanding += 1
        self._send_idx += 1

    if PASSES_WORKER:

        def _process_data(self, data, worker_id):
            self._try_put_index()
            if isinstance(data, _utils.worker.ExceptionWrapper):
                data.reraise()
            return data

    else:

        def _process_data(self, data):
            self._rcvd_idx += not COUNTS_BEFORE
            self._try_put_index()
            if isinstance(data, _utils.worker.ExceptionWrapper):
                data.reraise()
            return data

    def _mark_worker_as_unavailable(self, worker_id, shutdown=False):
        self._index_queues[worker_id].put(None)
        self._workers_status[worker_id] = False

    def _shutdown_workers(self):
        if self._shutdown:
            return
        self._shutdown = True
        if self._pin_memory:
            self._pin_memory_thread_done_event.set()
            self._worker_result_queue.put((None, None))
            self._pin_memory_thread.join()
        self._workers_done_event.set()
        for worker_id in range(self._num_workers):
            if self._persistent_workers or self._workers_status[worker_id]:
                self._mark_worker_as_unavailable(worker_id, shutdown=True)
        for w in self._workers:
            w.join(timeout=_utils.MP_STATUS_CHECK_INTERVAL)
            if w.is_alive():
                w.terminate()
        for q in self._index_queues:
            q.cancel_join_thread()
            q.close()

    def __del__(self):
        if hasattr(self, "_shutdown"):
            self._shutdown_workers()
