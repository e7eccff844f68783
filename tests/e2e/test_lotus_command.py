"""The command `lotus` of the Python package, from the tree of the wheel in the build directory."""
import os
import signal
import subprocess
import sys

import pytest

import harness

TREE = harness.BUILD / "wheel"
PACKAGE = TREE / "lotus_trace"
LIBRARY = PACKAGE / "lib/liblotus.so"
LOTUS = [harness.PYTHON, "-m", "lotus_trace"]
# Says what it got, and ends as it is told.
PROGRAM = "import os, sys; print(os.environ['LD_PRELOAD'], *sys.argv[1:]); os.write(2, b'err'); sys.exit(6)"


@pytest.fixture
def lotus(tracer):
    """lotus(words…): runs the command; programs are traced into directories of this test."""
    def run(*words, **more):
        return harness.run([*LOTUS, *words], cwd=tracer.directory, PYTHONPATH=TREE, LOTUS_DIR=tracer.segments, **more)

    run.directory, run.segments = tracer.directory, tracer.segments
    return run


def training(data, *options):
    return [str(word) for word in harness.pure_program(*options, data=data)]


def test_run_prints_the_report_and_leaves_the_output_alone(lotus, texts):
    bare = harness.run(training(texts))
    traced = lotus("run", "--output", "mine.lotus", "--", *training(texts))
    assert (traced.code, traced.stdout) == (bare.code, bare.stdout)
    text = traced.stderr.decode()
    trace = lotus.directory / "mine.lotus"
    assert f"lotus: tracing to {trace}\n" in text and f"The whole report: lotus report {trace}\n" in text
    assert "samples/s" in text and "What to change" in text
    assert harness.is_complete(trace)
    assert lotus("report", "--json", trace).stdout == harness.run([harness.ANALYZE, "report", "--json", trace]).stdout


def test_run_finds_the_trace_that_it_did_not_name(lotus, texts):
    """Also of a program that changes its directory, and beside other traces."""
    (lotus.directory / "other.lotus").write_bytes(b"another one")
    (lotus.directory / "below").mkdir()
    traced = lotus("run", "--no-stacks", "--", "sh", "-c", 'cd below && exec "$@"', "sh", *training(texts))
    made = [path for path in lotus.directory.glob("*.lotus") if path.name != "other.lotus"]
    assert traced.code == 0 and len(made) == 1
    assert f"The whole report: lotus report {made[0]}\n" in traced.stderr.decode()


@pytest.mark.parametrize("words, hz", [(["--hz", "97"], "97"), (["--no-stacks"], "0"), ([], None)])
def test_options_of_run_are_settings(lotus, words, hz):
    told = lotus("run", *words, "--", harness.PYTHON, "-c", "import os; print(os.environ.get('LOTUS_SAMPLE_HZ'))")
    assert told.code == 0 and told.stdout.decode().strip() == str(hz)


def test_run_keeps_what_is_preloaded_and_takes_the_place_of_another_copy(lotus, tmp_path):
    other = tmp_path / "libother.so"
    subprocess.run(["gcc", "-shared", "-o", other, "-x", "c", "/dev/null"], check=True)
    told = lotus("run", "--", harness.PYTHON, "-c", PROGRAM, "one", "--two", LD_PRELOAD=f"{harness.LIBRARY} {other}")
    assert told.code == 6
    assert told.stdout.decode().split() == [f"{LIBRARY}:{other}", "one", "--two"]
    assert b"no trace was made" in told.stderr


def test_run_without_dashes_and_a_script_without_interpreter(lotus, tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import sys; print(sys.executable, sys.argv[1:]); sys.exit(3)")
    told = lotus("run", script, "--epochs", "2")
    assert told.code == 3 and told.stdout.decode().endswith(" ['--epochs', '2']\n")


def test_run_ends_as_the_program_does(lotus):
    assert lotus("run", "--", "sh", "-c", "kill -TERM $$").code == -signal.SIGTERM
    assert lotus("run", "--", "sh", "-c", "kill -KILL $$").code == -signal.SIGKILL
    assert lotus("run", "--", "/no/such/program").code == 127
    assert lotus("run", "--", "/etc/passwd").code == 126
    assert lotus("run", "--").code == 2
    assert lotus("run").code == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGUSR1])
