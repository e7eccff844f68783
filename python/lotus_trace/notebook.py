"""The cell magic `%%lotus`: the report of what a cell trained, below it."""
import html
import os
import tempfile
import time

from . import places, settings, traces

HANDED_ON_S = 1.5  # what is recorded is handed on each second
SEEN_S = 5  # until the collector has found a process


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
        (show_page if words else show_text)(path)

    shell.register_magic_function(lotus, magic_kind="cell", magic_name="lotus")
