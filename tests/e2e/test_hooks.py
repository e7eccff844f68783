"""Native entry points: counts and bytes are exact, times lie within the span's, PyTorch's profiler agrees."""
import json

import pytest

import checks
import harness
import native_reader

CASES = {"0": [], "2": [], "2-spawn": ["--start-method", "spawn"]}


@pytest.fixture(scope="module")
def arrays(tmp_path_factory):
    return tmp_path_factory.mktemp("arrays")


@pytest.fixture(params=sorted(CASES))
def run(request, pair, photos, arrays):
    options = ["--arrays", arrays, "--workers", request.param.split("-")[0], *CASES[request.param]]
    result = pair(request.param, harness.program("hooks", *options, data=photos), LOTUS_TORCH_OPS="top")
    result.native = native_reader.entries(result.trace)
    return result


def test_same_with_and_without(run):
    checks.same(run)
    checks.whole(run)


def test_calls_and_bytes(run):
    assert len(run.truth.native) > 10
    for (op, name), (calls, moved) in run.truth.native.items():
        found = native_reader.totals(native_reader.below(run.native, op))
        assert name in found, (op, name, sorted(found))
        assert (found[name].calls, found[name].bytes) == (calls, moved), (op, name)


def test_files_are_read_as_often_and_as_far_as_their_sizes_say(run, photos):
    sizes = [path.stat().st_size for path in photos.glob("*/*.jpeg")]
    found = native_reader.totals(native_reader.below(run.native, "Photographs.read"))
    assert found["read"].bytes == sum(sizes)
    assert found["read"].calls == sum(-(-size // 1000) + 1 for size in sizes)


def operators(found):
    """{"sample": {name: calls}, "collate": {name: calls}} of PyTorch's operators."""
    sides = {"sample": [], "collate": []}
    for entry in found:
        if entry.library.startswith("libtorch_cpu"):
            sides["collate" if "Collation" in entry.op else "sample"].append(entry)
    return {side: {name: total.calls for name, total in native_reader.totals(entries).items()}
            for side, entries in sides.items()}


@pytest.fixture(scope="module")
def profiled(photos, arrays, tmp_path_factory):
    """The operators that PyTorch's profiler counted, without the tracer."""
    path = tmp_path_factory.mktemp("profile") / "operators"
    options = ["--workers", "0", "--arrays", arrays, "--profile", path]
    assert harness.run(harness.program("hooks", *options, data=photos)).code == 0
    return json.loads(path.read_text())


def test_operators_equal_those_of_the_profiler(run, profiled):
    found = operators(run.native)
    assert found["sample"]["aten::add"] == 3 * 64
    assert found["sample"] == profiled["sample"]["top"]
    if run.trace.report["trace"]["workers"] == 0:  # workers collate into shared memory, by other operators
        assert found["collate"] == profiled["collate"]["top"]


def test_time_lies_within_the_span(run):
    timed = 0
    for entry in run.native:
        assert 0 <= entry.ns <= entry.span_ns + 1000, entry
        timed += entry.ns > 0
    assert timed > 0.9 * len(run.native)


def test_nothing_is_counted_outside_the_pipeline(run):
    assert {entry.span for entry in run.native} <= {"op", "sample", "samples", "fetch"}
    found = native_reader.totals(run.native)
    assert found["aten::add"].calls == 3 * 64
    assert "aten::ones" not in found


def test_info_lists_them(run):
    listed = {(hook["name"], hook["library"]): hook for hook in run.trace.info["hooks"]}
    names = {name for name, _ in listed}
    assert {"jpeg_read_scanlines", "WebPDecode", "ImagingCore.resize", "ImagingDecoder.decode", "read", "fread",
            "fromfile"} <= names
    for name, total in native_reader.totals(run.native).items():
        rows = [hook for (other, _), hook in listed.items() if other == name]
        assert sum(hook["calls"] for hook in rows) == total.calls
        assert sum(hook["bytes"] for hook in rows) == total.bytes
    text = harness.run([harness.ANALYZE, "info", run.trace.path]).stdout.decode()
    assert "jpeg_read_scanlines" in text and "libjpeg" in text


@pytest.mark.parametrize("level", ["all", "0"])
def test_operators_by_level(level, tracer, photos, arrays, profiled):
    command = harness.program("hooks", "--workers", "0", "--arrays", arrays, data=photos)
    _, trace = tracer.trace(command, LOTUS_TORCH_OPS=level)
    found = operators(native_reader.entries(trace))
    if level == "0":
        assert found == {"sample": {}, "collate": {}}
    else:
        assert found == {side: levels["all"] for side, levels in profiled.items()}


def test_profiler_of_the_program_sees_the_same(tracer, photos, arrays, profiled, tmp_path):
    options = ["--workers", "0", "--arrays", arrays, "--profile", tmp_path / "operators"]
    _, trace = tracer.trace(harness.program("hooks", *options, data=photos), LOTUS_TORCH_OPS="top")
    assert json.loads((tmp_path / "operators").read_text()) == profiled
    assert operators(native_reader.entries(trace))["sample"]["aten::add"] == 3 * 64