def test_signals_are_passed_on_once(tracer, number):
    code = ("import signal, sys, time\n"
            "got = []\n"
            "signal.signal(int(sys.argv[1]), lambda *_: got.append(1))\n"
            "print('ready', flush=True)\n"
            "while not got: time.sleep(0.01)\n"
            "time.sleep(0.3)\n"
            "print(len(got)); sys.exit(9)")
    environment = harness.clean_environment(PYTHONPATH=TREE, LOTUS_DIR=tracer.segments)
    process = subprocess.Popen([*LOTUS, "run", "--", harness.PYTHON, "-c", code, str(int(number))], env=environment,
                               cwd=tracer.directory, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(number)
    rest, _ = process.communicate(timeout=harness.PATIENCE)
    assert (process.returncode, rest) == (9, b"1\n")


def test_ctrl_c_of_a_terminal_reaches_the_program_once(tracer):
    """A terminal sends to all processes in its foreground: the command must not send it again."""
    code = ("import signal, sys, time\n"
            "got = []\n"
            "signal.signal(signal.SIGINT, lambda *_: got.append(1))\n"
            "print('ready', flush=True)\n"
            "while not got: time.sleep(0.01)\n"
            "time.sleep(0.3)\n"
            "print('got', len(got))")
    environment = harness.clean_environment(PYTHONPATH=TREE, LOTUS_DIR=tracer.segments)
    master, terminal = os.openpty()
    in_session = ("import fcntl, os, sys, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
                  "os.execvp(sys.argv[1], sys.argv[1:])")
    process = subprocess.Popen([sys.executable, "-c", in_session, *LOTUS, "run", "--", harness.PYTHON, "-c", code],
                               cwd=tracer.directory, env=environment, stdin=terminal, stdout=terminal, stderr=terminal)
    os.close(terminal)
    seen = b""
    try:
        while b"ready" not in seen:
            seen += os.read(master, 4096)
        os.write(master, b"\x03")
        while True:
            part = os.read(master, 4096)
            seen += part
    except OSError:  # all have closed the terminal
        pass
    assert process.wait(harness.PATIENCE) == 0
    assert b"got 1" in seen
    os.close(master)


def test_other_commands_are_those_of_the_analyzer(lotus):
    for words in (["report", "--help"], ["map", "/no/such.lotus"], ["no-such-command"]):
        ours, theirs = lotus(*words), harness.run([harness.ANALYZE, *words])
        assert (ours.code, ours.stdout) == (theirs.code, theirs.stdout)


def test_env_names_the_library_everywhere(lotus):
    ways = ["shell", "torchrun", "docker", "slurm", "kubernetes", "jupyter", "systemd", "pycharm"]
    everything = lotus("env").stdout.decode()
    for way in ways:
        text = lotus("env", way).stdout.decode()
        assert text in everything
        assert str(LIBRARY) in text or str(PACKAGE) in text, way
    assert lotus("env", "somewhere").code == 2
    script = lotus("env", "shell").stdout.decode() + 'echo "$LD_PRELOAD"'
    told = subprocess.run(["sh", "-c", script], capture_output=True, text=True)
    assert told.stdout == f"{LIBRARY}\n"


def doctors_lines(told):
    return [line.split(None, 1) for line in told.stdout.decode().splitlines()]


def test_doctor_finds_nothing_bad_here(lotus):
    if reason := harness.lacks("torch"):
        pytest.skip(reason)
    told = lotus("doctor")
    assert told.code == 0 and told.stderr == b""
    lines = doctors_lines(told)
    assert len(lines) == 13 and {state for state, _ in lines} <= {"ok", "note"}


def test_doctor_says_what_is_bad(lotus, tmp_path):
    told = lotus("doctor", LOTUS_OUTPUT="/no/such/directory/x.lotus")
    assert told.code == 1 and [line for state, line in doctors_lines(told) if state == "BAD"] == [
        "traces cannot be written to /no/such/directory: name another place in LOTUS_OUTPUT"]
    told = lotus("doctor", LD_PRELOAD=harness.LIBRARY)
    assert told.code == 1 and f"LD_PRELOAD names another copy of Lotus, {harness.LIBRARY}" in told.stdout.decode()


def test_a_collector_of_another_installation_is_named(lotus, tracer):
    tracer.segments.mkdir(mode=0o700)
    process = subprocess.Popen([harness.COLLECTOR, "--quiet", "--dir", tracer.segments], env=harness.clean_environment())
    try:
        harness.wait_until(tracer.collector_pid, "the collector")
        line = f"another collector serves {tracer.segments} now: {harness.COLLECTOR.resolve()} (pid {process.pid})"
        assert line in lotus("run", "--", "true").stderr.decode()
        assert line in lotus("doctor").stdout.decode()
    finally:
        process.terminate()
        process.wait()
    assert b"another collector" not in lotus("run", "--", "true").stderr


def test_demo_trains_and_makes_a_page(lotus):
    if reason := harness.lacks("torch"):
        pytest.skip(reason)
    told = lotus("demo", "--seconds", "0")
    assert told.code == 0, told.stderr.decode()
    page = lotus.directory / "lotus-demo.html"
    assert b"epoch 0: loss" in told.stdout and f"open {page} in a browser".encode() in told.stderr
    assert page.read_text().startswith("<!DOCTYPE html>")
    ops = harness.Trace(lotus.directory / "lotus-demo.lotus").ops()
    assert {"Decode", "ToFloat", "Blur", "RandomCrop", "Normalize"} <= set(ops)


def test_demo_without_torch_trains_in_plain_python(lotus, tmp_path):
    """In an environment that has nothing but the standard library."""
    subprocess.run([harness.PYTHON, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    told = harness.run([tmp_path / "venv/bin/python", "-m", "lotus_trace", "demo", "--seconds", "0", "--workers", "2"],
                       cwd=lotus.directory, PYTHONPATH=TREE, LOTUS_DIR=lotus.segments)
    assert told.code == 0, told.stderr.decode()
    assert b"has no torch" in told.stderr and b"samples/s" in told.stderr
    assert told.stdout.count(b"epoch ") == 1
    trace = harness.Trace(lotus.directory / "lotus-demo.lotus")
    pictures, batches = 256, 16
    expected = dict.fromkeys(["Decode", "RandomCrop", "RandomFlip", "ToFloat", "Normalize"], pictures) | {"Collation": batches}
    assert {name: op["count"] for name, op in trace.ops().items()} == expected
    report = trace.report
    assert report["wait"]["count"] == batches and [worker["batches"] for worker in report["workers"]] == [8, 8]
    assert (lotus.directory / "lotus-demo.html").read_text().startswith("<!DOCTYPE html>")
