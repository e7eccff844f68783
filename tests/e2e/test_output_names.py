"""The line says where the trace goes, whatever is in the way of the name that was asked for."""
import json
import pathlib
import shutil
import subprocess

import pytest

import harness


@pytest.fixture
def command(texts):
    return harness.pure_program("--workers", "0", data=texts)


def told(outcome):
    """The path in the line."""
    assert outcome.code == 0 and len(outcome.lotus_lines) == 1, outcome.stderr
    return outcome.lotus_lines[0].removeprefix("lotus: tracing to ").partition(";")[0]


def newest(*named, cwd=None):
    """The programs of the trace that a command chooses."""
    told = harness.run([harness.ANALYZE, "info", "--json", *named], cwd=cwd)
    assert told.code == 0, told.stderr
    return [process["pid"] for process in json.loads(told.stdout)["processes"]]


def programs(path):
    """Those of this very file, which may not be the newest of its name."""
    alone = pathlib.Path(f"{path}.alone")
    shutil.copy(path, alone)
    return newest(alone)


@pytest.mark.parametrize("kind", ["link", "dangling link", "foreign", "empty"])
def test_something_is_in_the_way(kind, command, tracer):
    path, other = tracer.directory / "x.lotus", tracer.directory / "other"
    if "link" in kind:
        path.symlink_to(other)
    else:
        path.write_text("mine" if kind == "foreign" else "")
    if kind == "link":
        other.write_text("mine")
    traced, _ = tracer.run(command, output=path)
    tracer.wait_for_collector()
    expected = path if kind == "empty" else tracer.directory / "x.lotus.1"
    assert told(traced) == str(expected)
    assert programs(expected) == newest(path) == [traced.pid]
    assert kind != "link" or other.read_text() == "mine"
    assert kind != "dangling link" or not other.exists()


def test_several_programs_at_the_same_moment(command, tracer):
    path = tracer.directory / "x.lotus"
    environment = harness.clean_environment(**tracer.environment(LOTUS_OUTPUT=path))
    started = [subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                env=environment) for _ in range(4)]
    files = {one.pid: one.communicate()[1].decode().strip().removeprefix("lotus: tracing to ") for one in started}
    tracer.wait_for_collector()
    assert len(set(files.values())) == len(files)
    for pid, file in files.items():
        assert programs(file) == [pid], files


def test_one_after_the_other(command, tracer):
    path = tracer.directory / "x.lotus"
    runs = [tracer.run(command, output=path)[0] for _ in range(4)]  # each begins while a trace is being closed
    assert newest(path) == newest(cwd=tracer.directory) == [runs[-1].pid]
    tracer.wait_for_collector()
    assert newest(path) == newest(cwd=tracer.directory) == [runs[-1].pid]
    last = runs[-1]
    assert programs(told(last)) == [last.pid]


def test_a_finished_trace_is_kept_once(command, tracer):
    path = tracer.directory / "x.lotus"
    runs = []
    for _ in range(3):
        runs.append(tracer.run(command, output=path)[0])
        tracer.wait_for_collector()
        assert told(runs[-1]) == str(path)
    assert programs(path) == [runs[2].pid]
    assert programs(f"{path}.old") == [runs[1].pid]


@pytest.mark.parametrize("name, reason", [("a" * 256, "File name too long"), ("c/" * 2000 + "x.lotus", "")],
                         ids=["name", "path"])
def test_a_name_that_is_too_long(name, reason, command, tracer):
    traced, _ = tracer.run(command, output=f"{tracer.directory}/{name}", TMPDIR=tracer.directory)
    assert f"cannot be written: {reason}" in traced.lotus_lines[0]
    tracer.wait_for_collector()
    assert programs(told(traced)) == [traced.pid]


def test_nothing_is_left_where_no_collector_is(command, tracer):
    alone = tracer.directory / "lib"
    alone.mkdir()
    tracer.library = alone / "liblotus.so"
    tracer.library.write_bytes(harness.LIBRARY.read_bytes())
    traced, path = tracer.run(command)
    assert told(traced).startswith(f"{path} (when ") and not path.exists()
    drained = harness.run([harness.COLLECTOR, "--drain", "--dir", tracer.segments])
    assert drained.code == 0 and programs(path) == [traced.pid]
