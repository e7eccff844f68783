"""LOTUS_COUNTERS: what the kernel counted in each operation, against what the program counted of itself."""
import csv
import io
import json
import subprocess

import pytest

import harness

OF_PROCESSOR = {"instructions", "cycles", "cache-references", "cache-misses", "branch-misses"}


def counters(trace, *options):
    outcome = harness.run([harness.ANALYZE, "counters", *options, trace.path])
    assert outcome.code == 0, outcome.stderr.decode()
    return outcome.stdout.decode()


@pytest.fixture(scope="module", params=[0, 2], ids=["by training", "in workers"])
def counted(request, tmp_path_factory, tracers):
    tracers.append(harness.Tracer(tmp_path_factory.mktemp("counters")))
    outcome, trace = tracers[-1].trace([*harness.program("counted"), request.param], LOTUS_COUNTERS="default")
    assert outcome.code == 0, outcome.stderr.decode()
    told = json.loads(counters(trace, "--json"))
    return json.loads(outcome.stdout), told, {op["name"]: op for op in told["ops"]}, trace, outcome


@pytest.mark.parametrize("name", ["TouchesPages", "ReadsIntoPages"])
def test_page_faults_of_an_operation(counted, name):
    """Most calls are not measured. Those of ReadsIntoPages are inside of a system call."""
    truth, _, ops, _, _ = counted
    told = ops[name]["counters"]["page-faults"]
    assert ops[name]["calls"] == truth[name]["calls"]
    assert told["measured_calls"] < truth[name]["calls"] / 4
    assert told["value"] == pytest.approx(truth[name]["page-faults"], rel=0.01)
    assert told["per_call"] == pytest.approx(truth[name]["page-faults"] / truth[name]["calls"], rel=0.01)
    assert told["interval"][0] <= truth[name]["page-faults"] <= told["interval"][1]


def test_context_switches_of_an_operation(counted):
    truth, _, ops, _, _ = counted
    told = ops["Sleeps"]["counters"]["context-switches"]
    assert told["measured_calls"] == ops["Sleeps"]["calls"] == truth["Sleeps"]["calls"]
    assert told["value"] == pytest.approx(truth["Sleeps"]["context-switches"], rel=0.01)


def test_all_that_fetches_counted(counted):
    truth, told, _, _, _ = counted
    fetches = told["fetches"]
    faults = fetches["counters"]["page-faults"]
    assert faults["measured_calls"] == fetches["calls"]
    assert faults["value"] >= sum(op["page-faults"] for op in truth.values())
    assert faults["interval"] == [faults["value"]] * 2


def test_what_is_refused_is_said_once(counted):
    """A machine with counters of the processor has no such line."""
    _, told, ops, trace, outcome = counted
    refused = {name for name, state in told["counters"].items() if state["errors"]}
    lines = [line for line in outcome.lotus_lines if "not counted: " in line]
    assert len(lines) == (1 if refused else 0)
    assert all(name in lines[0] for name in refused)
    assert not refused & set(ops["Sleeps"]["counters"])
    assert set(told["counters"]) - refused == set(ops["Sleeps"]["counters"])
    assert {"page-faults", "context-switches", "task-clock"} <= set(ops["Sleeps"]["counters"])
    assert bool(refused & OF_PROCESSOR) == ("Not counted: " in counters(trace))


@pytest.mark.parametrize("name", ["TouchesPages", "ReadsIntoPages"])
def test_cpu_time_of_an_operation(counted, name):
    """A measured call has 5 % more at most: the reads themselves."""
    truth, _, ops, _, _ = counted
    low, high = ops[name]["counters"]["task-clock"]["interval"]
    assert 0.95 * low <= truth[name]["task-clock"] <= 1.05 * high


def test_csv_has_the_same(counted):
    _, _, ops, trace, _ = counted
    rows = list(csv.DictReader(io.StringIO(counters(trace, "--csv"))))
    faults = {row["operation"]: row for row in rows if row["counter"] == "page-faults"}
    assert set(ops) | {""} == set(faults)
    for name, op in ops.items():
        assert float(faults[name]["value"]) == op["counters"]["page-faults"]["value"]


def test_off_unless_asked_for(tracer, texts):
    _, trace = tracer.trace(harness.pure_program(data=texts))
    assert trace.named("counting") == [] and trace.named("count") == []
    assert "record with LOTUS_COUNTERS=default" in counters(trace)


def test_a_name_that_there_is_not(tracer, texts):
    bare = harness.run(harness.pure_program(data=texts))
    outcome, trace = tracer.trace(harness.pure_program(data=texts), LOTUS_COUNTERS="page-fault")
    assert outcome.visible == bare.visible
    assert any("LOTUS_COUNTERS='page-fault' is not default, " in line for line in outcome.lotus_lines)
    assert trace.named("count") == []


