"""Programs that load Python as a library while they run: it is traced from then on."""
import pathlib
import subprocess

import pytest

import checks
import harness

# From a global scope, as extension modules of Debian's need it, and from a scope of its own.
CASES = {"global": [], "spawned": ["--start-method", "spawn"], "local": ["--workers", "0"]}


def library_of(python):
    """(libpython, its home) of an interpreter; None if it has none."""
    code = "import sys, sysconfig; v = sysconfig.get_config_var; print(v('LIBDIR'), v('INSTSONAME'), sys.base_prefix)"
    directory, name, home = subprocess.check_output([python, "-c", code], text=True).split()
    found = [path for path in (pathlib.Path(directory, name), *pathlib.Path(directory).glob(f"*/{name}*")) if path.exists()]
    return (found[0], home) if found and ".so" in found[0].name else None


@pytest.fixture(scope="module")
def embeds(tmp_path_factory):
    program = tmp_path_factory.mktemp("embeds") / "embeds"
    source = harness.PROGRAMS / "native/embeds.c"
    subprocess.run(["gcc", "-Wall", "-Werror", "-o", program, source, "-ldl"], check=True)
    return program


@pytest.mark.parametrize("case", sorted(CASES))
def test_truth(case, embeds, pair, texts):
    found = library_of(harness.PYTHON)
    if found is None:
        pytest.skip(f"{harness.PYTHON} has no shared library (libpython3.11)")
    library, home = found
    command = harness.program("pure", *CASES[case], data=texts)[1:]
    scope = "local" if case == "local" else "global"
    run = pair(f"embedded-{case}", [embeds, library, scope, *command], PYTHONPATH=harness.FAKE_TORCH, PYTHONHOME=home,
               PYTHONEXECUTABLE=harness.PYTHON)
    checks.everything(run)


def test_the_trace_has_the_programs_name(embeds, tracer, tmp_path):
    library, home = library_of(harness.PYTHON) or pytest.skip(f"{harness.PYTHON} has no shared library (libpython3.11)")
    script = tmp_path / "plain.py"
    script.write_text("from torch.utils.data import DataLoader\nprint(len(list(DataLoader(list(range(4))))))\n")
    outcome = harness.run([embeds, library, "global", script], cwd=tmp_path,
                          **tracer.environment(PYTHONPATH=harness.FAKE_TORCH, PYTHONHOME=home))
    assert (outcome.code, outcome.stdout) == (0, b"4\n"), outcome.stderr
    assert outcome.lotus_lines == [f"lotus: tracing to {tmp_path}/lotus-embeds-{outcome.pid}.lotus"]
    tracer.wait_for_collector()
