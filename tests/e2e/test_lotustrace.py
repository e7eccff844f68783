"""The research system's logs, exported from a real run and imported again, and its figures."""
import csv
import json
import random
import re
import subprocess
import xml.dom.minidom

import pytest

import harness
import lotustrace_reader

OPS = ["Loader", "RandomResizedCrop", "RandomHorizontalFlip", "ToTensor", "Normalize", "Collation"]
TABLES = ("ops", "waits", "batches")
# The columns of each batch on which an analysis of logs is based.
FACTS = ("batch", "epoch", "samples", "worker_pid", "worker_id", "fetch_start_ns", "fetch_ns", "wait_start_ns", "wait_ns",
         "out_of_order", "outstanding", "queued_at_ns", "consumed_at_ns", "delay_ns")
FIGURES = ("2", "4", "5a", "5b", "6a", "6b", "6c", "6d")


def analyze(*arguments, code=0):
    outcome = harness.run([harness.ANALYZE, *arguments])
    assert outcome.code == code, outcome.stderr.decode()
    return outcome.stdout.decode() if code == 0 else outcome.stderr.decode()


def rows(table, *traces):
    found = json.loads(analyze("table", table, "--json", *traces))["rows"]
    for row in found:
        row.pop("run", None)
    return found


class Copies:
    """A trace, its exported logs, and the trace imported from these."""

    def __init__(self, directory, trace):
        self.trace, self.logs, self.back = trace.path, directory / "logs", directory / "back.lotus"
        analyze("export", "--format", "lotustrace", self.logs, self.trace)
        analyze("import", self.logs, "-o", self.back)


@pytest.fixture(scope="module", params=["2 workers", "num_workers=0"])
def copies(request, tmp_path_factory, tracers, photos):
    directory = tmp_path_factory.mktemp("lotustrace")
    tracers.append(harness.Tracer(directory))
    workers = 0 if "=" in request.param else 2
    outcome, trace = tracers[-1].trace(harness.program("classify", "--workers", workers, "--epochs", 2, data=photos))
    assert outcome.code == 0, outcome.stderr.decode()
    return Copies(directory, trace)


def test_logs_are_lotustraces(copies):
    """Checked by a reader that is written from the published description of the format."""
    directories = sorted(copies.logs.iterdir())
    assert [directory.name for directory in directories] == ["epoch_0", "epoch_1"]
    batches = harness.Trace(copies.trace).batches
    for epoch, directory in enumerate(directories):
        logs = lotustrace_reader.Logs(directory)
        assert sorted(logs.ops()) == sorted(OPS)
        assert {name: len(times) for name, times in logs.ops().items()} == {name: 8 if name == "Collation" else 64 for name in OPS}
        ours = {row["batch"]: row for row in batches if row["epoch"] == epoch}
        assert set(logs.consumed) == set(logs.preprocessed) == set(ours)
        assert logs.out_of_order == {number for number, row in ours.items() if row["out_of_order"]}
        for number, row in ours.items():
            assert logs.preprocessed[number] == (row["fetch_start_ns"], row["fetch_ns"], row["worker_pid"])
            assert logs.waits[number][1:] == (row["wait_start_ns"], row["wait_ns"])
            assert logs.consumed[number].start == row["consumed_at_ns"]


def test_round_trip_gives_the_same_tables(copies):
    """Tables are equal to the last ns."""
    for table in TABLES:
        ours, back = (sorted(rows(table, trace), key=lambda row: row.get("operation", "")) for trace in (copies.trace, copies.back))
        for one, other in zip(ours, back, strict=True):
            # Relative to the duration of the whole run, which logs do not contain.
            assert one.pop("stall_percent", None) is None or other.pop("stall_percent") > 0
            assert one == other
    ours, back = ([{fact: row[fact] for fact in FACTS} for row in harness.Trace(trace).batches] for trace in (copies.trace, copies.back))
    assert ours == back
    ours, back = (json.loads(analyze("info", "--json", trace))["loaders"][0]["batch_size"] for trace in (copies.trace, copies.back))
    assert ours == back > 1


