"""RAE: a recursive autoencoder's encoder, by recursion over a sentence's binary tree, which is data, in tensors."""
import torch
from torch import nn

import program
import trees

SIZES = {"paper": {"hidden": 512, "nodes": 65},
         "small": {"hidden": 64, "nodes": 65}}
BATCHES = (1,)


class RAE(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.join = nn.Linear(2 * hidden, hidden)

    def encode(self, root, words, is_leaf, left, right):
        if is_leaf[root]:
            return words[root]
        one = self.encode(left[root].item(), words, is_leaf, left, right)
        other = self.encode(right[root].item(), words, is_leaf, left, right)
        return torch.tanh(self.join(torch.cat([one, other])))

    def forward(self, words, is_leaf, left, right):
        """words: (nodes, hidden); is_leaf, left, right: (nodes,), the children's numbers. The root is node 0."""
        return self.encode(0, words, is_leaf, left, right)


def make(options, hidden, nodes):
    left, right = map(torch.tensor, trees.made(nodes, options.seed))
    return RAE(hidden), (torch.randn(nodes, hidden), left < 0, left, right)


if __name__ == "__main__":
    program.main()
