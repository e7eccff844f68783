"""`lotus demo`: a real training on pictures that it makes itself, and its report."""
import importlib.util
import os
import pathlib
import sys
import webbrowser

from . import launch, places, run as tracing

TRAINING, PLAIN = places.HOME / "demo_training.py", places.HOME / "demo_plain.py"


def add_options(parser):
    parser.add_argument("--directory", default=".",
                        help="where lotus-demo.lotus and lotus-demo.html go; default: here")
    parser.add_argument("--seconds", type=float, default=20, help="how long to train; default: 20")
    parser.add_argument("--workers", type=int, default=1, help="workers of the DataLoader; default: 1")


def open_page(page):
    """In a browser, where there is a display for it."""
    has_display = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
    if has_display and webbrowser.open(page.as_uri()):
        return
    tracing.say(f"open {page} in a browser: the same with charts")


def run(options):
    training = TRAINING
    if importlib.util.find_spec("torch") is None:
        training = PLAIN
        tracing.say(f"{sys.executable} has no torch: the demo trains in plain Python, with a loader of its own")
    directory = pathlib.Path(options.directory).resolve()
    trace, page = directory / "lotus-demo.lotus", directory / "lotus-demo.html"
    settings = ["--seconds", str(options.seconds), "--workers", str(options.workers)]
    command = [sys.executable, str(training), *settings]
    tracing.say(f"an ordinary training under the tracer: lotus run --output {trace} -- {' '.join(command)}")
    environment = dict(os.environ, LD_PRELOAD=places.preload(os.environ), LOTUS_OUTPUT=str(trace))
    status, made = tracing.traced(command, environment)
    if status != 0 or not made:
        tracing.say("the training failed" if status != 0 else "no trace was made: `lotus doctor` says why")
        return launch.end_like(status) or 1
    tracing.tell(made)
    code, _, problem = places.ask(places.ANALYZE, "report", "--html", page, "--force", made[-1])
    if code != 0:
        print(problem, end="", file=sys.stderr)
        return code
    open_page(page)
    return 0
