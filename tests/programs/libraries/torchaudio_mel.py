"""torchaudio: spectrograms of waves."""
import torch
import torchaudio.transforms as T
from torch.utils.data import DataLoader, Dataset

import clock
import material

clock.watch(T.MelSpectrogram, T.AmplitudeToDB, T.TimeMasking)


class Waves(Dataset):
    def __init__(self):
        self.waves = material.waves()
        self.transform = torch.nn.Sequential(T.MelSpectrogram(8000, n_fft=400), T.AmplitudeToDB(), T.TimeMasking(8))

    def __len__(self):
        return len(self.waves)

    def __getitem__(self, index):
        return self.transform(torch.from_numpy(self.waves[index]))


def main():
    torch.manual_seed(1)
    clock.train(DataLoader(Waves(), batch_size=8, num_workers=2))


if __name__ == "__main__":
    main()
