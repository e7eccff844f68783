"""Two copies of the library in one process: the first that LD_PRELOAD names records, the other is quiet."""
import shutil

import pytest

import harness


@pytest.fixture
def copies(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name / "lib").mkdir(parents=True)
        (tmp_path / name / "bin").mkdir()
        shutil.copy(harness.LIBRARY, tmp_path / name / "lib")
        shutil.copy(harness.COLLECTOR, tmp_path / name / "bin")
    return [tmp_path / name / "lib/liblotus.so" for name in ("one", "two")]


def test_one_records_and_the_other_is_quiet(copies, tracer, texts):
    bare = harness.run(harness.pure_program(data=texts))
    command = ["env", f"LD_PRELOAD={copies[0]} {copies[1]}", *harness.pure_program(data=texts)]
    outcome, path = tracer.run(command, LD_PRELOAD=None)
    assert outcome.visible == bare.visible and outcome.lotus_lines == [f"lotus: tracing to {path}"]
    harness.wait_until(lambda: harness.is_complete(path), "the collector")
    alone = tracer.trace(harness.pure_program(data=texts))[1]
    both = harness.Trace(path)
    assert both.report["batches"]["count"] == alone.report["batches"]["count"] > 0
    assert {op["name"]: op["count"] for op in both.report["ops"]} == {op["name"]: op["count"] for op in alone.report["ops"]}
