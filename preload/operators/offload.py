"""Moves activations that autograd saves to slow memory and back, as a plan of `lotus-analyze memory-plan` says.

Run by liblotus for LOTUS_TRY=memory-plan=FILE, with PLAN, the file's name, and SHARED, the address of its `Offload`
(offload.hpp). Slow memory is emulated: a copy elsewhere in memory that takes as long as the plan has it, or as copying
takes where that is longer. A move is a copy of a whole storage, so all numbers stay as they are, bit for bit.
`problem`: why nothing is moved; empty: it is.
"""
import atexit
import ctypes
import json
import mmap
import os
import stat
import threading
import weakref
from time import perf_counter

import torch

CHECKED = torch.Tensor, torch.nn.Parameter
MOST_STORAGES = 64
NONE = 2**64 - 1
NUMBER = int, float
WRITE = "write the plan by lotus-analyze memory-plan --json --mode offload"


class Shared(ctypes.Structure):
    _fields_ = [*((name, ctypes.c_uint64) for name in ("on", "step", "op", "count")),
                ("storages", ctypes.c_uint64 * MOST_STORAGES),
                *((name, ctypes.c_uint64) for name in ("planned_moves", "planned_ns", "planned_freed",
                                                       "moves", "bytes", "ns", "late", "moving"))]


class Refused(Exception):
    pass


def member(of, key, types, where=""):
    """What the plan has there. `where`: the path to `of` in it."""
    if not isinstance(of, dict) or not isinstance(of.get(key), types):
        wanted = {dict: "an object", list: "a list", str: "a string", int: "a whole number"}.get(types, "a number")
        raise Refused(f"{where}{key} is missing, or is not {wanted}; {WRITE}")
    return of[key]


class Entry:
    """A storage that the plan moves, and what became of it last."""
    __slots__ = ("out_seconds", "in_seconds", "step", "block")

    def __init__(self, moves, where):
        if len(moves) != 2:
            raise Refused(f"{where}moves has {len(moves)} moves in place of two, one to slow memory and one back; {WRITE}")
        self.out_seconds, self.in_seconds = (member(move, "seconds", NUMBER, f"{where}moves[{number}].")
                                             for number, move in enumerate(moves))
        self.step, self.block = None, lambda: None


class Plan:
    def __init__(self, path):
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe might wait for ever
                raise Refused("it is no regular file")
            with open(path, encoding="utf-8") as file:
                self.take(json.load(file))
        except OSError as error:
            raise Refused(f"it cannot be read ({error.strerror})") from error
        except ValueError as error:  # the text's, and that of its bytes
            raise Refused(f"it is no JSON ({error}); {WRITE}") from error

    def take(self, told):
        runs = [(number, run) for number, run in enumerate(member(told, "runs", list))
                if member(run, "mode", str, f"runs[{number}].") == "offload"]
        if len(runs) != 1:
            raise Refused(f"it has {len(runs)} plans of the mode offload; {WRITE} --fast BYTES")
        number, run = runs[0]
        self.entries = {}  # by operator, place among its arguments' storages (-1: none of these), bytes
        for index, row in enumerate(member(told, "plan", list)):
            where = f"plan[{index}]."
            if member(row, "run", int, where) == number:
                self.add(row, where)
        self.operators = {operator for operator, _, _ in self.entries}
        self.moves, self.seconds = (member(run, key, NUMBER, f"runs[{number}].") for key in ("num_move_nodes", "move_time_s"))
        self.freed = max(0, member(told, "default_alloc_bytes", int) - member(run, "fast_peak_bytes", int, f"runs[{number}]."))

    def add(self, row, where):
        entry = Entry(member(row, "moves", list, where), where)
        for number, use in enumerate(member(row, "saved", list, where)):
            of_use = f"{where}saved[{number}]."
            argument = -1 if isinstance(use, dict) and use.get("argument", -1) is None else member(use, "argument", int, of_use)
            self.entries[member(use, "operator", int, of_use), argument, member(row, "bytes", int, where)] = entry


class SlowMemory:
    """Not from the program's allocator. Buffers that were used are used again: new ones cost page faults."""

    def __init__(self):
        self.free = {}

    def take(self, size):
        buffers = self.free.get(size)
        return buffers.pop() if buffers else (ctypes.c_char * size).from_buffer(mmap.mmap(-1, size))

    def give_back(self, buffer):
        self.free.setdefault(len(buffer), []).append(buffer)


