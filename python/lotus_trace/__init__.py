"""Lotus: why the input pipeline of a PyTorch training is slow.

    lotus run -- python train.py        # or: python -m lotus_trace run -- python train.py
    lotus report

`%load_ext lotus_trace` in a notebook gives the cell magic `%%lotus`.
"""


def load_ipython_extension(shell):
    """What `%load_ext lotus_trace` calls."""
    from . import notebook

    notebook.register(shell)
