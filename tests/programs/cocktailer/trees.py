"""Binary trees such as parsers make of sentences."""
import random


def made(nodes, seed):
    """(left, right) of each node, -1 for leaves: a binary tree of that odd number of nodes, as uneven as a sentence's."""
    chance = random.Random(seed)
    left, right, leaves = [-1] * nodes, [-1] * nodes, [0]
    for node in range(1, nodes, 2):
        parent = leaves.pop(chance.randrange(len(leaves)))
        left[parent], right[parent] = node, node + 1
        leaves += [node, node + 1]
    return left, right
