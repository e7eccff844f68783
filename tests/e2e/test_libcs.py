"""A library in LD_PRELOAD must load everywhere: with other C libraries than glibc, too, where it stays off."""
import shutil
import subprocess

import pytest

import harness

NATIVE = harness.PROGRAMS / "native"
COMPILERS = ["gcc", "musl-gcc"]


@pytest.fixture(params=COMPILERS)
def compiled(request, tmp_path):
    """compiled(name): a program of tests/programs/native, for glibc and for musl."""
    compiler = shutil.which(request.param)
    if compiler is None:
        pytest.skip(f"no {request.param} here")

    def build(name, *options):
        program = tmp_path / name
        subprocess.run([compiler, "-Wall", "-Werror", *options, "-o", program, NATIVE / f"{name}.c"], check=True)
        return program

    build.musl = request.param == "musl-gcc"
    return build


def test_programs_do_the_same(compiled, tracer):
    program = compiled("at_work", "-pthread")
    bare = harness.run([program])
    traced = harness.run([program], **tracer.environment())
    assert bare.code == 5 and len(bare.stdout.splitlines()) == 8 and bare.stderr == b""
    assert (traced.code, traced.stdout, traced.stderr) == (bare.code, bare.stdout, bare.stderr)
    assert tracer.left() == []


def test_an_interpreter_is_told_that_musl_is_not_traced(compiled, tracer):
    """With glibc it is refused as well, as it is no CPython: the library is in both."""
    program = compiled("interpreter", "-rdynamic")
    bare = harness.run([program])
    assert bare.code == 1 and bare.stdout == b"hook: 0\n"
    traced = harness.run([program], **tracer.environment())
    assert (traced.code, traced.stdout) == (0, b"hook: 1\nimported json\nimported torch\n")
    assert len(traced.lotus_lines) == 1
    assert ("the C library is not glibc" in traced.lotus_lines[0]) == compiled.musl
    assert tracer.left() == []
