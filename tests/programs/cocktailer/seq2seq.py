"""Seq2seq: a decoder that goes on, word by word, until all sentences have ended or are as long as allowed.

It begins with the encoder's state; the encoder, which has no control flow, is not part of it.
"""
import torch
from torch import nn

import program

SIZES = {"paper": {"hidden": 256, "vocabulary": 3797, "longest": 50},
         "small": {"hidden": 64, "vocabulary": 256, "longest": 50}}
START, END = 0, 1  # words
NEVER = -1e6       # the score of END: so sentences end by their length, but the test reads the words all the same


class Decoder(nn.Module):
    def __init__(self, hidden, vocabulary, longest):
        super().__init__()
        self.longest = longest
        self.embedding = nn.Embedding(vocabulary, hidden)
        self.cell = nn.LSTMCell(hidden, hidden)
        self.scores = nn.Linear(hidden, vocabulary)

    def forward(self, h, c):
        """h, c: (batch, hidden). Returns the words, (batch, length)."""
        word = torch.full((h.shape[0],), START, dtype=torch.long)
        words = []
        running = True
        while running:
            h, c = self.cell(self.embedding(word), (h, c))
            word = self.scores(h).argmax(1)
            words.append(word)
            running = (word != END).any().item() & (len(words) < self.longest)
        return torch.stack(words, 1)


def make(options, hidden, vocabulary, longest):
    decoder = Decoder(hidden, vocabulary, longest)
    nn.init.constant_(decoder.scores.bias[END], NEVER)
    return decoder, (torch.randn(options.batch, hidden), torch.randn(options.batch, hidden))


if __name__ == "__main__":
    program.main()
