"""The cell magic `%%lotus`: the report of what a cell trained, below it."""
import html
import json
import os
import tempfile
import time

from . import places, settings, traces

HANDED_ON_S = 1.5  # what is recorded is handed on each second
SEEN_S = 5  # until the collector has found a process
WRITTEN_S = 10  # until it has written what the cell recorded, on a busy machine


def explain():
    print("This kernel was started without Lotus. Start it with the library, and then again:\n")
    print(settings.jupyter())


def wait_for_trace():
    """The trace of this kernel; None: nothing was recorded."""
    end = time.monotonic() + SEEN_S
    while True:
        path = traces.of_process(os.getpid())
        if path is not None or time.monotonic() > end:
            return path
        time.sleep(0.1)


def wait_for_batches(path):
    """Until the trace has events and gets no more: the collector may have had no core since."""
    end, known = time.monotonic() + WRITTEN_S, 0
    while time.monotonic() < end:
        code, text, _ = places.ask(places.ANALYZE, "report", "--json", path)
        events = json.loads(text)["trace"]["events"] if code == 0 else 0
        if events > 0 and events == known:
            return
        known = events
        time.sleep(0.3)


def show_page(path):
    """The page with charts, in a frame of its own: its styles are not the notebook's."""
    from IPython.display import HTML, display

    with tempfile.TemporaryDirectory() as directory:
        page = os.path.join(directory, "report.html")
        code, _, problem = places.ask(places.ANALYZE, "report", "--html", page, path)
        if code != 0:
            print(problem, end="")
            return
        with open(page, encoding="utf-8") as file:
            text = file.read()
    style = "width: 100%; height: 45em; border: 0"
    display(HTML(f'<iframe srcdoc="{html.escape(text)}" style="{style}"></iframe>'))


def show_text(path):
    code, text, problem = places.ask(places.ANALYZE, "report", path)
    print(text if code == 0 else problem, end="")


def register(shell):
    """Adds the magic to a shell of IPython."""

    def lotus(line, cell):
        """%%lotus [--html]: runs the cell, then shows the report of what this kernel has trained by then."""
        words = line.split()
        if words not in ([], ["--html"]):
            print("%%lotus takes nothing, or --html: the page with charts instead of text")
            return
        if not traces.is_preloaded():
            explain()
            return
        if not shell.run_cell(cell).success:
            return
        time.sleep(HANDED_ON_S)
        path = wait_for_trace()
        if path is None:
            print("Lotus has recorded nothing: the cell made no batch.")
            return
        wait_for_batches(path)
        (show_page if words else show_text)(path)

    shell.register_magic_function(lotus, magic_kind="cell", magic_name="lotus")
