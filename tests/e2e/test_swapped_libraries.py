"""A forked worker inherits its parent's list of loaded libraries, which may be out of date."""
import shutil
import subprocess

import pytest

import harness
import map_reader

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc here")

NAMES = ["before", "after", "late"]


@pytest.fixture(scope="module")
def outcome_and_map(tmp_path_factory, tracers):
    directory = tmp_path_factory.mktemp("swapped")
    for name in NAMES:
        subprocess.run(["gcc", "-shared", "-fPIC", "-O1", f"-DFUNCTION=burn_{name}", "-o", directory / f"lib{name}.so",
                        harness.PROGRAMS / "native/burn.c"], check=True)
    tracers.append(harness.Tracer(directory))
    path = directory / "swapped.lotus"
    outcome, _ = tracers[-1].trace([*harness.program("swapped_libraries"), directory], output=path, LOTUS_SAMPLE_HZ=999)
    assert outcome.code == 0, outcome.stderr.decode()
    return outcome, map_reader.read(path)


def test_the_second_library_is_where_the_first_one_was(outcome_and_map):
    outcome, _ = outcome_and_map
    before, after = outcome.stdout.split()
    assert before == after


@pytest.mark.parametrize("name", NAMES)
def test_samples_belong_to_the_library_that_was_there(outcome_and_map, name):
    _, found = outcome_and_map
    op = found.ops[name.capitalize()]
    burning = {function.name: function for function in op.functions if function.name.startswith("burn_")}
    assert set(burning) == {f"burn_{name}"}
    assert burning[f"burn_{name}"].library == f"lib{name}.so"
    # The rest is the loader's and Python's: on a busy machine loading takes a while. None may be another library's of ours, or nobody's.
    assert burning[f"burn_{name}"].share > 0.5
    ours = {f"lib{other}.so" for other in NAMES}
    assert not any(function.samples for function in op.functions
                   if function.library is None or (function.library in ours and function.library != f"lib{name}.so"))
