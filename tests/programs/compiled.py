"""A training step under torch.compile: the first epoch runs without compilation, the second compiled.

    compiled.py --backend inductor|aot_eager|eager [--tool coverage|settrace|monitoring]

--tool: runs another user of CPython's hooks at the same time.
"""
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader

import made
import support
import truth


def start_tool(name):
    """Starts the tool; returns a function that tells at the end whether the tool saw this file."""
    seen = set()
    if name == "coverage":
        import coverage

        tool = coverage.Coverage(data_file=None, include=[made.__file__], config_file=False)
        tool.start()

        def seen_here():
            tool.stop()
            return len(tool.analysis(made.__file__)[3]) < len(tool.analysis(made.__file__)[1])

        return seen_here
    if name == "settrace":
        def tracer(frame, event, _):
            seen.add(frame.f_code.co_name)
            return tracer

        sys.settrace(tracer)
    if name == "monitoring":
        monitoring = sys.monitoring
        monitoring.use_tool_id(monitoring.DEBUGGER_ID, "test")
        monitoring.register_callback(monitoring.DEBUGGER_ID, monitoring.events.PY_START,
                                     lambda code, _: seen.add(code.co_name))
        monitoring.set_events(monitoring.DEBUGGER_ID, monitoring.events.PY_START)
    return lambda: "epoch_of" in seen or name is None


class Training:
    def __init__(self):
        self.model = nn.Sequential(nn.Flatten(), nn.Linear(64 * 64, 32), nn.ReLU(), nn.Linear(32, 8))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)

    def step(self, forward, images, targets):
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(forward(images), targets)
        loss.backward()
        self.optimizer.step()
        return loss.item()


def epoch_of(training, forward, loader, epoch):
    for number, (images, indices) in enumerate(truth.watch(loader, epoch=epoch)):
        loss = training.step(forward, images, indices % 8)
        print(epoch, number, support.digest(images), f"{loss:.4f}", flush=True)


def main():
    options = support.arguments(__doc__, backend="eager", tool=None)
    said = start_tool(options.tool)
    dataset = made.Tensors()
    truth.log(("paths", dataset.keys))
    loader = DataLoader(dataset, batch_size=4, num_workers=options.workers, collate_fn=made.collate,
                        multiprocessing_context=options.start_method)
    training = Training()
    epoch_of(training, training.model, loader, 0)
    compiled = torch.compile(training.model, backend=options.backend)
    epoch_of(training, compiled, loader, 1)
    from torch._dynamo.utils import counters

    print("compiled graphs:", counters["stats"]["unique_graphs"])
    print("tool saw us:", said())


if __name__ == "__main__":
    main()
