"""`lotus run`: a program under the tracer, and the beginning of its report."""
import argparse
import os
import shutil
import sys

from . import launch, places, traces

LEAST_LINES = 40  # the verdict, the advice and the first operations


def say(text):
    print(f"lotus: {text}", file=sys.stderr, flush=True)


def add_options(parser):
    parser.add_argument("--output", metavar="X", help="the trace, or the directory for it; default: "
                        "LOTUS_OUTPUT, else lotus-PROGRAM-PID.lotus in the working directory")
    stacks = parser.add_mutually_exclusive_group()
    stacks.add_argument("--hz", type=int, metavar="N", help="stack samples for each second of CPU time, "
                        "0 to 4999; default: 199")
    stacks.add_argument("--no-stacks", action="store_true",
                        help="no stack samples: native functions are not seen")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- PROGRAM …",
                        help="the program with its arguments")
    parser.set_defaults(usage_error=parser.error)


def environment_of(options):
    """The environment of the program that is to be traced."""
    made = dict(os.environ, LD_PRELOAD=places.preload(os.environ))
    if options.output is not None:
        made["LOTUS_OUTPUT"] = os.path.abspath(options.output)
    elif not made.get("LOTUS_OUTPUT") and os.access(".", os.W_OK):
        made["LOTUS_OUTPUT"] = os.getcwd()  # also of a program that changes its directory
    if options.no_stacks:
        made["LOTUS_SAMPLE_HZ"] = "0"
    elif options.hz is not None:
        made["LOTUS_SAMPLE_HZ"] = str(options.hz)
    return made


def command_of(options):
    """A script that is not executable itself is run by this Python."""
    words = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not words:
        options.usage_error("which program? lotus run -- python train.py")
    if words[0].endswith(".py") and os.path.isfile(words[0]) and not os.access(words[0], os.X_OK):
        return [sys.executable, *words]
    return words


def show_report(path):
    """Prints the report's first screen on stderr: standard output is the program's."""
    code, text, problem = places.ask(places.ANALYZE, "report", path)
    if code != 0:
        print(problem, end="", file=sys.stderr)
        return
    lines = text.splitlines()
    most = max(LEAST_LINES, shutil.get_terminal_size().lines) - 4
    print("", *lines[:most], sep="\n", file=sys.stderr)
    if len(lines) > most:
        print("…", file=sys.stderr)
    print(f"\nThe whole report: lotus report {path}", file=sys.stderr, flush=True)


def traced(command, environment):
    """Runs a program under the tracer; returns its status and its traces, the newest last."""
    place = traces.Place(environment.get("LOTUS_OUTPUT"))
    program = launch.Program(command, environment)
    status = program.wait()
    program.unblock()
    return status, place.made(program.pid)


def tell(made):
    """Shows the report of the newest trace, once it is complete."""
    if made:
        if not traces.wait_for(made[-1]):
            say("something that is traced still runs: this is what is known by now")
        show_report(made[-1])
    else:
        say("no trace was made: no Python that imports torch made a batch. `lotus doctor` says what works")


def run(options):
    command = command_of(options)
    if other := traces.other_collector():
        say(other)
    try:
        status, made = traced(command, environment_of(options))
    except launch.CannotRun as problem:
        say(problem)
        return problem.code
    try:
        tell(made)
    except KeyboardInterrupt:  # the program has ended: only we are told to
        pass
    return launch.end_like(status)
