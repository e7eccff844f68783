"""A data loader in plain Python, for the demo where PyTorch is missing: worker processes make batches in advance.

Its functions have the names and the attributes by which Lotus knows PyTorch's loader and copies of it.
"""
import itertools
import multiprocessing
import queue
import random
import traceback

try:
    import torch  # noqa: F401  Lotus looks at a program from this import on, also where there is no PyTorch
except ImportError:
    pass

CHECK_S = 5  # between checks that the workers are alive


class ExceptionWrapper:
    """What went wrong in a worker, on its way to the training."""

    def __init__(self, worker_id):
        self.text = f"in worker {worker_id}:\n{traceback.format_exc()}"


class MapFetcher:
    """Makes a batch of the samples that an index names."""

    def __init__(self, dataset, auto_collation, collate_fn):
        self.dataset = dataset
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn

    def fetch(self, possibly_batched_index):
        if not self.auto_collation:
            return self.collate_fn(self.dataset[possibly_batched_index])
        return self.collate_fn([self.dataset[index] for index in possibly_batched_index])


def create_fetcher(dataset, auto_collation, collate_fn):
    return MapFetcher(dataset, auto_collation, collate_fn)


def _worker_loop(dataset, index_queue, data_queue, collate_fn, worker_id, num_workers, seed):
    """The worker process, until it is told to end."""
    random.seed(seed + worker_id * num_workers)
    fetcher = create_fetcher(dataset, True, collate_fn)
    while True:
        task = index_queue.get()
        if task is None:
            return
        idx, index = task
        try:
            data = fetcher.fetch(index)
        except Exception:
            data = ExceptionWrapper(worker_id)
        data_queue.put((idx, data))


class BatchSampler:
    """Indices of batches, in a new order each time."""

    def __init__(self, length, batch_size):
        self.length, self.batch_size = length, batch_size

    def __iter__(self):
        order = random.sample(range(self.length), self.length)
        return (order[first:first + self.batch_size] for first in range(0, self.length, self.batch_size))

    def __len__(self):
        return -(-self.length // self.batch_size)


class DataLoader:
    def __init__(self, dataset, batch_size, num_workers, collate_fn, worker_init_fn=None, persistent_workers=False):
        self.dataset = dataset
        self.batch_size = batch_size
        self.batch_sampler = BatchSampler(len(dataset), batch_size)
        self.num_workers = num_workers
        self.prefetch_factor = 2
        self.collate_fn = collate_fn
        self.worker_init_fn = worker_init_fn
        self.persistent_workers = persistent_workers

    def __iter__(self):
        return WorkersIterator(self) if self.num_workers else OwnIterator(self)

    def __len__(self):
        return len(self.batch_sampler)


class BaseIterator:
    def __init__(self, loader):
        self._sampler_iter = iter(loader.batch_sampler)
        self._num_yielded = 0

    def __iter__(self):
        return self

    def __next__(self):
        data = self._next_data()
        self._num_yielded += 1
        return data

    def _next_index(self):
        return next(self._sampler_iter)


class OwnIterator(BaseIterator):
    """Without workers: makes each batch when it is asked for."""

    def __init__(self, loader):
        super().__init__(loader)
        self._dataset_fetcher = create_fetcher(loader.dataset, True, loader.collate_fn)

    def _next_data(self):
        index = self._next_index()
        return self._dataset_fetcher.fetch(index)


class WorkersIterator(BaseIterator):
    def __init__(self, loader):
        super().__init__(loader)
        self._num_workers = loader.num_workers
        self._worker_result_queue = multiprocessing.Queue()
        self._index_queues, self._workers = [], []
        seed = random.randrange(1 << 30)
        for worker_id in range(self._num_workers):
            index_queue = multiprocessing.Queue()
            worker = multiprocessing.Process(target=_worker_loop, daemon=True, args=(
                loader.dataset, index_queue, self._worker_result_queue, loader.collate_fn, worker_id,
                self._num_workers, seed))
            worker.start()
            self._index_queues.append(index_queue)
            self._workers.append(worker)
        self._reset(loader, first_iter=True)

    def _reset(self, loader, first_iter=False):
        self._send_idx = self._rcvd_idx = 0
        self._tasks_outstanding = 0
        self._arrived = {}
        self._next_worker = itertools.cycle(range(self._num_workers))
        for _ in range(loader.prefetch_factor * self._num_workers):
            self._try_put_index()

    def _try_put_index(self):
        try:
            index = self._next_index()
        except StopIteration:
            return
        self._index_queues[next(self._next_worker)].put((self._send_idx, index))
        self._tasks_outstanding += 1
        self._send_idx += 1

    def _try_get_data(self):
        try:
            return True, self._worker_result_queue.get(timeout=CHECK_S)
        except queue.Empty:
            if not all(worker.is_alive() for worker in self._workers):
                raise RuntimeError("a worker has ended unexpectedly") from None
            return False, None

    def _get_data(self):
        while True:
            success, data = self._try_get_data()
            if success:
                return data

    def _next_data(self):
        if self._tasks_outstanding == 0 and not self._arrived:
            self._shutdown_workers()
            raise StopIteration
        while self._rcvd_idx not in self._arrived:
            idx, data = self._get_data()
            self._tasks_outstanding -= 1
            self._arrived[idx] = data
        data = self._arrived.pop(self._rcvd_idx)
        return self._process_data(data)

    def _process_data(self, data):
        self._rcvd_idx += 1
        self._try_put_index()
        if isinstance(data, ExceptionWrapper):
            raise RuntimeError(data.text)
        return data

    def _shutdown_workers(self):
        for index_queue in self._index_queues:
            index_queue.put(None)
        for worker in self._workers:
            worker.join()
