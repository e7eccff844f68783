"""The command `lotus`."""
import argparse
import os
import sys

from . import demo, doctor, places, run, settings

USAGE = """\
lotus run [--output X] [--hz N] [--no-stacks] -- python train.py …
       lotus report|whatif|map|diff|… [OPTION]… [TRACE]…
       lotus env [WHERE]
       lotus doctor
       lotus demo
"""
EPILOG = ("All other commands are those of lotus-analyze: `lotus report --help` describes one, "
          "`lotus-analyze --help` lists them.")


class Version(argparse.Action):
    """Release, commit and date: those of the programs."""

    def __call__(self, parser, *_):
        code, told, problem = places.ask(places.ANALYZE, "--version")
        print(told.replace("lotus-analyze", "lotus", 1), end="")
        parser.exit(code, problem)


def execute(program, words):
    """Becomes one of our programs; it needs no library of ours."""
    os.execve(program, [program.name, *words], places.without_preload())


def analyze():
    execute(places.ANALYZE, sys.argv[1:])


def collector():
    execute(places.COLLECTOR, sys.argv[1:])


def parser():
    made = argparse.ArgumentParser(prog="lotus", usage=USAGE, epilog=EPILOG,
                                   description="Why the input pipeline of a PyTorch training is slow.")
    made.add_argument("--version", action=Version, nargs=0, help="release, commit and its date")
    commands = made.add_subparsers(dest="name", metavar="COMMAND", required=True, prog="lotus")
    for name, module, about in (("run", run, "run a program under the tracer; print its report"),
                                ("env", settings, "print what to set where programs are started another way"),
                                ("doctor", doctor, "say what works on this machine, and what does not"),
                                ("demo", demo, "train on pictures that it makes, and open the report")):
        one = commands.add_parser(name, help=about, description=about)
        module.add_options(one)
        one.set_defaults(run=module.run)
    return made


OWN = ("run", "env", "doctor", "demo")


def main(words=None):
    words = sys.argv[1:] if words is None else words
    if words and words[0] not in OWN and not words[0].startswith("-"):
        execute(places.ANALYZE, words)
    options = parser().parse_args(words)
    return options.run(options)
