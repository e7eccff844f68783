"""MONAI: dictionary transforms of volumes, in its DataLoader."""
import pathlib
import sys

import monai.data
import monai.transforms as T
import numpy

import clock

clock.watch(T.LoadImaged, T.ScaleIntensityd, T.RandFlipd, T.RandGaussianNoised)


def main():
    monai.utils.set_determinism(1)
    root = pathlib.Path(sys.argv[1]) / "volumes"
    root.mkdir(exist_ok=True)
    files = []
    for number in range(64):
        path = root / f"{number}.npy"
        if not path.exists():
            numpy.save(path, numpy.random.default_rng(number).random((48, 48, 48), dtype=numpy.float32))
        files.append({"image": str(path)})
    transform = T.Compose([T.LoadImaged("image", reader="NumpyReader", ensure_channel_first=True), T.ScaleIntensityd("image"),
                           T.RandFlipd("image", prob=0.5), T.RandGaussianNoised("image", prob=0.5)])
    loader = monai.data.DataLoader(monai.data.Dataset(files, transform), batch_size=4, num_workers=2)
    clock.train(loader, lambda batch: len(batch["image"]))


if __name__ == "__main__":
    main()
