"""Text: normalised, split into tokens of a vocabulary, cut; padded when collated."""
import re

import torch
from torch.utils.data import DataLoader, Dataset

from truth import log, now


def normalize(text):
    start = now()
    text = re.sub(r"\s+", " ", text.lower()).strip()
    log(f"op {start} {now()} normalize")
    return text


class Tokenizer:
    """Splits text greedily into the longest pieces in the vocabulary."""

    def __init__(self, vocabulary):
        self.numbers = {piece: number for number, piece in enumerate(vocabulary, 1)}
        self.longest = max(map(len, vocabulary))

    def __call__(self, text):
        start = now()
        tokens, at = [], 0
        while at < len(text):
            size = next((size for size in range(self.longest, 0, -1) if text[at:at + size] in self.numbers), 1)
            tokens.append(self.numbers.get(text[at:at + size], 0))
            at += size
        log(f"op {start} {now()} Tokenizer")
        return tokens


class Cut:
    def __init__(self, length):
        self.length = length

    def __call__(self, tokens):
        start = now()
        tokens = torch.tensor(tokens[:self.length])
        log(f"op {start} {now()} Cut")
        return tokens


class Texts(Dataset):
    def __init__(self, texts, pipeline):
        self.texts, self.pipeline = texts, pipeline

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, index):
        data = self.texts[index]
        for stage in self.pipeline:
            data = stage(data)
        return data


def pad(samples):
    start = now()
    batch = torch.nn.utils.rnn.pad_sequence(samples, batch_first=True)
    log(f"op {start} {now()} Collation")
    return batch


def make(options):
    texts = [" ".join(f"Word{number * place % 31}\tand " for place in range(60)) for number in range(64)]
    pipeline = [normalize, Tokenizer(["word", "and", " ", *"0123456789", "wo", "rd1"]), Cut(128)]
    return DataLoader(Texts(texts, pipeline), batch_size=8, num_workers=options.workers, collate_fn=pad)
