"""Redefines an operation many times, like a notebook: new code objects get the addresses of old ones."""
import json

from torch.utils.data import DataLoader, Dataset

VERSIONS = 40


class Items(Dataset):
    def __init__(self, operation):
        self.operation = operation

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.operation(index)


def main():
    places, again = set(), 0
    for number in range(VERSIONS):
        scope = {}
        exec(f"def version_{number}(x):\n    return x + {number}\n", scope)
        operation = scope.popitem()[1]
        again += id(operation.__code__) in places
        places.add(id(operation.__code__))
        for batch in DataLoader(Items(operation), batch_size=4):
            pass
        del operation, scope
    print(json.dumps({"versions": VERSIONS, "places_used_again": again}))


main()