class Block:
    """A storage in slow memory, until it is needed; from then on in fast memory, as long as autograd holds it."""
    __slots__ = ("entry", "address", "size", "slow", "fast", "__weakref__")

    def __init__(self, entry, address, size):
        begin = perf_counter()
        self.entry, self.address, self.size, self.fast = entry, address, size, None
        self.slow = slow_memory.take(size)
        ctypes.memmove(self.slow, address, size)
        end_move(begin, entry.out_seconds, size)

    def storage(self):
        if self.fast is None:
            begin = perf_counter()
            self.fast = torch.empty(self.size, dtype=torch.uint8, device="cpu")
            ctypes.memmove(self.fast.data_ptr(), self.slow, self.size)
            self.leave_slow()
            end_move(begin, self.entry.in_seconds, self.size)
        return storage_of(self.fast)

    def leave_slow(self):
        slow_memory.give_back(self.slow)
        self.slow = None

    def __del__(self):
        if self.slow is not None:
            self.leave_slow()


class Saved:
    """What autograd holds in place of a tensor."""
    __slots__ = ("block", "dtype", "offset", "size", "stride")

    def __init__(self, block, tensor):
        self.block, self.dtype, self.offset = block, tensor.dtype, tensor.storage_offset()
        self.size, self.stride = tensor.size(), tensor.stride()

    def tensor(self):
        around, shared.moving = shared.moving, threading.get_ident()  # operators of ours, which no step has
        try:
            with torch.no_grad():
                made = torch.empty(0, dtype=self.dtype, device="cpu")
                return made.set_(self.block.storage(), self.offset, self.size, self.stride)
        finally:
            shared.moving = around


def end_move(begin, seconds, size):
    end = begin + seconds
    now = perf_counter()
    if now > end:
        shared.late += 1
    while now < end:
        now = perf_counter()
    shared.moves += 1
    shared.bytes += size
    shared.ns += int((now - begin) * 1e9)


def storage_of(tensor):
    return tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage().untyped()


def is_plain(tensor):
    return (type(tensor) is torch.Tensor and tensor.layout is torch.strided and tensor.device.type == "cpu"
            and not tensor.is_quantized and not tensor.is_conj() and not tensor.is_neg())


def block_of(tensor):
    """None: the plan has nothing for it."""
    if not is_plain(tensor) or shared.count > MOST_STORAGES:
        return None
    storage = storage_of(tensor)
    address, size = storage.data_ptr(), storage.nbytes()
    arguments = shared.storages[:shared.count]
    entry = plan.entries.get((shared.op, arguments.index(address) if address in arguments else -1, size))
    if entry is None:
        return None
    block = entry.block() if entry.step == shared.step else None
    if block is None:  # else it is saved for another operator, too
        block = Block(entry, address, size)
        entry.step, entry.block = shared.step, weakref.ref(block)
    return block if block.address == address else None


def pack(tensor):
    if shared.on and shared.op in plan.operators:
        block = block_of(tensor)
        if block is not None:
            return Saved(block, tensor)
    # A subclass may have code of its own for all that is asked of it.
    return (tensor, tensor._version) if type(tensor) in CHECKED else tensor


def unpack(saved):
    if type(saved) is Saved:
        return saved.tensor()
    if type(saved) is not tuple:
        return saved
    tensor, version = saved
    if tensor._version != version:  # where there are hooks, autograd leaves this check out
        raise RuntimeError("one of the variables needed for gradient computation has been modified by an inplace operation: "
                           f"[{tensor.type()} {list(tensor.shape)}] is at version {tensor._version}; "
                           f"expected version {version} instead.")
    return tensor


problem = ""
shared = Shared.from_address(SHARED)  # noqa: F821
slow_memory = SlowMemory()
try:
    plan = Plan(PLAN)  # noqa: F821
    shared.planned_moves, shared.planned_ns, shared.planned_freed = plan.moves, int(plan.seconds * 1e9), plan.freed
    if plan.moves:
        hooks = torch.autograd.graph.saved_tensors_hooks(pack, unpack)
        hooks.__enter__()
        atexit.register(hooks.__exit__)
except Refused as refused:
    problem = str(refused)
except Exception as error:
    problem = f"this PyTorch has no hooks for what autograd saves, or refuses them: {error}"