def test_list_says_what_the_machine_has(tracer, texts):
    """And the program runs as without it, with nothing counted."""
    bare = harness.run(harness.pure_program(data=texts))
    outcome, trace = tracer.trace(harness.pure_program(data=texts), LOTUS_COUNTERS="list")
    assert outcome.visible == bare.visible
    lines = outcome.lotus_lines
    assert sum("counters of this machine (" in line for line in lines) == 1  # workers do not repeat it
    counted = next(line for line in lines if "  counted: " in line)
    assert {"page-faults", "minor-faults", "major-faults", "context-switches", "task-clock"} <= set(
        counted.split("counted: ")[1].split(", "))
    told = [name for line in lines if "counted" in line and ": " in line for name in line.split(": ")[-1].split(", ")]
    assert "instructions" in told and "LLC-load-misses" in told
    assert any("  sets: default (" in line and "topdown (" in line for line in lines)
    assert trace.named("counting") == [] and trace.named("count") == []


def test_counters_of_a_played_processor(tracer, tmp_path):
    """Each of its events counts so much for each ns of CPU time: 4 cycles, 12 instructions."""
    outcome, trace = tracer.trace([*harness.program("counted"), 2], LOTUS_COUNTERS="default",
                                  LD_PRELOAD=f"{tracer.library}:{harness.played_pmu(tmp_path)}")
    assert outcome.code == 0, outcome.stderr.decode()
    told = json.loads(counters(trace, "--json"))
    truth = json.loads(outcome.stdout)
    for op in told["ops"]:
        assert op["ratios"]["ipc"]["value"] == pytest.approx(3, rel=0.001)
        assert op["ratios"]["cache_miss_percent"]["value"] == pytest.approx(100, rel=0.001)
        assert op["counters"]["cycles"]["on_percent"] == 100
        if op["name"] != "Sleeps":  # its CPU time is next to nothing, of which reading the clocks is much
            low, high = op["counters"]["cycles"]["interval"]
            assert 0.9 * low <= 4 * truth[op["name"]]["task-clock"] <= 1.1 * high


def test_functions_of_operations(counted):
    """Stack samples carry what their threads counted: all of it but what comes before the first one of a thread."""
    truth, _, _, trace, _ = counted
    told = json.loads(counters(trace, "--functions", "--json"))
    functions = told["functions"]
    faults = sum(op["page-faults"] for op in truth.values())
    assert 0.7 * faults < sum(f["counters"]["page-faults"]["value"] for f in functions) < 1.05 * faults
    # Each of some 200 samples carries half a percent; of one that came where no function is known, nobody has the share.
    shares = [f["counters"]["page-faults"]["share_percent"] for f in functions]
    assert 90 < sum(shares) < 100.01
    all_of_it = [100 * f["counters"]["page-faults"]["value"] / share for f, share in zip(functions, shares) if share > 0]
    assert max(all_of_it) == pytest.approx(min(all_of_it), rel=1e-6)
    clock = functions[0]["counters"]["task-clock"]
    assert clock["per_second"] == pytest.approx(1e9, rel=0.5)
    assert clock["interval"][0] < clock["value"] < clock["interval"][1]
    assert len(trace.named("sample_count")) <= len(trace.named("stack_sample")) * len(told["counters"])
    rows = list(csv.DictReader(io.StringIO(counters(trace, "--functions", "--csv"))))
    assert float(next(row["value"] for row in rows if row["counter"] == "task-clock")) == clock["value"]
    assert "task-clock" in counters(trace, "--functions")


def test_figures_of_own_counters(counted, tmp_path):
    """6e by native functions, as samples say; 6f by operations, as measured: also of one that sleeps and has no samples."""
    truth, told, _, trace, _ = counted

    def rows(figure, *options):
        outcome = harness.run([harness.ANALYZE, "figure", figure, trace.path, *options, "-o", tmp_path / "figure.csv", "--force"])
        assert outcome.code == 0, outcome.stderr.decode()
        return list(csv.DictReader((tmp_path / "figure.csv").open()))

    functions = rows("6e", "--counter", "page-faults")
    assert {row["counter"] for row in functions} == {"page-faults"} and all(row["library"] for row in functions)
    faults = sum(op["page-faults"] for op in truth.values())
    assert 0.5 * faults < sum(float(row["value"]) for row in functions) < 1.05 * faults
    by_op = {row["operation"]: float(row["value"]) for row in rows("6f", "--counter", "page-faults")}
    for name in ("TouchesPages", "ReadsIntoPages"):
        assert by_op[name] == pytest.approx(truth[name]["page-faults"], rel=0.01)
    by_op = {row["operation"]: float(row["value"]) for row in rows("6f", "--counter", "context-switches")}
    assert by_op["Sleeps"] == pytest.approx(truth["Sleeps"]["context-switches"], rel=0.01)
    (second,) = {row["counter"] for row in rows("6h")}
    assert second not in ("task-clock", "cycles", "page-faults")


