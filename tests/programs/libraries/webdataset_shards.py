"""WebDataset: shards, shuffled, decoded and augmented."""
import pathlib
import sys

import torch
import webdataset
from torchvision import transforms

import clock
import material

crop = transforms.Compose([transforms.RandomResizedCrop(128), transforms.ToTensor()])


def make_sample(sample):
    start = clock.now()
    sample = crop(sample["jpg"]), sample["cls"]
    clock.tell("make_sample", start)
    return sample


def main():
    torch.manual_seed(1)
    root = pathlib.Path(sys.argv[1]) / "shards"
    if not root.exists():
        root.mkdir()
        with webdataset.ShardWriter(f"{root}/%04d.tar", maxcount=24, verbose=0) as writer:
            for number, file in enumerate(material.files(sys.argv[1])):
                writer.write({"__key__": f"{number:06}", "jpg": file.read_bytes(), "cls": number % 4})
    data = webdataset.WebDataset(str(root / "{0000..0003}.tar"), shardshuffle=4, seed=1)
    data = data.shuffle(16, seed=1).decode("pil").map(make_sample).batched(8)
    clock.train(webdataset.WebLoader(data, batch_size=None, num_workers=2), lambda batch: len(batch[0]))


if __name__ == "__main__":
    main()
