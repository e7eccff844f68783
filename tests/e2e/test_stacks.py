"""Stacks sampled in a real pipeline: all frames have names, equal to those of binutils."""
import collections
import os
import re
import subprocess

import pytest

import checks
import harness

DYNSYM, UNWIND_ENTRY, UNKNOWN = 4, 5, 6  # NameSource in events.hpp
READABLE = 50_000_000  # bytes of a library whose unwind entries readelf lists within seconds

Location = collections.namedtuple("Location", "path offset function source")


@pytest.fixture(scope="module")
def trace(tmp_path_factory, tracers, photos):
    tracer = harness.Tracer(tmp_path_factory.mktemp("stacks"))
    tracers.append(tracer)
    command = harness.program("classify", "--workers", "2", "--truth", tracer.directory / "truth", data=photos)
    outcome, trace = tracer.trace(command, LOTUS_SAMPLE_HZ=250)
    assert outcome.code == 0
    return trace


@pytest.fixture(scope="module")
def locations(trace):
    """Native locations; for inlined functions, the outermost."""
    paths = {record["id"]: record["path"] for record in trace.named("binary")}
    functions = {record["id"]: record for record in trace.named("function")}
    outermost = {}
    for frame in sorted(trace.named("frame"), key=lambda frame: frame["frame_depth"]):
        outermost[frame["location"]] = functions[frame["function"]]
    return [Location(paths[record["binary"]], record["offset"], outermost[record["id"]]["name"],
                     outermost[record["id"]]["source"])
            for record in trace.named("location") if record["binary"] != 0]


def by_path(locations, source):
    found = collections.defaultdict(list)
    for location in locations:
        if location.source == source and location.path.startswith("/"):
            found[location.path].append(location)
    assert found
    return found


def lines_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def test_samples_lie_in_operations(trace):
    samples = trace.named("stack_sample")
    assert len(samples) > 50
    names = {sample.get("name") for sample in samples}
    assert {"Loader", "RandomResizedCrop"} <= names
    stacks = {record["id"] for record in trace.named("stack")}
    assert {sample["stack"] for sample in samples} <= stacks


def test_every_location_has_a_name(trace, locations):
    named = {record["location"] for record in trace.named("frame")}
    assert named == {record["id"] for record in trace.named("location")}
    assert all(location.function for location in locations)


def test_code_of_libraries_is_found(locations):
    unknown = [location for location in locations if location.source == UNKNOWN]
    assert len(unknown) <= len(locations) // 100, unknown


def test_exported_functions_are_those_of_nm(locations):
    for path, found in by_path(locations, DYNSYM).items():
        symbols = []
        for line in lines_of("nm", "-D", "-S", "-C", "--defined-only", harness.in_root(path)):
            match = re.match(r"([0-9a-f]+) ([0-9a-f]+) [tTwWiu] (.*?)(@.*)?$", line)
            if match:
                symbols.append((int(match[1], 16), int(match[2], 16), match[3]))
        for location in found:
            names = [name for begin, size, name in symbols if begin <= location.offset < begin + size]
            # Unlike the trace, c++filt writes the return types of templates.
            assert any(name == location.function or name.endswith(" " + location.function) for name in names), \
                (location, names)


def test_stripped_functions_begin_where_their_unwind_entry_does(locations):
    for path, found in by_path(locations, UNWIND_ENTRY).items():
        if os.path.getsize(harness.in_root(path)) > READABLE:
            continue
        begins = {}
        for line in lines_of("readelf", "--debug-dump=frames", harness.in_root(path)):
            match = re.search(r" FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)", line)
            if match:
                begins[int(match[1], 16)] = int(match[2], 16)
        for location in found:
            library, _, begin = location.function.partition("!")
            assert library == os.path.basename(path)
            if int(begin, 16) in begins:
                assert int(begin, 16) <= location.offset < begins[int(begin, 16)], location
            else:  # assembly without unwind entries: named by the address of its calls
                assert int(begin, 16) <= location.offset and int(begin, 16) % 16 == 0, location
                assert not any(start <= location.offset < end for start, end in begins.items()), location


def test_threads_that_start_within_a_sample_are_sampled_from_the_next_operation_on(tmp_path, tracers):
    tracers.append(harness.Tracer(tmp_path))
    outcome, trace = tracers[-1].trace(harness.program("late_threads"), LOTUS_SAMPLE_HZ=100)
    thread, used_ns = map(int, outcome.stdout.split())
    seen = sum(sample["weight"] for sample in trace.named("stack_sample") if sample["tid"] == thread)
    checks.agree(seen * 10_000_000 == pytest.approx(used_ns, rel=0.5), seen, used_ns)


def test_threads_that_live_within_one_operation(tmp_path, tracers):
    tracers.append(harness.Tracer(tmp_path))
    outcome, trace = tracers[-1].trace(harness.program("brief_threads"), LOTUS_SAMPLE_HZ=100)
    threads, used_ns = outcome.stdout.decode().splitlines()
    threads = {int(thread) for thread in threads.split()}
    samples = [sample for sample in trace.named("stack_sample") if sample["tid"] in threads]
    seen = sum(sample["weight"] for sample in samples)
    checks.agree(seen * 10_000_000 == pytest.approx(int(used_ns), rel=0.3), seen, used_ns)
    assert {sample["tid"] for sample in samples} == threads
    assert {sample["name"] for sample in samples} == {"Threaded"}
