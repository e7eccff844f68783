"""What the programs read, made once in a directory."""
import pathlib

import numpy
import PIL.Image

PHOTOS = 96
CLASSES = 4


def pixels(number):
    noise = numpy.random.default_rng(number).integers(0, 255, (24, 32, 3), dtype=numpy.uint8)
    return PIL.Image.fromarray(noise).resize((320, 240), PIL.Image.Resampling.BICUBIC)


def photos(directory):
    """The directory of JPEGs in a directory for each class."""
    root = pathlib.Path(directory) / "photos"
    for number in range(PHOTOS):
        path = root / f"class{number % CLASSES}" / f"{number:03}.jpeg"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            pixels(number).save(path)
    return root


def files(directory):
    return sorted(photos(directory).glob("*/*.jpeg"))


def texts(count=192):
    words = "loader batch sample worker queue tensor decode resize token cache".split()
    return [" ".join(words[(number * 7 + place * place) % len(words)] for place in range(40)) for number in range(count)]


def waves(count=96, length=8000):
    return [numpy.random.default_rng(number).standard_normal(length).astype(numpy.float32) for number in range(count)]
