"""The timeline of a real program is what chrome://tracing and ui.perfetto.dev read."""
import json

import checks
import harness


def timeline(trace, *options):
    outcome = harness.run([harness.ANALYZE, "timeline", "-o", "-", *options, trace.path])
    assert outcome.code == 0, outcome.stderr
    return json.loads(outcome.stdout)["traceEvents"]


def test_timeline(pair, photos, tmp_path):
    run = pair("classify", harness.program("classify", data=photos))
    events = timeline(run.trace)
    spans = [event for event in events if event["ph"] == "X"]
    for event in spans:
        assert event["dur"] >= 0 and event["ts"] >= 0
    names = {event["args"]["name"] for event in events if event["ph"] == "M" and event["name"] == "process_name"}
    assert any("worker 0" in name for name in names) and any("train" in name for name in names)
    batches = {f"SBatch{what}_{number}" for what in ("Preprocessed", "Wait", "Consumed") for number in range(24)}
    assert batches <= {event["name"] for event in spans}
    counts = {name: sum(event["name"] == name for event in spans) for name in run.truth.ops}
    assert counts == {name: len(calls) for name, calls in run.truth.ops.items()}


def test_arrows_go_from_the_end_of_preprocessing_to_consumption(pair, photos):
    run = pair("classify", harness.program("classify", data=photos))
    events = timeline(run.trace, "--coarse")
    starts = {event["id"]: event for event in events if event["ph"] == "s"}
    ends = {event["id"]: event for event in events if event["ph"] == "f"}
    assert len(starts) == len(ends) == len(checks.rows(run)) and set(starts) == set(ends)
    assert all(starts[key]["ts"] <= ends[key]["ts"] for key in starts)
    preprocessed = {event["ts"] + event["dur"]: event for event in events
                    if event["ph"] == "X" and event["name"].startswith("SBatchPreprocessed_")}
    for arrow in starts.values():
        nearest = min(preprocessed, key=lambda end: abs(end - arrow["ts"]))
        assert abs(nearest - arrow["ts"]) < 1  # µs
        assert preprocessed[nearest]["pid"] == arrow["pid"]
    assert not any(event["name"] == "ToTensor" for event in events)


def test_written_to_a_file_beside_the_trace(pair, photos):
    run = pair("classify", harness.program("classify", data=photos))
    outcome = harness.run([harness.ANALYZE, "timeline", run.trace.path])
    assert outcome.code == 0
    written = run.trace.path.with_name(run.trace.path.name + ".json")
    assert json.loads(written.read_text())["traceEvents"]
