import queue

from . import MP_STATUS_CHECK_INTERVAL
from .worker import ExceptionWrapper


def _pin_memory_loop(in_queue, out_queue, device_id, done_event, device):
    """Runs in a thread of the training process: takes results, pins them, hands them on."""

    def do_one_step():
        try:
            r = in_queue.get(timeout=MP_STATUS_CHECK_INTERVAL)
        except queue.Empty:
            return
        idx, data = r
        if not done_event.is_set() and not isinstance(data, ExceptionWrapper):
            data = pin_memory(data, device)
            r = (idx, data)
        while not done_event.is_set():
            try:
                out_queue.put(r, timeout=MP_STATUS_CHECK_INTERVAL)
                break
            except queue.Full:
                continue

    while not done_event.is_set():
        do_one_step()


def pin_memory(data, device=None):
    """Copies, because the stand-in has no memory to pin."""
    if isinstance(data, (list, tuple)):
        return type(data)(pin_memory(item, device) for item in data)
    return bytes(bytearray(data)) if isinstance(data, bytes) else data
