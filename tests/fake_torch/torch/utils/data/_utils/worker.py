import os
import queue
import random
import traceback

from . import MP_STATUS_CHECK_INTERVAL

_worker_info = None


class WorkerInfo:
    def __init__(self, **kwargs):
        self.__dict__.update(kwargs)


class _IterableDatasetStopIteration:
    """A worker's iterable dataset has ended."""

    def __init__(self, worker_id):
        self.worker_id = worker_id


class _ResumeIteration:
    """A new epoch begins for a worker that lives on."""

    def __init__(self, seed=None):
        self.seed = seed


class ExceptionWrapper:
    """An exception and its traceback as text, on the way to the training process."""

    def __init__(self, error, where):
        self.kind = type(error)
        self.message = f"Caught {self.kind.__name__} {where}.\nOriginal {traceback.format_exc()}"

    def reraise(self):
        raise self.kind(self.message)


class ManagerWatchdog:
    def __init__(self):
        self.manager_pid = os.getppid()

    def is_alive(self):
        return os.getppid() == self.manager_pid


def get_worker_info():
    return _worker_info


def _worker_loop(dataset_kind, dataset, index_queue, data_queue, done_event, auto_collation, collate_fn,
                 drop_last, base_seed, init_fn, worker_id, num_workers, persistent_workers, shared_seed):
    """The worker process: fetches what the index queue asks for, until it is told to end."""
    global _worker_info
    from torch.utils.data import _DatasetKind

    try:
        seed = base_seed + worker_id
        random.seed(seed)
        _worker_info = WorkerInfo(id=worker_id, num_workers=num_workers, seed=seed, dataset=dataset)
        if init_fn is not None:
            init_fn(worker_id)
        fetcher = _DatasetKind.create_fetcher(dataset_kind, dataset, auto_collation, collate_fn, drop_last)
        iteration_end = False
        watchdog = ManagerWatchdog()
        while watchdog.is_alive():
            try:
                r = index_queue.get(timeout=MP_STATUS_CHECK_INTERVAL)
            except queue.Empty:
                continue
            if isinstance(r, _ResumeIteration):
                data_queue.put((r, None))
                iteration_end = False
                fetcher = _DatasetKind.create_fetcher(
                    dataset_kind, dataset, auto_collation, collate_fn, drop_last)
                continue
            if r is None:
                break
            if done_event.is_set() or iteration_end:
                continue
            idx, index = r
            try:
                data = fetcher.fetch(index)
            except StopIteration as error:
                if dataset_kind == _DatasetKind.Iterable:
                    data = _IterableDatasetStopIteration(worker_id)
                    iteration_end = True
                else:
                    data = ExceptionWrapper(error, f"in DataLoader worker process {worker_id}")
            except Exception as error:
                data = ExceptionWrapper(error, f"in DataLoader worker process {worker_id}")
            data_queue.put((idx, data))
            del data, idx, index, r
    except KeyboardInterrupt:
        pass
    if done_event.is_set():
        data_queue.cancel_join_thread()
        data_queue.close()
