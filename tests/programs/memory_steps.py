"""Trains small models for a few steps, and prints what it knows of its memory itself.

    memory_steps.py MODEL OPTIMIZER [PLANTED]

MODEL: mlp, cnn or attention. OPTIMIZER: SGD or Adam. PLANTED: `list` keeps a tensor of each step, `graphs` sums losses
up that nobody calls backward() on, `batch` has a batch so large that it is most of the memory, `alone` has no
DataLoader, `workers` has one with two worker processes.

Truth: `rise` is by how much memory in use exceeded, at most, what was in use when each step began. PyTorch's profiler
reports what its CPU allocator has given out, after each allocation; a build whose profiler does not is asked between
modules by mallinfo2(), which sees no more than the level there (`exact` is false). `largest`: bytes of the largest tensor
that a module gave. `alive`: what weak references to these say is there when the last backward pass begins.
"""
import ctypes
import gc
import json
import sys
import tempfile
import weakref

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

STEPS = 6
MODEL, OPTIMIZER = sys.argv[1:3]
PLANTED = sys.argv[3] if len(sys.argv) > 3 else ""
BATCH = 512 if PLANTED == "batch" else 32


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
        self.last = nn.Linear(32, 10)

    def forward(self, x):
        return self.last(self.first(x.view(len(x), 32, -1).transpose(1, 2)).mean(1))


def make_model():
    if MODEL == "mlp":
        return nn.Sequential(nn.Flatten(), nn.Linear(3 * 16 * 16, 128), nn.ReLU(), nn.Linear(128, 10))
    if MODEL == "attention":
        return nn.Sequential(nn.Flatten(), nn.Linear(3 * 16 * 16, 32 * 24), Attention())
    return nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1),
                         nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))


class Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
                "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]


libc = ctypes.CDLL(None)
libc.mallinfo2.restype = Mallinfo2


def in_use():
    info = libc.mallinfo2()
    return info.uordblks + info.hblkhd


def reported_rises(profile):
    """By the allocator's own reports; None: the profiler has none."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        profile.export_chrome_trace(file.name)
        with open(file.name) as text:
            told = json.load(text)
    if not isinstance(told, dict):
        return None
    total, steps = 0, []
    for event in sorted((event for event in told["traceEvents"] if "ts" in event), key=lambda event: float(event["ts"])):
        if event["name"] == "step":
            steps.append({"base": total, "peak": total, "end": float(event["ts"]) + float(event["dur"])})
        elif event["name"] == "[memory]":
            total += event["args"]["Bytes"]
            if steps and float(event["ts"]) <= steps[-1]["end"]:
                steps[-1]["peak"] = max(steps[-1]["peak"], total)
    return [step["peak"] - step["base"] for step in steps]


def alive_storages(made):
    """Of the tensors that weak references still lead to, and of their gradients' graph: data pointer and bytes."""
    storages = {}
    for reference in made:
        tensor = reference()
        if tensor is not None:
            storage = tensor.storage()
            storages[storage.data_ptr()] = storage.nbytes()
    return sorted(storages.items())


torch.manual_seed(0)
torch.set_num_threads(1)
model = make_model()
made = []  # weak references to what modules gave
levels, largest = [], 0


def given(module, inputs, output):
    global largest
    made.append(weakref.ref(output))
    largest = max(largest, output.numel() * output.element_size())
    levels[-1].append(in_use())


for module in model.modules():
    if not list(module.children()):
        module.register_forward_hook(given)
        module.register_full_backward_hook(lambda *_: levels[-1].append(in_use()))
optimizer = getattr(torch.optim, OPTIMIZER)(model.parameters(), lr=1e-3)
images, labels = torch.randn(STEPS * BATCH, 3, 16, 16), torch.randint(0, 10, (STEPS * BATCH,))


def batches():
    if PLANTED == "alone":
        for at in range(STEPS):
            yield images[at * BATCH:(at + 1) * BATCH].clone(), labels[at * BATCH:(at + 1) * BATCH]
    else:
        yield from DataLoader(TensorDataset(images, labels), batch_size=BATCH,
                              **({"num_workers": 2, "multiprocessing_context": "fork"} if PLANTED == "workers" else {}))


kept, total, alive = [], 0, []
source = batches()
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
    x = y = loss = None
    for step in range(STEPS):
        with torch.profiler.record_function("step"):
            levels.append([in_use()])
            x, y = next(source)
            made.clear()
            optimizer.zero_grad(set_to_none=True)
            loss = nn.functional.cross_entropy(model(x), y)
            if PLANTED == "list":
                kept.append(torch.full((1000,), float(loss.detach())))  # 4,000 bytes stay
            if PLANTED == "graphs":
                total = total + nn.functional.cross_entropy(model(x), y)
            gc.collect(0)
            alive = alive_storages(made)
            levels[-1].append(in_use())
            loss.backward()
            optimizer.step()
reported = reported_rises(profile)
print(json.dumps({"loss": float(loss.detach()), "steps": STEPS, "exact": reported is not None, "largest": largest,
                  "rise": reported or [max(level) - level[0] for level in levels], "alive": alive,
                  "kept": sum(tensor.numel() * 4 for tensor in kept), "total": float(total)}))
