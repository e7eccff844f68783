"""Loaders that are assigned in several ways. Prints as JSON the name and the line of each, in order of their use."""
import inspect
import json

from torch.utils.data import DataLoader

ROWS = list(range(12))
here = inspect.currentframe


class Own(DataLoader):
    def __init__(self, rows, **settings):
        super().__init__(rows, batch_size=4, **settings)


class Trainer:
    def __init__(self):
        self.loader = DataLoader(ROWS, batch_size=3); self.line = here().f_lineno


def validation_loader():
    return DataLoader(ROWS, batch_size=6, num_workers=1)


def main():
    local = Own(ROWS, num_workers=1); local_line = here().f_lineno
    trainer = Trainer()
    held = [DataLoader(ROWS, batch_size=2)]; held_line = here().f_lineno
    used = [(train_loader, "train_loader", train_line), (local, "local", local_line),
            (trainer.loader, "self.loader", trainer.line), (held[0], None, held_line),
            (validation_loader(), "validation_loader()", validation_loader.__code__.co_firstlineno + 1)]
    batches = []
    for loader, _, _ in used:
        batches.append(sum(1 for batch in loader))
    print(json.dumps([[name, line, count] for (_, name, line), count in zip(used, batches)]))


train_loader = DataLoader(ROWS, batch_size=5); train_line = here().f_lineno

if __name__ == "__main__":
    main()
