"""Lightning: Trainer with a data module; augmentations of torchvision."""
import logging
import sys
import warnings

import lightning
import torch
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

import clock
import material

clock.watch(transforms.RandomResizedCrop, transforms.RandomHorizontalFlip, transforms.Normalize)


class Photos(lightning.LightningDataModule):
    def __init__(self, directory):
        super().__init__()
        self.directory = directory

    def train_dataloader(self):
        transform = transforms.Compose([transforms.RandomResizedCrop(128), transforms.RandomHorizontalFlip(),
                                        transforms.ToTensor(), transforms.Normalize([0.5] * 3, [0.25] * 3)])
        return DataLoader(datasets.ImageFolder(material.photos(self.directory), transform), batch_size=8, shuffle=True,
                          num_workers=2)


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 7, 4), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(),
                                       torch.nn.Linear(4, 4))
        self.batches = self.samples = 0

    def training_step(self, batch, _):
        images, labels = batch
        self.batches += 1
        self.samples += len(images)
        return torch.nn.functional.cross_entropy(self.net(images), labels)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.01)


def main():
    lightning.seed_everything(1, verbose=False)
    model = Model()
    trainer = lightning.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False,
                                enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(model, Photos(sys.argv[1]))
    clock.ends(model.batches, model.samples)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    main()
