"""Sound files, read by soundfile if installed, else by the standard library; then a list of transforms."""
import math
import tempfile
import wave

import numpy
import torch
from torch.utils.data import DataLoader, Dataset

from truth import log, now

try:
    import soundfile
except ImportError:
    soundfile = None

RATE = 16000


def write_sounds(directory, count=64):
    paths = []
    for number in range(count):
        times = numpy.arange(RATE // 2) / RATE
        tone = (8000 * numpy.sin(2 * math.pi * (200 + 20 * number) * times)).astype(numpy.int16)
        paths.append(f"{directory}/{number}.wav")
        with wave.open(paths[-1], "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE)
            file.writeframes(tone.tobytes())
    return paths


def read(path):
    start = now()
    if soundfile is not None:
        samples = soundfile.read(path, dtype="int16")[0]
    else:
        with wave.open(path) as file:
            samples = numpy.frombuffer(file.readframes(file.getnframes()), dtype=numpy.int16)
    log(f"op {start} {now()} read")
    return torch.from_numpy(samples.astype(numpy.float32))


class Spectrogram:
    def __call__(self, samples):
        start = now()
        frames = samples.unfold(0, 400, 160) * torch.hann_window(400)
        power = torch.fft.rfft(frames).abs() ** 2
        log(f"op {start} {now()} Spectrogram")
        return power


class Decibels:
    def __call__(self, power):
        start = now()
        loud = 10 * torch.log10(power.clamp(min=1e-10))
        log(f"op {start} {now()} Decibels")
        return loud


class Sounds(Dataset):
    def __init__(self, paths):
        self.paths = paths
        self.steps = [read, Spectrogram(), Decibels()]

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        sample = self.paths[index]
        for step in self.steps:
            sample = step(sample)
        return sample


def make(options):
    return DataLoader(Sounds(write_sounds(tempfile.mkdtemp())), batch_size=8, num_workers=options.workers)
