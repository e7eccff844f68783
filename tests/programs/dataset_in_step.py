"""The training loop calls code of its dataset: __len__, a property, a method, through a Subset, cheap ones.
Prints what it measured of each, in seconds. Argument: 'once' asks before the loop."""
import json
import sys
import time

from torch.utils.data import DataLoader, Dataset, Subset

ITEMS, BATCH = 160, 4
spent = {"__len__": 0.0, "schedule": 0.0, "count": 0.0}
calls = dict.fromkeys(spent, 0)
cheap_calls = 0


def timed(name, seconds):
    begin = time.perf_counter()
    time.sleep(seconds)
    spent[name] += time.perf_counter() - begin
    calls[name] += 1


class Base(Dataset):
    def count(self):
        timed("count", 0.002)

    def cheap(self):
        global cheap_calls
        cheap_calls += 1
        return 1


class Slow(Base):
    quiet = True  # nothing of what is called before the loop, or by the loader, is counted

    def __len__(self):
        if not self.quiet:
            timed("__len__", 0.004)
        return ITEMS

    @property
    def schedule(self):
        if not self.quiet:
            timed("schedule", 0.003)
            self.count()  # inside of another call
            calls["count"] -= 1
        return 0.1

    def __getitem__(self, index):
        return index


def main():
    once = sys.argv[1:] == ["once"]
    dataset = Slow()
    loader = DataLoader(Subset(dataset, range(ITEMS)), batch_size=BATCH, num_workers=1)
    length, batches = len(dataset), 0
    for _ in loader:
        batches += 1
        dataset.quiet = False
        if not once and batches < ITEMS // BATCH:  # what comes after the last batch is in no step
            length += len(dataset) + dataset.cheap()
            length += dataset.schedule
            dataset.count()
        dataset.quiet = True
        time.sleep(0.002)
    print(json.dumps({"spent": spent, "calls": calls, "cheap_calls": cheap_calls, "batches": batches}))


main()