def test_all_commands_read_an_imported_trace(copies):
    for command in ("report", "batches", "info", "dump", "whatif", "map", "flame"):
        analyze(command, copies.back)
    report = harness.Trace(copies.back).report
    assert report["trace"]["lost_events"] == 0 and report["trace"]["truncated"] is False
    assert report["verdict"]["waited_percent"] > 0


def log(values):
    return "".join(f"{name},{start},{duration}\n" for name, start, duration in values)


def random_logs(directory, seed, batches=200):
    """Writes logs of one worker with random times in ns; returns its durations, waits and delays in ns."""
    chance = random.Random(seed)
    now = 1_700_000_000_000_000_000
    worker, main, ops, made, waits, delays = [], [], {"A": [], "B": []}, [], [], []
    for batch in range(batches):
        start = now
        for name, times in ops.items():
            duration = int(chance.lognormvariate(15 + len(times) % 3, 1.2))
            worker.append((f"S{name}", now, duration))
            times.append(duration)
            now += duration + chance.randrange(50)
        worker.append((f"SBatchPreprocessed_{batch}", start, now - start))
        made.append(now - start)
        waits.append(chance.choice([chance.randrange(2000, 999_999), chance.randrange(10**6, 9 * 10**8)]))
        main.append((f"SBatchWait_{batch}", now, waits[-1]))
        delays.append(waits[-1] + chance.randrange(10**9))
        main.append((f"SBatchConsumed_{batch}", now + delays[-1], 1000))
        now += delays[-1] + chance.randrange(10**6)
    directory.mkdir(parents=True)
    (directory / "x_worker_pid_12").write_text(log(worker))
    (directory / "x_main_pid_11").write_text(log(main))
    return ops, made, waits, delays


@pytest.mark.parametrize("seed", range(4))
def test_statistics_are_numpys(tmp_path, seed):
    numpy = pytest.importorskip("numpy", reason="python3-numpy is missing")
    ops, made, waits, delays = random_logs(tmp_path / "b4_gpu1", seed)
    analyze("import", tmp_path / "b4_gpu1", "-o", tmp_path / "x.lotus")
    found = {row["operation"]: row for row in rows("ops", tmp_path / "x.lotus")}
    for name, times in ops.items():
        ms = numpy.array(times) / 1e6
        expected = {"count": len(times), "mean_ms": ms.mean(), "median_ms": numpy.median(ms), "p90_ms": numpy.percentile(ms, 90),
                    "std_ms": ms.std(), "sum_s": ms.sum() / 1e3, "under_10ms_percent": 100 * (ms < 10).mean(),
                    "under_100us_percent": 100 * (ms < 0.1).mean()}
        assert {key: found[name][key] for key in expected} == pytest.approx(expected, rel=1e-12)
    ms = numpy.array(made) / 1e6
    low, high = numpy.percentile(ms, [25, 75])
    for row, kept in zip(rows("batches", tmp_path / "x.lotus"), (ms, ms[ms >= low - 2 * (high - low)]), strict=True):
        low, middle, high = numpy.percentile(kept, [25, 50, 75])
        expected = {"count": len(kept), "sum_s": kept.sum() / 1e3, "mean_ms": kept.mean(), "std_ms": kept.std(),
                    "std_percent": 100 * kept.std() / kept.mean(), "min_ms": kept.min(), "p25_ms": low, "median_ms": middle,
                    "p75_ms": high, "max_ms": kept.max(), "iqr_ms": high - low}
        assert {key: row[key] for key in expected} == pytest.approx(expected, rel=1e-12)
    wait, delay = numpy.array(waits), numpy.array(delays)
    expected = {"waits": len(waits), "out_of_order_percent": 0, "wait_over_500ms_percent": 100 * (wait > 5e8).mean(),
                "wait_over_1ms_percent": 100 * (wait > 1e6).mean(),
                "wait_under_1ms_in_order_percent": 100 * (wait < 1e6).mean(),
                "delay_over_500ms_percent": 100 * (delay > 5e8).mean(),
                "delay_under_250ms_percent": 100 * (delay < 2.5e8).mean()}
    shares = rows("waits", tmp_path / "x.lotus")[0]
    assert {key: shares[key] for key in expected} == pytest.approx(expected, rel=1e-12)


