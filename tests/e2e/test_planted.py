"""Pipelines with a known bottleneck: the verdict names it, and the first advice addresses it."""
import json

import pytest

import harness

CAUSES = {
    "storage": ("storage", "Loader"),
    "op": ("op", "Noise"),
    "workers": ("workers", "too few workers"),
    "slow_worker": ("slow_worker", "worker 1"),
    "training": ("train_step", "nothing is to be gained"),
    "balanced": ("none", "nothing to gain"),
    "startup": ("persistent", "persistent_workers=True"),
}


@pytest.fixture(scope="module", params=CAUSES)
def planted(request, tmp_path_factory, photos, tracers):
    tracer = harness.Tracer(tmp_path_factory.mktemp(request.param))
    tracers.append(tracer)
    command = harness.program("planted", "--situation", request.param, data=photos)
    outcome, trace = tracer.trace(command)
    assert outcome.code == 0, outcome.stderr
    return request.param, trace


def test_cause_and_first_advice(planted):
    situation, trace = planted
    verdict = trace.report["verdict"]
    action, words = CAUSES[situation]
    assert verdict["cause"] == situation, verdict
    first = verdict["advice"][0]
    assert first["action"] == action, verdict
    assert words in first["message"]
    assert first["message"] in verdict["message"]
    assert "- " + first["message"] in " ".join(trace.text.split())


def test_advice_is_ranked_and_consistent(planted):
    _, trace = planted
    advice = trace.report["verdict"]["advice"]
    gains = [row["gain_percent"] for row in advice[1:]]
    assert gains == sorted(gains, reverse=True)
    for row in advice:
        low, high = row["images_per_s_interval"]
        assert low <= row["images_per_s"] <= high
        low, high = row["waited_percent_interval"]
        assert 0 <= low <= row["waited_percent"] <= high <= 100


def test_whatif_agrees_with_the_report(planted):
    """The replay's baseline equals the report, and a repeated question gets the same answer."""
    _, trace = planted
    command = [harness.ANALYZE, "whatif", "--json", "--workers", "4", trace.path]
    first, second = harness.run(command), harness.run(command)
    assert first.code == 0, first.stderr
    assert first.stdout == second.stdout
    answer = json.loads(first.stdout)
    verdict = trace.report["verdict"]
    assert abs(answer["recorded"]["waited_percent"] - verdict["waited_percent"]) < 0.01
    assert abs(answer["recorded"]["images_per_s"] - verdict["images_per_s"]) < 0.01
    assert answer["asked"]["workers"] == 4
    unchanged = harness.run([harness.ANALYZE, "whatif", "--json", trace.path])
    answer = json.loads(unchanged.stdout)
    assert answer["asked"]["images_per_s"] == answer["replayed"]["images_per_s"]


def test_diff_agrees_with_the_report(planted):
    _, trace = planted
    outcome = harness.run([harness.ANALYZE, "diff", "--json", trace.path, trace.path])
    before, after = json.loads(outcome.stdout)["training"]["images_per_s"]
    assert before == after
    assert abs(before - trace.report["verdict"]["images_per_s"]) < 0.01


def test_wrong_questions(planted):
    _, trace = planted
    cases = {
        ("--op", "Nothing=0.5x"): (2, b"there are "),
        ("--op", "Loader"): (2, b"NAME=0.5x"),
        ("--op", "Loader=fast"): (2, b"give a factor"),
        ("--train-step", "-1ms"): (2, b"give a factor"),
        ("--loader", "77"): (2, b"there are 1"),
        ("--workers", "-1"): (2, b"--workers"),
    }
    for options, (code, words) in cases.items():
        outcome = harness.run([harness.ANALYZE, "whatif", *options, trace.path])
        assert outcome.code == code, (options, outcome.stderr)
        assert words in outcome.stderr + outcome.stdout, (options, outcome.stderr)