def test_figures_of_operations_without_samples(tracer, tmp_path):
    _, trace = tracer.trace([*harness.program("counted"), 0], LOTUS_COUNTERS="page-faults", LOTUS_SAMPLE_HZ="0")
    outcome = harness.run([harness.ANALYZE, "figure", "6f", trace.path, "-o", tmp_path / "f.csv"])
    assert outcome.code == 0, outcome.stderr.decode()
    values = {row["operation"]: float(row["value"]) for row in csv.DictReader((tmp_path / "f.csv").open())}
    assert values["TouchesPages"] == pytest.approx(values["ReadsIntoPages"], rel=0.05)
    outcome = harness.run([harness.ANALYZE, "figure", "6e", trace.path, "-o", tmp_path / "e.csv"])
    assert outcome.code == 1 and b"record with samples of stacks" in outcome.stderr


def test_counters_of_two_runs(counted, tracer, tmp_path):
    """The program with a half more pages: its counts differ, and the intervals hold by how much."""
    first_truth, _, _, first, _ = counted
    workers = 0 if len(first.named("worker")) == 0 else 2
    second_outcome, second = tracer.trace([*harness.program("counted"), workers, 450], LOTUS_COUNTERS="default")
    assert second_outcome.code == 0, second_outcome.stderr.decode()
    second_truth = json.loads(second_outcome.stdout)
    outcome = harness.run([harness.ANALYZE, "diff", "--json", first.path, second.path])
    assert outcome.code == 0, outcome.stderr.decode()
    told = json.loads(outcome.stdout)
    ops = {op["name"]: op for op in told["ops"]}
    for name in ("TouchesPages", "ReadsIntoPages"):
        change = ops[name]["counters"]["page-faults"]
        truth = [truth[name]["page-faults"] / truth[name]["calls"] for truth in (first_truth, second_truth)]
        assert [change["before"]["per_call"], change["after"]["per_call"]] == pytest.approx(truth, rel=0.01)
        low, high = change["difference_interval"]
        assert change["changed"] and low <= truth[1] - truth[0] <= high < 1.3 * (truth[1] - truth[0])
    assert not ops["Sleeps"]["counters"]["page-faults"]["changed"]
    assert told["counters"]["fetches"]["page-faults"]["changed"]
    assert told["counters"]["only_before"] == told["counters"]["only_after"] == []
    assert "TouchesPages" in harness.run([harness.ANALYZE, "diff", first.path, second.path]).stdout.decode()


def test_functions_need_samples(tracer):
    _, trace = tracer.trace([*harness.program("counted"), 0], LOTUS_COUNTERS="page-faults", LOTUS_SAMPLE_HZ="0")
    assert trace.named("sample_count") == []
    assert "No stack sample carries counts" in counters(trace, "--functions")


def test_topdown_on_any_machine(tracer):
    """Without a PMU, or on a processor that is not known, a line says so and the rest is counted."""
    outcome, trace = tracer.trace([*harness.program("counted"), 0], LOTUS_COUNTERS="topdown")
    assert outcome.code == 0, outcome.stderr.decode()
    told = json.loads(counters(trace, "--json"))
    truth = json.loads(outcome.stdout)
    (processor,) = trace.named("processor")
    assert told["processors"] == [f"{processor['vendor']} family {processor['family']} model {processor['model']:#x}"]
    ops = {op["name"]: op for op in told["ops"]}
    assert ops["TouchesPages"]["counters"]["page-faults"]["value"] == pytest.approx(
        truth["TouchesPages"]["page-faults"], rel=0.01)
    known = told["topdown"] is not None
    assert known != any("no top-down analysis is known for this processor (" in line for line in outcome.lotus_lines)
    events = set(told["counters"]) - {"instructions", "cycles", "page-faults", "task-clock"}
    assert known == bool(events)
    counts = known and not any(told["counters"][name]["errors"] for name in events)
    assert counts == ("backend_bound_percent" in ops["TouchesPages"]["ratios"])
    if counts:
        ratios = ops["TouchesPages"]["ratios"]
        assert 0 <= ratios["backend_bound_percent"]["value"] <= 100