def test_logs_without_waits(tmp_path):
    """Logs that do not say how long training waited: nothing is said about it, and no advice is built on it."""
    random_logs(tmp_path / "b4_gpu1", 1, batches=40)
    log = tmp_path / "b4_gpu1/x_main_pid_11"
    log.write_text("".join(line for line in log.read_text().splitlines(True) if "SBatchWait_" not in line))
    analyze("import", tmp_path / "b4_gpu1", "-o", tmp_path / "x.lotus")
    verdict = json.loads(analyze("report", "--json", tmp_path / "x.lotus"))["verdict"]
    assert verdict["cause"] == "too_little" and verdict["waited_percent"] is None
    assert "not known" in verdict["message"]
    assert [advice["action"] for advice in verdict["advice"]] == ["none"]


def test_configurations_make_a_trace_each(tmp_path):
    for workers, batch in ((1, 64), (2, 64)):
        random_logs(tmp_path / f"logs/b{batch}_gpu{workers}", workers, batches=5)
    message = analyze("import", tmp_path / "logs", "-o", tmp_path / "all.lotus", code=2)
    assert "name a directory" in message and "b64_gpu1, b64_gpu2" in message
    analyze("import", tmp_path / "logs", "-o", tmp_path / "all")
    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == ["b64_gpu1.lotus", "b64_gpu2.lotus"]


def test_configuration_that_no_name_says(tmp_path):
    random_logs(tmp_path / "b_gpu2", 1, batches=5)
    message = analyze("import", tmp_path / "b_gpu2", "-o", tmp_path / "x.lotus", code=1)
    assert f"{tmp_path / 'b_gpu2'}: no configuration can be read" in message and "--batch-size" in message
    assert not (tmp_path / "x.lotus").exists()
    analyze("import", tmp_path / "b_gpu2", "--batch-size", 4, "--ranks", 2, "-o", tmp_path / "x.lotus")
    loader = json.loads(analyze("info", "--json", tmp_path / "x.lotus"))["loaders"][0]
    assert loader["batch_size"] == 4


def test_exports_of_several_traces_can_be_imported(tmp_path):
    traces = []
    for name in ("before", "after", "again"):
        random_logs(tmp_path / name, len(traces), batches=5)
        traces.append(tmp_path / f"{name}.lotus")
        analyze("import", tmp_path / name, "--batch-size", 4, "-o", traces[-1])
    analyze("export", tmp_path / "logs", *traces)
    places = sorted(path.name for path in (tmp_path / "logs").iterdir())
    assert places == ["after_b4_gpu1", "again_b4_gpu1", "b4_gpu1"]  # as the published scripts read it
    analyze("import", tmp_path / "logs", "-o", tmp_path / "back")
    for trace, place in zip(traces, ("b4_gpu1", "after_b4_gpu1", "again_b4_gpu1")):
        assert [rows(table, trace) for table in TABLES] == [rows(table, tmp_path / f"back/{place}.lotus") for table in TABLES]


def test_one_epoch_is_exported_without_a_directory_of_its_own(copies, tmp_path):
    analyze("export", "--epoch", "1", tmp_path / "b4_gpu1", copies.trace)
    files = sorted(path.name for path in (tmp_path / "b4_gpu1").iterdir())
    assert files and all(name.startswith("lotustrace_log_") for name in files)
    whole = [line for path in (copies.logs / "epoch_1").iterdir() for line in path.read_text().splitlines()]
    alone = [line for path in (tmp_path / "b4_gpu1").iterdir() for line in path.read_text().splitlines()]
    assert sorted(alone) == sorted(whole)


