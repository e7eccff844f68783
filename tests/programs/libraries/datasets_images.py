"""Hugging Face datasets: images that it decodes, with the program's transform."""
import sys

import numpy
import torch
from datasets import Dataset, Features, Image, Value
from torch.utils.data import DataLoader

import clock
import material

clock.watch(Image, method="decode_example", name="Image.decode_example")


def augment(rows):
    start = clock.now()
    rows = {"pixels": [torch.from_numpy(numpy.array(image.convert("RGB").resize((128, 128)))) for image in rows["image"]],
            "label": rows["label"]}
    clock.tell("augment", start)
    return rows


def main():
    files = material.files(sys.argv[1])
    columns = {"image": [str(file) for file in files], "label": [number % 4 for number in range(len(files))]}
    rows = Dataset.from_dict(columns, features=Features({"image": Image(), "label": Value("int64")}))
    loader = DataLoader(rows.with_transform(augment), batch_size=8, shuffle=False, num_workers=2, persistent_workers=True)
    clock.train(loader, lambda batch: len(batch["label"]), epochs=3)


if __name__ == "__main__":
    main()
