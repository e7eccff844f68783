"""A worker is killed inside an operation: the report begins with that operation."""
import shutil

from PIL import Image

import harness


def test_killed_in_an_operation(pair, photos, tmp_path):
    data = tmp_path / "photos"
    shutil.copytree(photos, data)
    path = data / "kite" / "kite_0003.jpeg"
    Image.open(path).resize((2400, 1800)).save(path)
    files = sorted(data.glob("*/*.jpeg"))  # in ImageFolder's order
    run = pair("killed", harness.program("cut_short", data=data))
    assert run.bare.code == run.traced.code == 1
    assert b"DataLoader worker (pid" in run.traced.stderr
    [cut] = [row for row in run.trace.report["cut_short"] if row["in"] == "Greedy"]
    index = files.index(path)
    batch = index // 8
    assert (cut["in"], cut["batch"], cut["index"], cut["path"]) == ("Greedy", batch, index, str(path))
    assert cut["worker"] == batch % 2
    assert cut["pid"] in {process["pid"] for process in run.trace.info["processes"]}
    first_screen = run.trace.text.splitlines()[:14]
    assert any("Greedy" in line and f"worker {cut['worker']}" in line for line in first_screen)


def test_whole_run_has_none(pair, photos):
    run = pair("whole", harness.program("classify", "--epochs", 2, data=photos))
    assert run.trace.report["cut_short"] == []
    assert "Cut short" not in run.trace.text