def test_waits_that_overlap(tmp_path):
    """A thread waits for one batch at a time: overlapping waits are named and left out."""
    random_logs(tmp_path / "logs", 1, batches=5)
    path = tmp_path / "logs/x_main_pid_11"
    path.write_text(log([("SBatchWait_0", 1000, 500), ("SBatchConsumed_0", 1600, 1000), ("SBatchWait_1", 5000, 500),
                         ("SBatchConsumed_1", 5400, 1000), ("SBatchWait_2", 1400, 900), ("SBatchConsumed_2", 2400, 1000)]))
    outcome = harness.run([harness.ANALYZE, "import", tmp_path / "logs", "-o", tmp_path / "x.lotus"])
    assert outcome.code == 0
    assert [line for line in outcome.stderr.decode().splitlines() if str(path) in line] == [
        f"lotus-analyze: {path}:4: batch 1 is consumed 100 ns before its wait (line 3) has ended; its consumption is left out",
        f"lotus-analyze: {path}:5: batch 2 is waited for 200 ns before batch 0 (line 1) is consumed, and one thread waits for one "
        "batch at a time; its wait is left out"]


def test_a_record_of_another_time_changes_nothing(tmp_path):
    random_logs(tmp_path / "good", 3, batches=20)
    random_logs(tmp_path / "odd", 3, batches=20)
    worker = tmp_path / "odd/x_worker_pid_12"
    odd = ["SA,5,5", "SExtra,1700000000012000000,500,7"]
    worker.write_text(f"{odd[0]}\n" + worker.read_text() + f"{odd[1]}\n")
    main = tmp_path / "odd/x_main_pid_11"
    main.write_text(main.read_text() + "SBatchQueued_9,7,1000\n")
    analyze("import", tmp_path / "good", "-o", tmp_path / "good.lotus")
    outcome = harness.run([harness.ANALYZE, "import", tmp_path / "odd", "-o", tmp_path / "odd.lotus"])
    told = outcome.stderr.decode()
    assert f"{worker}:1: 'SA,5,5' is left out: expected START_NS within a year" in told
    assert f"{worker}:62: 'SExtra,1700000000012000000,500,7' is left out: expected NAME,START_NS,DURATION_NS" in told
    assert f"{main}:41: 'SBatchQueued_9,7,1000' is left out" in told and "3 lines of the logs are left out" in told
    for table in TABLES:
        assert rows(table, tmp_path / "good.lotus") == rows(table, tmp_path / "odd.lotus")


def test_two_runs_on_two_levels(tmp_path):
    random_logs(tmp_path / "logs", 1, batches=5)
    random_logs(tmp_path / "logs/epoch_0", 2, batches=5)
    message = analyze("import", tmp_path / "logs", "-o", tmp_path / "x.lotus", code=1)
    assert f"{tmp_path / 'logs'}: holds logs beside those of epoch_0, another run's" in message


def test_logs_are_never_replaced(tmp_path):
    random_logs(tmp_path / "logs", 1, batches=5)
    log_file = tmp_path / "logs/x_main_pid_11"
    before = log_file.read_bytes()
    assert "is one of the logs" in analyze("import", "--force", tmp_path / "logs", "-o", log_file, code=2)
    assert log_file.read_bytes() == before
    analyze("import", tmp_path / "logs", tmp_path / "logs", "-o", tmp_path / "x.lotus")  # named twice, read once
    assert rows("waits", tmp_path / "x.lotus")[0]["waits"] == 5


@pytest.mark.parametrize("cell", ["-1", "nan", "inf", "x"])
def test_counter_that_is_no_number(cell, tmp_path):
    random_logs(tmp_path / "logs", 1, batches=5)
    table = tmp_path / "uarch.csv"
    table.write_text(f"Function,CPU Time\nf,1\ng,{cell}\n")
    message = analyze("import", tmp_path / "logs", "--uarch", table, "-o", tmp_path / "x.lotus", code=1)
    assert f"{table}:3: '{cell}' in column 'CPU Time' is no number from 0 on" in message
    assert "is a directory; name a mapping file" in analyze("import", tmp_path / "logs", "--mapping", tmp_path, "-o",
                                                            tmp_path / "x.lotus", code=1)


