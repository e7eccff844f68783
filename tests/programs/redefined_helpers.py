"""An operation whose helper is redefined many times at the same address, with the same CPU time."""
import json
import time

from torch.utils.data import DataLoader, Dataset

VERSIONS, CALLS, SECONDS = 12, 8, 0.012


class Work:
    def __init__(self, helper):
        self.helper = helper

    def __call__(self, index):
        return self.helper(index)


class Items(Dataset):
    def __init__(self, helper):
        self.transforms = [Work(helper)]

    def __len__(self):
        return CALLS

    def __getitem__(self, index):
        for transform in self.transforms:
            index = transform(index)
        return index


def main():
    places, again = set(), 0
    for number in range(VERSIONS):
        scope = {"time": time}
        exec(f"def helper_{number}(x):\n"
             f"    end = time.thread_time() + {SECONDS}\n"
             f"    while time.thread_time() < end:\n"
             f"        sum(range(1000))\n"
             f"    return x\n", scope)
        helper = scope.pop(f"helper_{number}")
        again += id(helper.__code__) in places
        places.add(id(helper.__code__))
        for batch in DataLoader(Items(helper), batch_size=4):
            pass
        del helper, scope
    print(json.dumps({"versions": VERSIONS, "places_used_again": again}))


main()
