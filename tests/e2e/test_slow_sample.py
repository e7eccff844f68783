"""A file that loads far slower than the others is the first of the slowest samples, with its path."""
import pathlib
import shutil

import harness

NASTY = "very slow \udcff\u00e9\n file.jpeg"  # not UTF-8, and with a line break in it


def planted(directory, photos, name):
    shutil.copytree(photos, directory)
    path = pathlib.Path(directory) / "kite" / name
    shutil.copy(next((directory / "kite").glob("*.jpeg")), path)
    return path


def test_slow_file_comes_first(pair, photos, tmp_path):
    path = planted(tmp_path / "photos", photos, "slow.jpeg")
    run = pair("slow", harness.program("slow_file", data=tmp_path / "photos"))
    slowest = run.trace.report["slow_samples"]
    assert slowest[0]["path"] == str(path)
    assert slowest[0]["op"] == "Loader"
    assert slowest[0]["ms"] >= 2000  # the loader sleeps for 2 s
    assert [sample["ms"] for sample in slowest] == sorted((sample["ms"] for sample in slowest), reverse=True)
    assert "slow.jpeg" in run.trace.text
    files = {str(file) for file in (tmp_path / "photos").glob("*/*.jpeg")}
    assert {sample["path"] for sample in slowest} <= files


def test_name_that_is_no_text(pair, photos, tmp_path):
    planted(tmp_path / "photos", photos, NASTY)
    run = pair("nasty", harness.program("slow_file", data=tmp_path / "photos"))
    path = run.trace.report["slow_samples"][0]["path"]
    assert pathlib.PurePath(path).name.startswith("very slow ")
    text = harness.run([harness.ANALYZE, "report", run.trace.path], COLUMNS=250).stdout.decode()
    line = next(line for line in text.splitlines() if "very slow" in line)
    assert line.rstrip().endswith("very slow \\xff\u00e9\\n file.jpeg")