def test_columns_that_cannot_be_split(tmp_path):
    random_logs(tmp_path / "logs", 1, batches=5)
    table = tmp_path / "uarch.csv"
    table.write_text("Function,CPU Time,CPI Rate,Bound(%)\nf,1,0.7,10\n")
    (tmp_path / "map.json").write_text(json.dumps({"op_to_func": {"A": ["f|"]}}))
    outcome = harness.run([harness.ANALYZE, "import", tmp_path / "logs", "--uarch", table, "--mapping", tmp_path / "map.json", "-o",
                           tmp_path / "x.lotus"])
    assert outcome.code == 0
    for name, why in (("CPI Rate", "it is a ratio"), ("Bound(%)", "no column 'Clockticks'")):
        assert re.search(f"{re.escape(str(table))}:1: column '{re.escape(name)}' is left out: .*{why}", outcome.stderr.decode())
    assert {row["counter"] for row in rows("counters", tmp_path / "x.lotus")} == {"CPU Time"}


def test_runs_of_one_name_are_called_by_their_directories(tmp_path):
    for place in ("one", "two"):
        random_logs(tmp_path / place / "b4_gpu1", 1, batches=5)
    random_logs(tmp_path / "two/b8_gpu1", 1, batches=5)
    analyze("import", tmp_path / "one", tmp_path / "two", "-o", tmp_path / "all")
    assert {path.name for path in (tmp_path / "all").iterdir()} == {"one_b4_gpu1.lotus", "two_b4_gpu1.lotus", "b8_gpu1.lotus"}


def test_counters_of_no_operation(tmp_path):
    random_logs(tmp_path / "b4_gpu1", 1)
    (tmp_path / "uarch.csv").write_text("Function,Module,CPU Time,Clockticks,Bound(%)\nf,lib.so,1,1000,10\n")
    analyze("import", tmp_path / "b4_gpu1", "--uarch", tmp_path / "uarch.csv", "-o", tmp_path / "x.lotus")
    assert "--mapping JSON" in analyze("figure", "6f", tmp_path / "x.lotus", "-o", tmp_path / "f", code=1)
    message = analyze("figure", "6g", tmp_path / "x.lotus", "-o", tmp_path / "g", code=1)
    assert "no second counter beside Bound(%)" in message
    message = analyze("figure", "6e", tmp_path / "x.lotus", "--counter", "IPC", "-o", tmp_path / "e", code=2)
    assert "--counter IPC: no such counter; there are: CPU Time, Clockticks, Bound(%)" in message


def test_table_of_cpu_time_alone(tmp_path):
    random_logs(tmp_path / "b4_gpu1", 1)
    (tmp_path / "uarch.csv").write_text("Function,CPU Time\nf,1\n")
    analyze("import", tmp_path / "b4_gpu1", "--uarch", tmp_path / "uarch.csv", "-o", tmp_path / "x.lotus")
    assert "no counter but CPU Time" in analyze("figure", "6e", tmp_path / "x.lotus", "-o", tmp_path / "e", code=1)


def test_mapping_and_counters(tmp_path):
    random_logs(tmp_path / "b4_gpu1", 1)
    mapping = {"op_to_func": {"A": ["f|lib.so", "g|lib.so"], "B": ["g|lib.so"]}, "common_funcs_to_op": {"g|lib.so": ["A", "B"]}}
    (tmp_path / "map.json").write_text(json.dumps(mapping))
    (tmp_path / "uarch.csv").write_text("Function,Module,CPU Time,Clockticks,Bound(%),Retired\nf,lib.so,1,1000,10,7\ng,lib.so,2,2000,50,80\n")
    trace = tmp_path / "x.lotus"
    analyze("import", tmp_path / "b4_gpu1", "--mapping", tmp_path / "map.json", "--uarch", tmp_path / "uarch.csv", "-o", trace)
    assert json.loads(analyze("map", "--json", trace)) == mapping
    elapsed = {row["operation"]: row["sum_s"] for row in rows("ops", trace)}
    weight = elapsed["A"] / (elapsed["A"] + elapsed["B"])
    values = {(row["counter"], row["function"], row["operation"]): row["value"] for row in rows("counters", trace)}
    assert values == pytest.approx({("CPU Time", "f", "A"): 1, ("CPU Time", "g", "A"): 2 * weight, ("CPU Time", "g", "B"): 2 - 2 * weight,
                                    ("Clockticks", "f", "A"): 1000, ("Clockticks", "g", "A"): 2000 * weight,
                                    ("Clockticks", "g", "B"): 2000 - 2000 * weight, ("Bound(%)", "f", "A"): 100,
                                    ("Bound(%)", "g", "A"): 1000 * weight, ("Bound(%)", "g", "B"): 1000 - 1000 * weight,
                                    ("Retired", "f", "A"): 7, ("Retired", "g", "A"): 80 * weight,
                                    ("Retired", "g", "B"): 80 - 80 * weight})
    if has_matplotlib():
        for number in ("6e", "6f", "6g", "6h"):
            analyze("figure", number, trace, "-o", tmp_path / number)
            assert xml.dom.minidom.parse(str(tmp_path / f"{number}.svg"))
    (tmp_path / "unknown.json").write_text(json.dumps({"op_to_func": {"C": ["f|lib.so"]}}))
    message = analyze("import", tmp_path / "b4_gpu1", "--mapping", tmp_path / "unknown.json", "-o", tmp_path / "y.lotus", code=1)
    assert "no operation C; expected some of A, B" in message
    assert not (tmp_path / "y.lotus").exists()


