"""The twin of a model: the same work on tensors without Python, as truth of what control flow costs."""
import warnings

import torch


def twin(model, inputs):
    """The model, traced: loops and recursion unrolled, branches on the path that this input takes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the trace does not generalise is what it is for
        return torch.jit.trace(model, inputs, check_trace=False)


def tensors(output):
    return list(output) if isinstance(output, (tuple, list)) else [output]


def comparison(output, other):
    """How much two outputs differ: equal bit by bit, close as torch.allclose has it, and by how much at most."""
    pairs = list(zip(tensors(output), tensors(other)))
    differences = [(one.double() - two.double()).abs().max().item() for one, two in pairs]
    return {"bit_equal": all(torch.equal(one, two) for one, two in pairs),
            "close": all(torch.allclose(one, two, 1e-4, 1e-5) for one, two in pairs),
            "largest_difference": max(differences)}
