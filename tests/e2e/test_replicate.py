"""bench/replicate says before its first step all that it lacks, and tells intervals that hold what they promise."""
import random
import statistics
import subprocess
import sys

import harness

BENCH = harness.SOURCE / "bench"


def test_everything_that_is_missing_is_said_at_once(tmp_path):
    outcome = subprocess.run(["/usr/bin/python3", BENCH / "replicate", "--quick", "--build", tmp_path / "none", "--output", tmp_path / "out"],
                             capture_output=True, text=True)
    assert outcome.returncode == 1
    for path in ("lib/liblotus.so", "bin/lotus-collector", "bin/lotus-analyze", "share/lotus/figures/draw.py"):
        assert f"{tmp_path / 'none' / path} is missing" in outcome.stderr
    assert not list((tmp_path / "out").rglob("*.lotus*"))


def test_interval_of_a_median(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(BENCH / "replication"), *sys.path])
    import experiments

    assert experiments.median_interval([3, 1, 2]) == (1, 3, 0.75)
    chance, median = random.Random(1), 1.0
    inside = 0
    for _ in range(2000):
        low, high, confidence = experiments.median_interval([chance.expovariate(0.6931471805599453 / median) for _ in range(9)])
        inside += low <= median <= high
    assert confidence == 1 - 2 * (1 + 9) / 2 ** 9
    assert abs(inside / 2000 - confidence) < 0.02, statistics.median([low, high])
