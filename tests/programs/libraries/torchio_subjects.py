"""TorchIO: subjects with augmentations of volumes."""
import torch
import torchio as tio

import clock

clock.watch(tio.RandomAffine, tio.RandomNoise, tio.ZNormalization)


def main():
    torch.manual_seed(1)
    subjects = [tio.Subject(image=tio.ScalarImage(tensor=torch.rand(1, 32, 32, 32))) for _ in range(48)]
    transform = tio.Compose([tio.RandomAffine(), tio.RandomNoise(), tio.ZNormalization()])
    loader = tio.SubjectsLoader(tio.SubjectsDataset(subjects, transform), batch_size=4, num_workers=2)
    clock.train(loader, lambda batch: len(batch["image"][tio.DATA]))


if __name__ == "__main__":
    main()