KERNELS = [f"void at::native::(anonymous namespace)::loop<{kind}, {kind} const&>(std::function<{kind} (int)>, {kind}*)"
           for kind in ("float", "unsigned char")]


def test_kernels_are_told_apart_in_figures(tmp_path):
    """Names that differ behind a bracket, and the same name in two libraries, are a row each; tables shorten them alike."""
    random_logs(tmp_path / "b4_gpu1", 1)
    functions = [(KERNELS[0], "libtorch.so"), (KERNELS[1], "libtorch.so"), ("f(int)", "liba.so"), ("f(char)", "liba.so"), ("f(int)", "libb.so"),
                 ("pays $5 and $6", "libc.so")]
    with open(tmp_path / "uarch.csv", "w", newline="") as file:
        csv.writer(file).writerows([("Function", "Module", "CPU Time", "Retired"), *((*one, 1, 7) for one in functions)])
    trace = tmp_path / "x.lotus"
    analyze("import", tmp_path / "b4_gpu1", "--uarch", tmp_path / "uarch.csv", "-o", trace)
    for number in ("6c", "6e"):
        analyze("figure", number, trace, "-o", tmp_path / f"{number}.csv")
        with open(tmp_path / f"{number}.csv", newline="") as file:
            labels = {(row["function"], row["library"]): row["label"] for row in csv.DictReader(file)}
        assert set(labels) == set(functions) and len(set(labels.values())) == len(functions)
        assert labels[functions[0]] == "at::native::loop<float, float const&>" and labels[functions[-1]] == functions[-1][0]
        assert labels["f(char)", "liba.so"] == "f (liba.so)" and labels["f(int)", "liba.so"] == "f (liba.so) #2"
        assert labels["f(int)", "libb.so"] == "f (libb.so)"
        if has_matplotlib():
            analyze("figure", number, trace, "-o", tmp_path / number, "--force")
            assert xml.dom.minidom.parse(str(tmp_path / f"{number}.svg"))
    message = analyze("figure", "6d", trace, "-o", tmp_path / "6d", code=1)
    assert "no counter belongs to an operation: import it with `--mapping JSON`" in message and "Traceback" not in message


def test_damaged_line(tmp_path):
    random_logs(tmp_path / "logs", 1, batches=5)
    path = tmp_path / "logs/x_worker_pid_12"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:2], "what is this", *lines[2:]]) + "\n")
    outcome = harness.run([harness.ANALYZE, "import", tmp_path / "logs", "-o", tmp_path / "x.lotus"])
    assert outcome.code == 0
    assert f"{path}:3: 'what is this' is left out: expected NAME,START_NS,DURATION_NS" in outcome.stderr.decode()
    assert rows("waits", tmp_path / "x.lotus")[0]["waits"] == 5
    assert "--strict" in analyze("import", "--strict", tmp_path / "logs", "-o", tmp_path / "y.lotus", code=1)


