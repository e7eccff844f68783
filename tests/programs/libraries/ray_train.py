"""Ray Train: a worker that trains from a DataLoader."""
import logging
import pathlib
import sys

import ray
import ray.train
import ray.train.torch
import torch
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

import clock
import material


def loop(configuration):
    clock.watch(transforms.RandomResizedCrop, transforms.Normalize)
    torch.manual_seed(1)
    transform = transforms.Compose([transforms.RandomResizedCrop(128), transforms.ToTensor(),
                                    transforms.Normalize([0.5] * 3, [0.25] * 3)])
    loader = DataLoader(datasets.ImageFolder(configuration["photos"], transform), batch_size=8, num_workers=2)
    batches = samples = 0
    for _ in range(2):
        for images, _ in loader:
            batches += 1
            samples += len(images)
            clock.busy(300)
    pathlib.Path(configuration["told"]).write_text(f"{batches} {samples}")


def main():
    ray.init(num_cpus=4, logging_level=logging.ERROR, log_to_driver=False, include_dashboard=False,
             runtime_env={"env_vars": {"PYTHONPATH": sys.path[0]}})
    told = pathlib.Path(sys.argv[1]) / "ray_train.told"
    trainer = ray.train.torch.TorchTrainer(
        loop, train_loop_config={"photos": str(material.photos(sys.argv[1])), "told": str(told)},
        scaling_config=ray.train.ScalingConfig(num_workers=1, use_gpu=False),
        run_config=ray.train.RunConfig(storage_path=sys.argv[1] + "/ray"))
    trainer.fit()
    clock.ends(*map(int, told.read_text().split()))


if __name__ == "__main__":
    main()
