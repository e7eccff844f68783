"""Tokenizers: texts that a dataset tokenizes."""
import tokenizers
import torch
from torch.utils.data import DataLoader, Dataset

import clock
import material


class Texts(Dataset):
    def __init__(self):
        self.texts = [" ".join(material.texts(40)) for _ in range(192)]
        self.tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
        self.tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
        self.tokenizer.train_from_iterator(self.texts, tokenizers.trainers.BpeTrainer(vocab_size=200, show_progress=False))

    def __len__(self):
        return len(self.texts)

    def encode(self, text):
        start = clock.now()
        ids = self.tokenizer.encode(text).ids
        clock.tell("Texts.encode", start)
        return ids

    def __getitem__(self, index):
        return torch.tensor(self.encode(self.texts[index])[:512])


def main():
    clock.train(DataLoader(Texts(), batch_size=16, num_workers=2))


if __name__ == "__main__":
    main()
