"""The cell magic `%%lotus`, in a stand-in for a notebook's shell, with the real torch."""
import pytest

import harness

TREE = harness.BUILD / "wheel"
LIBRARY = TREE / "lotus_trace/lib/liblotus.so"


@pytest.fixture(autouse=True)
def torch():
    if reason := harness.lacks("torch"):
        pytest.skip(reason)


def cell(tracer, *words, **more):
    return harness.run([harness.PYTHON, harness.PROGRAMS / "magic.py", *words], cwd=tracer.directory, PYTHONPATH=TREE,
                       LOTUS_DIR=tracer.segments, **more)


def test_report_stands_below_the_cell(tracer):
    told = cell(tracer, LD_PRELOAD=LIBRARY)
    lines = told.stdout.decode().splitlines()
    assert told.code == 0 and lines[0].startswith("total ")
    assert lines[1].startswith("Training is ") and any("8 batches" in line or "Batches" in line for line in lines)


def test_a_kernel_without_the_library_is_told_how_to_get_it(tracer):
    told = cell(tracer)
    assert told.code == 0 and "started without Lotus" in told.stdout.decode() and str(LIBRARY) in told.stdout.decode()
    assert b"total" not in told.stdout


def test_what_the_magic_does_not_take_is_said(tracer):
    assert b"takes nothing, or --html" in cell(tracer, "--csv", LD_PRELOAD=LIBRARY).stdout


def test_the_page_is_in_a_frame(tracer):
    if reason := harness.lacks("IPython"):
        pytest.skip(reason)
    told = cell(tracer, "--html", LD_PRELOAD=LIBRARY)
    assert told.code == 0 and b"<IPython.core.display.HTML object>" in told.stdout
