"""Native entry points of libraries that are loaded, unloaded and fail: same results, exact counts."""
import shutil
import statistics
import subprocess

import pytest

import checks
import harness
import native_reader

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ here")
SAMPLES = 4


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """Builds libcaller1.so, linked with libdecoder1.so, and libcaller2.so, linked with libdecoder2.so."""
    directory = tmp_path_factory.mktemp("libraries")
    sources = harness.PROGRAMS / "native"
    for number in (1, 2):
        shared = ["g++", "-shared", "-fPIC", "-O1", "-Wl,-rpath,$ORIGIN"]
        decoder = directory / f"libdecoder{number}.so"
        subprocess.run([*shared, f"-DANSWER={number}", "-o", decoder, sources / "decoder.cpp"], check=True)
        caller = directory / f"libcaller{number}.so"
        subprocess.run([*shared, "-o", caller, sources / "caller.cpp", decoder], check=True)
    return directory


@pytest.fixture
def both(tracer, libraries):
    """both(case, workers): the entries of the trace. Checks that output and exit code are unchanged."""

    def run(case, workers=1):
        command = harness.program("native_libraries", "--case", case, "--workers", workers, "--libraries", libraries,
                                  "--start-method", "fork")  # forked workers have the libraries loaded
        bare = harness.run(command)
        traced, trace = tracer.trace(command)
        assert traced.visible == bare.visible
        assert bare.code == 0 and bare.stdout
        return native_reader.entries(trace)

    return run


def calls(entries, library):
    found = native_reader.totals(entry for entry in entries if entry.library == library)
    return {name: total.calls for name, total in found.items()}


def test_two_decoders(both):
    entries = both("two")
    for library in ("libdecoder1.so", "libdecoder2.so"):
        assert calls(entries, library) == {"jpeg_read_header": 100 * SAMPLES, "jpeg_start_decompress": 100 * SAMPLES,
                                           "jpeg_read_scanlines": 300 * SAMPLES,
                                           "tjDecompressHeader3": 100 * SAMPLES, "tjDecompress2": 100 * SAMPLES}


@pytest.mark.parametrize("workers", [0, 1])
def test_webp(both, workers):
    entries = both("webp", workers)
    assert calls(entries, "libdecoder1.so") == {"WebPDecode": 200 * SAMPLES}
    assert calls(entries, "libdecoder2.so") == {"WebPDecode": 100 * SAMPLES}


def test_functions_that_no_library_has(tracer):
    """They return what their library returns on failure."""
    code = "import ctypes; own = ctypes.CDLL(None); print(own.tjDecompress2(), own.WebPDecode())"
    outcome, _ = tracer.run([harness.PYTHON, "-c", code])
    assert (outcome.code, outcome.stdout) == (0, b"-1 4\n")


def test_lines_take_what_the_decoder_says(pair, libraries):
    """Lines are timed in groups; between them the caller does little, or varying work, or waits."""
    run = pair("lines", harness.program("native_lines", "--libraries", libraries))
    checks.same(run)
    entries = [entry for entry in native_reader.entries(run.trace) if entry.name == "jpeg_read_scanlines"]
    assert len(run.truth.native_ns) == 3
    for (op, name), truth in run.truth.native_ns.items():
        found = native_reader.below(entries, op)
        assert sum(entry.calls for entry in found) == run.truth.native[op, name][0], op
        off = [entry.ns / ns - 1 for entry, ns in zip(found, truth, strict=True)]
        checks.agree(abs(statistics.median(off)) < 0.02, op, sorted(off))


@pytest.mark.parametrize("workers", [0, 1])
def test_exceptions_and_long_jumps(both, workers):
    assert calls(both("failing", workers), "libdecoder1.so") == {
        "jpeg_read_header": 3000 * SAMPLES, "jpeg_start_decompress": 3000 * SAMPLES,
        "jpeg_read_scanlines": 6000 * SAMPLES}


def test_libraries_that_come_and_go(both):
    entries = both("coming_and_going")
    assert calls(entries, "libdecoder1.so") and calls(entries, "libdecoder2.so")


def test_deep_binding(both):
    assert calls(both("deep_binding"), "libdecoder1.so") == {}


@pytest.mark.parametrize("workers", [0, 1])
def test_fork_inside_a_sample(both, workers):
    entries = both("forking", workers)
    assert calls(entries, "libdecoder1.so")["jpeg_read_header"] == 2 * SAMPLES
    assert all(entry.ns <= entry.span_ns + 1000 for entry in entries)


def test_cancelled_thread(both):
    entries = both("cancelled", 0)
    assert calls(entries, "libdecoder1.so")["jpeg_read_header"] == 100 * SAMPLES


@pytest.mark.parametrize("workers", [0, 2])
def test_damaged_photographs(pair, photos, workers):
    result = pair(f"damaged-{workers}", harness.program("broken_jpegs", "--workers", workers, data=photos))
    assert result.traced.visible == result.bare.visible
    lines = [line.split() for line in result.bare.stdout.splitlines()]
    failed, whole = (sum(int(line[place]) for line in lines) for place in (2, 3))
    assert failed > 1500 and whole > 100
    assert not result.trace.named("leave_lost")
    total = native_reader.totals(native_reader.entries(result.trace))
    assert total["ImagingDecoder.decode"].calls >= total["jpeg_read_header"].calls >= failed + whole
    assert total["jpeg_finish_decompress"].calls >= whole
    checks.whole(result)
