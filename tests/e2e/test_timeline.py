"""The timelines of a real program are valid for chrome://tracing and ui.perfetto.dev."""
import json
from decimal import Decimal

import checks
import event_format
import harness
import perfetto_reader


def asked(run, *options, code=0):
    outcome = harness.run([harness.ANALYZE, "timeline", *options, run.trace.path])
    assert outcome.code == code, outcome.stderr
    return outcome


def chrome(run, *options):
    text = asked(run, "-o", "-", *options).stdout
    return json.loads(text, parse_float=Decimal)["traceEvents"]


def perfetto(run, *options):
    return perfetto_reader.Perfetto(asked(run, "--format", "perfetto", "-o", "-", *options).stdout)


def classified(pair, photos):
    return pair("classify", harness.program("classify", data=photos))


def test_chrome(pair, photos):
    run = classified(pair, photos)
    events = chrome(run)
    event_format.check(events)
    spans = [event for event in events if event["ph"] == "X"]
    names = {event["args"]["name"] for event in events if event["ph"] == "M" and event["name"] == "process_name"}
    assert any("worker 0" in name for name in names) and any("train" in name for name in names)
    batches = {f"SBatch{what}_{number}" for what in ("Preprocessed", "Wait", "Consumed") for number in range(24)}
    assert batches <= {event["name"] for event in spans}
    counts = {name: sum(event["name"] == name for event in spans) for name in run.truth.ops}
    assert counts == {name: len(calls) for name, calls in run.truth.ops.items()}


def test_arrows_go_from_the_end_of_preprocessing_to_consumption(pair, photos):
    run = classified(pair, photos)
    events = chrome(run, "--coarse")
    arrows = event_format.check(events)
    assert len(arrows) == len(checks.rows(run))
    preprocessed = {event["ts"] + event["dur"]: event for event in events
                    if event["ph"] == "X" and event["name"].startswith("SBatchPreprocessed_")}
    for arrow, _ in arrows.values():
        nearest = min(preprocessed, key=lambda end: abs(end - arrow["ts"]))
        assert abs(nearest - arrow["ts"]) < 1  # µs
        assert preprocessed[nearest]["pid"] == arrow["pid"]
    assert not any(event["name"] == "ToTensor" for event in events)


def test_out_of_order_batches_cut_into_no_other_slice(pair, photos):
    run = pair("out_of_order", harness.program("out_of_order", data=photos))
    assert run.trace.report["wait"]["out_of_order"] > 0
    event_format.check(chrome(run))


def test_both_formats_have_the_totals_of_the_report(pair, photos):
    run = classified(pair, photos)
    report = run.trace.report
    native, events = perfetto(run), chrome(run)
    totals = {op["name"]: op["total_s"] for op in report["ops"]}
    totals["SBatchPreprocessed_"] = report["batches"]["total_s"]
    totals["SBatchWait_"] = report["wait"]["total_s"]
    for name, total_s in totals.items():
        ns = round(total_s * 1e9)
        assert native.total(lambda s, start=name: s.name.startswith(start)) == ns, name
        assert event_format.total_ns(events, lambda e, start=name: e["name"].startswith(start)) == ns, name
    for op in report["ops"]:
        assert sum(s.name == op["name"] and s.category == "op" for s in native.slices) == op["count"]


def test_perfetto_tracks_arrows_and_queue(pair, photos):
    run = classified(pair, photos)
    native = perfetto(run)
    begun = [arrow for s in native.slices for arrow in s.arrows_from]
    ended = [arrow for s in native.slices for arrow in s.arrows_to]
    assert sorted(begun) == sorted(ended) and len(set(begun)) == len(checks.rows(run))
    for s in native.slices:
        pid, process = native.process_of(s)
        assert str(pid) in process
        if s.arrows_from:
            assert "worker" in process and s.name.startswith("SBatchPreprocessed_")
    depths = [value for track, _, value in native.counters
              if native.tracks[track].name == "queue depth (loader 1)"]
    assert depths and max(depths) == max(record["outstanding"] for kind in ("queued", "received")
                                         for record in run.trace.named(kind))
    paths = {s.facts["path"] for s in native.slices if s.name == "sample"}
    assert paths == {str(path) for path in photos.rglob("*.jp*g")}
    coarse = perfetto(run, "--coarse")
    assert {s.name.split("_")[0] for s in coarse.slices} == {"SBatchPreprocessed", "SBatchWait", "SBatchConsumed"}


