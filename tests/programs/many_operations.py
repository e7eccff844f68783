"""1,500 operations, each a class of its own, the first call of each after a pause. Prints how often all were called."""
import time

from torch.utils.data import DataLoader, Dataset

CALLS = [0]


class Operation:
    called = False

    def __call__(self, value):
        if not self.called:
            self.called = True
            time.sleep(0.001)
        CALLS[0] += 1
        return value + 1


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, value):
        for transform in self.transforms:
            value = transform(value)
        return value


class Data(Dataset):
    def __init__(self):
        self.transform = Compose([type(f"Own{number}", (Operation,), {})() for number in range(1500)])

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return self.transform(index)


if __name__ == "__main__":
    for batch in DataLoader(Data(), batch_size=2):
        pass
    print(*CALLS)