def test_a_program_that_closes_all_descriptors(tracer, texts):
    """What it opens then gets their numbers: nothing is read from it."""
    code = ("import os, runpy, sys; import torch.utils.data as data; init = data.DataLoader.__iter__\n"
            "def again(self):\n"
            "    os.closerange(3, 4096); made = [os.pipe() for _ in range(600)]\n"
            "    for read, write in made: os.write(write, b'x' * 64)\n"
            "    for item in init(self):\n"
            "        yield item\n"
            "    assert all(os.read(read, 99) == b'x' * 64 for read, _ in made)\n"
            "    for pair in made: os.close(pair[0]), os.close(pair[1])\n"
            "data.DataLoader.__iter__ = again\n"
            "class Made(data.Dataset):\n"
            "    def __len__(self): return 40\n"
            "    def __getitem__(self, index): return self.work(index)\n"
            "    def work(self, index): return sum(range(20000 + index))\n"
            "for _ in range(3): print(sum(int(batch.sum()) for batch in data.DataLoader(Made(), batch_size=4)))\n")
    command = ["prlimit", "--nofile=4096", harness.PYTHON, "-c", code]
    bare = harness.run(command)
    outcome, trace = tracer.trace(command, LOTUS_COUNTERS="cpu-migrations,page-faults")
    assert bare.code == 0, bare.stderr.decode()
    assert outcome.visible == bare.visible
    assert trace.named("count")


def test_names_of_libpfm4(tracer, tmp_path):
    """A helper looks the processor's own names up; those that it does not have are told, and the rest is counted."""
    outcome, trace = tracer.trace([*harness.program("counted"), 0], LOTUS_COUNTERS="RETIRED_OPS,r00c1,page-faults,NO_SUCH_EVENT",
                                  LIBPFM_FORCE_PMU="amd64_fam19h_zen4",
                                  LD_PRELOAD=f"{tracer.library}:{harness.played_pmu(tmp_path)}")
    assert outcome.code == 0, outcome.stderr.decode()
    assert any("not counted: NO_SUCH_EVENT (libpfm4 for this processor: event not found)" in line for line in outcome.lotus_lines)
    told = json.loads(counters(trace, "--json"))
    assert told["counters"]["RETIRED_OPS"]["errors"] == []
    assert "neither Lotus nor libpfm4 knows them" in told["counters"]["NO_SUCH_EVENT"]["errors"][0]
    ops = {op["name"]: op["counters"] for op in told["ops"]}
    counted = ops["TouchesPages"]
    assert counted["RETIRED_OPS"]["value"] == pytest.approx(counted["r00c1"]["value"], rel=0.02)  # the same event
    assert counted["RETIRED_OPS"]["value"] > 0


def test_the_helper_is_not_seen(tracer, texts):
    """A program that waits for any child has none of Lotus', and no descriptor more."""
    code = ("import os, torch.utils.data as data\n"
            "class Made(data.Dataset):\n"
            "    def __len__(self): return 40\n"
            "    def __getitem__(self, index): return sum(range(2000 + index))\n"
            "print(sum(int(batch.sum()) for batch in data.DataLoader(Made(), batch_size=4)))\n"
            "try: print(os.waitpid(-1, os.WNOHANG))\n"
            "except ChildProcessError: print('no child')\n")
    outcome, trace = tracer.trace([harness.PYTHON, "-c", code], LOTUS_COUNTERS="INST_RETIRED:ANY,page-faults")
    assert outcome.code == 0, outcome.stderr.decode()
    assert outcome.stdout.decode().endswith("no child\n")
    assert trace.named("count")


def encoded(names, **environment):
    return harness.run([harness.COLLECTOR, "--encode", names], **environment)


def test_numbers_of_events():
    """Intel's, AMD's and Arm's, from libpfm4's tables, whatever processor this is."""
    skylake = encoded("OFFCORE_RESPONSE_0:DMND_DATA_RD:L3_MISS,CYCLE_ACTIVITY:STALLS_L3_MISS", LIBPFM_FORCE_PMU="skx")
    assert skylake.stdout.decode().splitlines() == [
        "4 0x1b7 0x3f84000001 OFFCORE_RESPONSE_0:DMND_DATA_RD:L3_MISS", "4 0x60006a3 0x0 CYCLE_ACTIVITY:STALLS_L3_MISS"]
    assert encoded("RETIRED_OPS", LIBPFM_FORCE_PMU="amd64_fam19h_zen4").stdout == b"4 0xc1 0x0 RETIRED_OPS\n"
    wrong = encoded("RETIRED_OPS,NO_SUCH,RETIRED_OPS:u", LIBPFM_FORCE_PMU="amd64_fam19h_zen4")
    assert wrong.code == 1
    assert [line.split()[0] for line in wrong.stdout.decode().splitlines()] == ["4", "?", "?"]


def test_without_libpfm4(tmp_path):
    library = tmp_path / "libpfm.so.4"
    subprocess.run(["gcc", "-shared", "-o", library, "-x", "c", "/dev/null"], check=True)
    outcome = encoded("RETIRED_OPS", LD_LIBRARY_PATH=str(tmp_path))
    assert outcome.code == 1 and outcome.stdout == b"- RETIRED_OPS: libpfm.so.4 is not libpfm4's\n"
