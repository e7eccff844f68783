"""What the cases share.

Each file of this directory is a program that was rebuilt from a public report of a slow input pipeline:
`FILE.py bad` has the cause that was found, `FILE.py fix` is the same without it. `--data DIR` names what
make_data.py made. Both print how long they took. A step of training is slept, as one on a GPU is for its process.
"""
import argparse
import pathlib
import time


def train(batches, step):
    """Trains on each batch, for `step` seconds."""
    for _ in batches:
        time.sleep(step)


def main(case):
    """Runs case(bad, data) as the command line asks."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("kind", choices=["bad", "fix"])
    options = parser.parse_args()
    begin = time.perf_counter()
    case(options.kind == "bad", options.data)
    print(f"{time.perf_counter() - begin:.2f} s")