def has_matplotlib():
    return any(subprocess.run([python, "-c", "import matplotlib"], capture_output=True).returncode == 0
               for python in ("python3", "/usr/bin/python3"))


def test_figures(copies, tmp_path):
    if not has_matplotlib():
        pytest.skip("python3-matplotlib is missing")
    for number in FIGURES:
        target = tmp_path / number
        traces = [copies.trace] if number in ("2", "6c", "6d") else [copies.trace, copies.back]
        analyze("figure", number, *traces, "-o", target)
        assert target.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
        picture = xml.dom.minidom.parse(str(target.with_suffix(".svg")))
        assert len(picture.getElementsByTagName("path")) > 10
        texts = re.findall("<!-- (.*?) -->", target.with_suffix(".svg").read_text())
        beside = {"5a": "batch, over all epochs", "5b": "% of the batches with at most this delay"}
        assert number not in beside or beside[number] in texts
        assert len(target.with_suffix(".csv").read_text().splitlines()) > 1
        assert "exists; give --force" in analyze("figure", number, *traces, "-o", target, code=2)


def test_figure_of_a_batch_out_of_order(tmp_path):
    if not has_matplotlib():
        pytest.skip("python3-matplotlib is missing")
    ms, begin = 1_000_000, 1_700_000_000_000_000_000
    made = {12: [(0, 0, 100), (2, 100, 150)], 13: [(1, 0, 20), (3, 20, 200)]}  # worker: batch, start, end in ms
    (tmp_path / "logs").mkdir()
    for worker, batches in made.items():
        rows_of = [(f"SBatchPreprocessed_{number}", begin + start * ms, (end - start) * ms) for number, start, end in batches]
        (tmp_path / f"logs/x_worker_pid_{worker}").write_text(
            log(row for name, start, ns in rows_of for row in [("SA", start, ns), (name, start, ns)]))
    waits = [(1, 25, 1000), (0, 0, 105 * ms), (2, 121, 30 * ms), (3, 160, 42 * ms)]
    consumed = {0: 110, 1: 120, 2: 152, 3: 205}
    (tmp_path / "logs/x_main_pid_11").write_text(
        log([(f"SBatchWait_{number}", begin + start * ms, ns) for number, start, ns in waits] +
            [(f"SBatchConsumed_{number}", begin + at * ms, 1000) for number, at in consumed.items()]))
    analyze("import", tmp_path / "logs", "-o", tmp_path / "x.lotus")
    analyze("figure", "3", tmp_path / "x.lotus", "-o", tmp_path / "three")
    with open(tmp_path / "three.csv", newline="") as file:
        found = {(row["kind"], row["batch"]): float(row["start_ms"]) for row in csv.DictReader(file)}
    assert found == {("preprocessed", "0"): 0, ("wait", "0"): 0, ("consumed", "0"): 110,
                     ("preprocessed", "1"): 0, ("wait", "1"): 25, ("consumed", "1"): 120}
    assert (tmp_path / "three.png").exists()


def test_figure_needs_matplotlib_and_says_so(copies, tmp_path):
    program = tmp_path / "bin/python3"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 9\n")
    program.chmod(0o755)
    outcome = harness.run([harness.ANALYZE, "figure", "6b", copies.trace, "-o", tmp_path / "x.svg"], PATH=program.parent)
    assert outcome.code == 1
    assert b"no picture was drawn" in outcome.stderr and str(tmp_path / "x.csv").encode() in outcome.stderr
    assert (tmp_path / "x.csv").exists() and not (tmp_path / "x.svg").exists()


def test_what_there_is_not(copies, tmp_path):
    assert "there are mapping (I), ops (II)" in analyze("table", "nonsense", copies.trace, code=2)
    assert "there are 2 (timeline)" in analyze("figure", "9", copies.trace, "-o", tmp_path / "x", code=2)
    assert "import --mapping JSON --uarch CSV" in analyze("figure", "6e", copies.trace, "-o", tmp_path / "x", code=1)
    assert "is not empty" in analyze("export", copies.logs, copies.trace, code=1)
