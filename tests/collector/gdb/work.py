"""Runs native code of one library after the other; a debugger stops it at each tick of a CPU timer."""
import io
import signal
import time

import numpy
import torch
from PIL import Image

SECONDS = 0.4
INTERVAL = 0.02
random = numpy.random.default_rng(1)
picture = Image.fromarray(random.integers(0, 255, (375, 500, 3), dtype=numpy.uint8))
encoded = io.BytesIO()
picture.save(encoded, "JPEG")
numbers = random.random(200_000)
tensor = torch.from_numpy(random.random((3, 224, 224), dtype=numpy.float32))
torch.set_num_threads(1)


def decode():
    Image.open(io.BytesIO(encoded.getvalue())).convert("RGB")


def resize():
    picture.resize((224, 224), Image.BILINEAR).transpose(Image.FLIP_LEFT_RIGHT)


def array():
    numpy.sort(numbers).cumsum().astype("f4")


def tensors():
    tensor.sub(0.5).div(0.25).flip(2).exp().sum()


def clock():
    for _ in range(1000):
        time.monotonic()


for work in decode, resize, array, tensors, clock:
    work()
    end = time.process_time() + SECONDS
    signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)
    while time.process_time() < end:
        work()
    signal.setitimer(signal.ITIMER_PROF, 0)
