"""A training loop without workers whose samples are made by Python that calls a lot: program.py KIND SAMPLES.

Prints the CPU time of the loop in seconds.

  deepcopy    annotations of detection data are copied (copy.deepcopy)
  json        a document is parsed by the standard library's parser in Python
  tokenizer   a text is split and looked up by methods, a call for each character and each word
  rows        a table in CSV is read row by row into objects
  loop        an augmentation loops over the rows of an image and calls a function for each
  own         a function of the script that calls itself, without a runner
  images      decode, resize and normalise a JPEG: few Python calls
"""
import copy
import csv
import io
import json
import json.decoder
import json.scanner
import sys
import time

import numpy
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

ANNOTATIONS = [{"bbox": [1.0, 2.0, 3.0, 4.0], "category": k, "polygon": [float(j) for j in range(240)]} for k in range(20)]
DOCUMENT = json.dumps([{"id": i, "name": f"image {i}", "tags": ["a", "b", "c"], "size": [i, i + 1]} for i in range(100)])
TEXT = "the quick brown fox jumps over the lazy dog, and runs away; " * 20
TABLE = "id,name,width,height\n" + "".join(f"{i},photo{i}.jpeg,{i % 640},{i % 480}\n" for i in range(300))


class PurePythonDecoder(json.JSONDecoder):
    def __init__(self):
        super().__init__()
        self.parse_object = json.decoder.JSONObject
        self.parse_array = json.decoder.JSONArray
        self.parse_string = json.decoder.py_scanstring
        self.scan_once = json.scanner.py_make_scanner(self)


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, x):
        for t in self.transforms:
            x = t(x)
        return x


class DeepCopy:
    def __call__(self, x):
        copy.deepcopy(ANNOTATIONS)
        return x


class ParseJson:
    decoder = PurePythonDecoder()

    def __call__(self, x):
        self.decoder.decode(DOCUMENT)
        return x


class Tokenizer:
    def __init__(self):
        self.words = {}

    def is_letter(self, c):
        return "a" <= c <= "z"

    def index(self, word):
        return self.words.setdefault(word, len(self.words))

    def split(self, text):
        word = []
        for c in text:
            if self.is_letter(c):
                word.append(c)
            elif word:
                yield "".join(word)
                word = []

    def __call__(self, x):
        return x + 0 * len([self.index(word) for word in self.split(TEXT)])


class Row:
    def __init__(self, number, name, width, height):
        self.number, self.name, self.size = int(number), name, (int(width), int(height))

    def area(self):
        return self.size[0] * self.size[1]


class ReadRows:
    def row(self, fields):
        return Row(fields["id"], fields["name"], fields["width"], fields["height"])

    def __call__(self, x):
        rows = [self.row(fields) for fields in csv.DictReader(io.StringIO(TABLE))]
        return x + 0 * sum(row.area() for row in rows)


def jitter(row, amount):
    return row if amount == 0 else row + amount


class Jitter:
    image = numpy.zeros((224, 224), dtype=numpy.float32)

    def __call__(self, x):
        for i, row in enumerate(self.image):
            jitter(row, i % 3)
        return x


class Decode:
    def __init__(self):
        file = io.BytesIO()
        noise = numpy.random.default_rng(0).integers(0, 255, (375, 500, 3), dtype=numpy.uint8)
        Image.fromarray(noise).save(file, "jpeg")
        self.bytes = file.getvalue()

    def __call__(self, x):
        self.image = Image.open(io.BytesIO(self.bytes)).convert("RGB").resize((224, 224))
        return torch.from_numpy(numpy.asarray(self.image).copy()).float().div(255)


class Own(Dataset):
    data = [[float(j) for j in range(240)] for _ in range(20)]

    def __init__(self, samples):
        self.samples = samples

    def __len__(self):
        return self.samples

    def __getitem__(self, i):
        own(self.data)
        return torch.zeros(4)


def own(x, memo=None):
    return [own(v, memo) for v in x] if isinstance(x, list) else x


class Data(Own):
    def __init__(self, samples, operation):
        self.samples, self.transform = samples, Compose([operation()])

    def __getitem__(self, i):
        return self.transform(torch.zeros(4))


OPERATIONS = {"deepcopy": DeepCopy, "json": ParseJson, "tokenizer": Tokenizer, "rows": ReadRows, "loop": Jitter,
              "images": Decode}


def main():
    kind, samples = sys.argv[1], int(sys.argv[2])
    torch.set_num_threads(1)
    data = Own(samples) if kind == "own" else Data(samples, OPERATIONS[kind])
    begin = time.process_time()
    for _ in DataLoader(data, batch_size=4):
        pass
    print(time.process_time() - begin)


main()
