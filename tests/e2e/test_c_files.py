"""Files that C code opens become the path of the sample; calls and bytes of file I/O and OpenCV are exact."""
import pytest

import checks
import harness
import native_reader


@pytest.fixture(params=["imread", "fopen", "open", "fromfile", "memmap", "every"])
def run(request, pair, photos):
    if request.param == "imread" and (reason := harness.lacks("cv2")):
        pytest.skip(reason)
    command = harness.program("c_files", "--opener", request.param, "--workers", "1", data=photos)
    return pair(request.param, command)


def test_paths(run, photos):
    """Each sample has the one path of its photograph."""
    checks.same(run)
    expected = sorted(str(path) for path in photos.glob("*/*.jpeg"))
    found, sample = {}, None
    for record in run.trace.records:
        if record["kind"] == "sample":
            sample = record["index"]
        elif record["kind"] == "path":
            assert sample not in found
            found[sample] = record["path"]
    assert found == dict(enumerate(expected))


def test_calls(run):
    found = native_reader.totals(native_reader.below(native_reader.entries(run.trace), "Files.make"))
    for (_, name), (calls, moved) in run.truth.native.items():
        assert (found[name].calls, found[name].bytes) == (calls, moved), name


def test_report(run):
    """Mapped bytes are not read bytes: which pages of a mapping are touched is unknown."""
    ops = [op["native"] for op in run.trace.report["ops"]]
    moved = {name: bytes for (_, name), (_, bytes) in run.truth.native.items()}
    assert sum(op["mapped_bytes"] for op in ops) == moved.pop("mmap", 0)
    if "imread" not in moved:  # the program does not know what OpenCV reads
        assert sum(op["read_bytes"] for op in ops) == sum(moved.values())
