"""An input pipeline of another library, or in its style: --stack names a module of tests/programs/stacks."""
import importlib
import random

import numpy

import support
import truth


def main():
    options = support.arguments(__doc__, stack="dictionary")
    random.seed(7)
    numpy.random.seed(7)
    loader = importlib.import_module(f"stacks.{options.stack}").make(options)
    for number, batch in enumerate(truth.watch(loader)):
        support.show(number, batch)


if __name__ == "__main__":
    main()