def profile_of(run, form, path):
    """Writes a profile of the first wait as PyTorch's profiler would; `form`: old or new."""
    row = next(row for row in run.trace.batches if row["batch"] == 0)
    base = 1_600_000_000_000_000_000 if form == "new" else 0
    pid = row["pid"]

    def micros(ns):
        return (ns - base) // 1000 + 0.5

    events = [{"ph": "M", "name": "thread_name", "pid": pid, "tid": pid, "ts": micros(row["wait_start_ns"]),
               "args": {"name": "thread (python)"}},
              {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": pid, "tid": pid,
               "ts": micros(row["wait_start_ns"]), "dur": row["wait_ns"] // 1000,
               "args": {"External id": 1, "Input Dims": [[2, 3]]}},
              {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": micros(row["consumed_at_ns"]),
               "dur": 3, "args": {"correlation": 5}}]
    head = {"baseTimeNanoseconds": base} if form == "new" else {}
    path.write_text(json.dumps({"schemaVersion": 1, **head, "traceEvents": events}))
    return row


def test_a_profile_of_either_form_is_merged_on_our_clock(pair, photos, tmp_path):
    run = classified(pair, photos)
    for form in ("old", "new"):
        path = tmp_path / f"{form}.json"
        row = profile_of(run, form, path)
        events = chrome(run, "--merge", path)
        wait = next(event for event in events if event["name"] == "SBatchWait_0")
        mine = next(event for event in events if event["name"] == "aten::mm")
        assert abs(mine["ts"] - wait["ts"]) <= 1 and mine["pid"] == wait["pid"]
        assert mine["args"] == {"External id": 1, "Input Dims": [[2, 3]]}
        lane = {(event["pid"], event["tid"]): event["args"]["name"] for event in events
                if event["name"] == "thread_name"}
        assert lane[mine["pid"], mine["tid"]] == "PyTorch profiler: thread (python)"
        assert lane[mine["pid"], mine["tid"]] != lane[wait["pid"], wait["tid"]]
        assert next(event for event in events if event["name"] == "gemm")["pid"] == 0
        native = perfetto(run, "--merge", path)
        slices = {s.name: s for s in native.slices}
        assert abs(slices["aten::mm"].start - row["wait_start_ns"]) <= 1000
        assert native.process_of(slices["aten::mm"]) == native.process_of(slices["SBatchWait_0"])
        assert native.process_of(slices["gemm"]) != native.process_of(slices["SBatchWait_0"])


def test_a_profile_of_another_run_is_refused(pair, photos, tmp_path):
    run = classified(pair, photos)
    path = tmp_path / "profile.json"
    path.write_text('[{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1600000000000000, "dur": 5}]')
    assert b"is of another run" in asked(run, "-o", "-", "--merge", path, code=1).stderr
    path.write_text("LOTUS")
    assert b"is no JSON at byte 1" in asked(run, "-o", "-", "--merge", path, code=1).stderr


def test_written_to_a_file_beside_the_trace_and_never_over_another(pair, photos):
    run = classified(pair, photos)
    asked(run)
    written = run.trace.path.with_name(run.trace.path.name + ".json")
    assert json.loads(written.read_text())["traceEvents"]
    assert b"--force" in asked(run, code=2).stderr
    asked(run, "--force")
    asked(run, "--format", "perfetto")
    assert perfetto_reader.Perfetto(written.with_suffix(".pftrace").read_bytes()).slices
