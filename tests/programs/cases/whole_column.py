"""A whole column of a dataset of Hugging Face is read and converted, then three rows of it are taken, for each sample.

Source: lerobot#2549.
"""
import datasets
from torch.utils.data import DataLoader, Dataset

import common


class Robot(Dataset):
    def __init__(self, whole):
        count = 4000
        columns = {"state": [[float(row % 7)] * 7 for row in range(count)], "action": [[1.0] * 7] * count}
        self.rows, self.whole = datasets.Dataset.from_dict(columns).with_format("torch"), whole

    def __len__(self):
        return 200

    def __getitem__(self, index):
        window = [index, index + 1, index + 2]
        if self.whole:
            return self.rows["state"][window], self.rows["action"][window]
        rows = self.rows[window]
        return rows["state"], rows["action"]


def case(bad, _):
    common.train(DataLoader(Robot(whole=bad), batch_size=16, num_workers=2, shuffle=True), step=0.005)


if __name__ == "__main__":
    common.main(case)
