"""LOTUS_TRY: other settings of DataLoaders for one run, and nothing else."""
import json
import pathlib

import pytest

import harness
import interpreters

SUPPORTED = interpreters.supported()
FORKED = ["one", "positional", "subclass", "thread", "stream", "batches"]


def command(case):
    return harness.program("tried", "--case", case)


def lines(outcome):
    assert outcome.code == 0, outcome.stderr.decode()
    return [json.loads(line) for line in outcome.stdout.splitlines()]


@pytest.fixture(scope="module")
def bare():
    """bare(case): the program's outcome without the tracer."""
    made = {}

    def get(case):
        if case not in made:
            made[case] = harness.run(command(case))
        return made[case]

    return get


@pytest.fixture(scope="module")
def plain(texts):
    """The pipeline in pure Python, which starts quickly: its command and its outcome."""
    command = harness.pure_program("--epochs", "1", data=texts)
    return command, harness.run(command)


@pytest.fixture(scope="module")
def has_in_order():
    return "in_order" in lines(harness.run(command("signature")))[0]


def changed(settings, case, tracer):
    """What a case printed with these settings, of which it says so in its one line."""
    outcome, path = tracer.run(command(case), LOTUS_TRY=settings)
    assert outcome.lotus_lines == [f"lotus: tracing to {path}; trying {settings}"]
    return lines(outcome)


def refused(words, outcome, without):
    """The program ran as without settings, and one line says why."""
    assert outcome.visible == without.visible
    assert len(outcome.lotus_lines) == 1 and words in outcome.lotus_lines[0]


@pytest.mark.parametrize("settings, name, value", [
    ("num_workers=2", "num_workers", 2),
    ("num_workers=0", "num_workers", 0),
    ("prefetch_factor=5", "prefetch_factor", 5),
    ("persistent_workers=1", "persistent_workers", True),
    ("pin_memory=1", "pin_memory", True),
    ("in_order=0", "in_order", False),
])
def test_one_setting(settings, name, value, bare, tracer, has_in_order):
    if name == "in_order" and not has_in_order:
        pytest.skip("this PyTorch has no in_order")
    (before, *epochs), (after, *new) = lines(bare("one")), changed(settings, "one", tracer)
    assert after == {**before, name: value} or (value == 0 and after["num_workers"] == 0)
    assert [epoch["digest"] for epoch in new] == [epoch["digest"] for epoch in epochs]
    assert [epoch["workers"] for epoch in new] == 2 * [value if name == "num_workers" else 1]


def test_all_settings_at_once(tracer, bare):
    settings = "num_workers=2,prefetch_factor=3,persistent_workers=1,pin_memory=1,threads=2"
    outcome, trace = tracer.trace(command("none"), LOTUS_TRY=settings)
    loader, *epochs = lines(outcome)
    assert loader | {"num_workers": 2, "prefetch_factor": 3, "persistent_workers": True, "pin_memory": True} == loader
    assert [(epoch["workers"], epoch["threads"]) for epoch in epochs] == 2 * [(2, [2])]
    assert [epoch["digest"] for epoch in epochs] == [epoch["digest"] for epoch in lines(bare("none"))[1:]]
    known = trace.report["loaders"][0]
    assert (known["workers"], known["prefetch"], known["persistent"], known["pin_memory"]) == (2, 3, True, True)
    assert {record["settings"] for record in trace.named("tried")} == {settings}
    assert trace.report["tried"]["settings"] == settings
    assert "persistent_workers=0" in trace.report["tried"]["loaders"][0]["instead"]


@pytest.mark.parametrize("case", [*FORKED, "spawn", "none", "shuffled", "waiting"])
def test_more_workers(case, bare, tracer):
    """The same data in the same order, whichever way the loader is made."""
    loader, *epochs = changed("num_workers=2", case, tracer)
    assert loader["num_workers"] == 2
    without = lines(bare(case))[1:]
    assert {epoch["workers"] for epoch in epochs} == {2}
    same = "sum" if case == "stream" else "digest"
    assert [(epoch[same], epoch["count"]) for epoch in epochs] == [(epoch[same], epoch["count"]) for epoch in without]


@pytest.mark.parametrize("case", FORKED)
def test_no_workers(case, bare, tracer):
    settings = "num_workers=0,prefetch_factor=none" if case == "subclass" else "num_workers=0"
    loader, *epochs = changed(settings, case, tracer)
    assert loader["num_workers"] == 0
    assert [epoch["digest"] for epoch in epochs] == [epoch["digest"] for epoch in lines(bare(case))[1:]]
    assert [epoch["workers"] for epoch in epochs] == [0, 0]


@pytest.mark.parametrize("case", ["greedy", "greedy-spawn"])
def test_threads_of_workers(case, bare, tracer):
    assert all(epoch["threads"] == [4] for epoch in lines(bare(case))[1:])
    assert all(epoch["threads"] == [2] for epoch in changed("threads=2", case, tracer)[1:])


@pytest.mark.skipif(harness.lacks("cv2", "numpy") is not None, reason="no cv2 here")
def test_threads_of_opencv(tracer):
    """Its pool does not survive a fork, and must not be told so there. Training keeps its own."""
    *epochs, training = changed("threads=2", "opencv", tracer)[1:]
    assert [epoch["threads"] for epoch in epochs] == [[2], [2]] and training == 4


@pytest.mark.parametrize("python", sorted(SUPPORTED))
def test_each_python(python, tracer):
    """Where a frame keeps its arguments differs; numbers and truth values are counted differently, too."""
    code = ("import sys; from torch.utils.data import DataLoader\n"
            "def make(times):\n"
            "  for _ in range(times): loader = DataLoader([0], 1, num_workers=1, prefetch_factor=300)\n"
            "  return loader\n"
            "make(100); before = sys.getallocatedblocks(); loader = make(5000)\n"
            "print(loader.num_workers, loader.prefetch_factor, loader.persistent_workers,"
            " abs(sys.getallocatedblocks() - before) < 100)")
    environment = {"PYTHONPATH": harness.FAKE_TORCH, "LOTUS_AUTOSTART": 0}
    for settings, printed in (("num_workers=2,persistent_workers=1", b"2 300 True True\n"),
                              ("prefetch_factor=400", b"1 400 False True\n")):
        outcome, _ = tracer.run([SUPPORTED[python], "-c", code], LOTUS_TRY=settings, **environment)
        assert outcome.stdout == printed, outcome.stderr.decode()


@pytest.mark.parametrize("settings, words", [
    ("num_workers=-1", "num_workers is a number from 0 to 1024"),
    ("num_workers=8x", "num_workers is"),
    ("num_workers=", "num_workers is"),
    ("num_workers", "it is a list of"),
    ("workers=8", "it is a list of"),
    ("num_workers=2,", "it is a list of"),
    ("num_workers=2,num_workers=3", "num_workers stands there twice"),
    ("pin_memory=2", "pin_memory is 0 or 1"),
    ("prefetch_factor=0", "prefetch_factor is a number from 1"),
    ("threads=0", "threads is a number from 1"),
    ("num_workers=0,prefetch_factor=4", "prefetch_factor needs num_workers above 0"),
    ("num_workers=0,persistent_workers=1", "persistent_workers=1 needs num_workers above 0"),
    ("num_workers=0,threads=1", "num_workers=0"),
    ("\x1b[31m\n" + 300 * "x", "it is a list of"),
])
def test_nonsense_is_refused(settings, words, plain, tracer):
    command, without = plain
    refused(words, tracer.run(command, LOTUS_TRY=settings)[0], without)


@pytest.mark.parametrize("settings, case, words", [
    ("prefetch_factor=4", "none", "prefetch_factor needs num_workers above 0"),
    ("persistent_workers=1", "none", "persistent_workers=1 needs num_workers above 0"),
    ("pin_memory=1,persistent_workers=1", "none", "persistent_workers=1 needs num_workers above 0"),
    ("num_workers=0", "subclass", "prefetch_factor needs num_workers above 0"),
    ("num_workers=0", "set", "persistent_workers=1 needs num_workers above 0"),
    ("num_workers=0", "spawn", "multiprocessing_context needs num_workers above 0"),
    ("num_workers=0", "waiting", "timeout needs num_workers above 0"),
    ("num_workers=2", "daemon", "a daemonic process can have no workers"),
])
def test_what_pytorch_would_refuse(settings, case, words, bare, tracer):
    outcome, trace = tracer.trace(command(case), LOTUS_TRY=settings)
    refused(words, outcome, bare(case))
    assert words in trace.report["tried"]["loaders"][0]["refused"]
    assert words in " ".join(trace.text.split())


def test_in_order_where_there_is_none(bare, tracer, has_in_order):
    if has_in_order:
        pytest.skip("this PyTorch has in_order")
    outcome, _ = tracer.run(command("one"), LOTUS_TRY="in_order=0,num_workers=2")
    refused("this PyTorch has no in_order", outcome, bare("one"))


def test_one_of_two_loaders(bare, tracer):
    """The second one stays as it is; the trace says so."""
    outcome, trace = tracer.trace(command("two"), LOTUS_TRY="persistent_workers=1")
    had = [line["persistent_workers"] for line in lines(outcome) if "persistent_workers" in line]
    assert had == [True, False]
    assert outcome.lotus_lines == [
        f"lotus: tracing to {trace.path}; trying persistent_workers=1",
        "lotus: LOTUS_TRY=persistent_workers=1 is refused for a DataLoader: "
        "persistent_workers=1 needs num_workers above 0"]
    assert [loader["refused"] is None for loader in trace.report["tried"]["loaders"]] == [True, False]


def test_loader_inside_a_worker_is_left_alone(bare, tracer):
    _, epoch = changed("num_workers=2", "nested", tracer)
    assert epoch["digest"] == lines(bare("nested"))[1]["digest"] and epoch["workers"] == 2


def test_nothing_changes_without_the_variable(bare, tracer):
    outcome, trace = tracer.trace(command("greedy"), LOTUS_TRY="")
    assert outcome.visible == bare("greedy").visible
    assert outcome.lotus_lines == [f"lotus: tracing to {trace.path}"]
    assert trace.named("tried") == [] and trace.report["tried"] is None
    outcome, path = tracer.run(command("one"), LOTUS_TRY="num_workers=2", LOTUS_OFF=1)
    assert outcome.visible == bare("one").visible and not outcome.lotus_lines and not path.exists()


def test_prediction_and_what_came(tracer):
    """`whatif --try` prints what can be run; the report of that run finds the former one by itself."""
    _, former = tracer.trace(command("one"))
    printed = harness.run([harness.ANALYZE, "whatif", "--workers", "2", "--try", former.path], cwd="/")
    about, line = printed.stdout.decode().splitlines()
    assert about.startswith("# ") and "predicted" in about
    assert f'LOTUS_TRY="num_workers=2" LD_PRELOAD={harness.LIBRARY} ' in line
    asked = json.loads(harness.run([harness.ANALYZE, "whatif", "--workers", "2", "--try", "--json", former.path],
                                   cwd="/").stdout)
    assert asked["try"] == {"settings": "num_workers=2", "command": line}

    outcome, tried = tracer.trace(["sh", "-c", line])
    assert lines(outcome)[0]["num_workers"] == 2
    against = tried.report["tried"]["against"]
    assert pathlib.Path(against["file"]) == former.path
    assert against["predicted"]["images_per_s"] == pytest.approx(asked["asked"]["images_per_s"])
    assert against["came"]["images_per_s"] > 0 and against["as_predicted"] in (True, False)
    assert tried.text.startswith("Tried: num_workers=2") and "predicted" in tried.text.split("\n\n")[0]

    options = [harness.ANALYZE, "report", "--json", tried.path, "--against"]
    assert json.loads(harness.run([*options, former.path]).stdout)["tried"] == tried.report["tried"]
    wrong = harness.run([harness.ANALYZE, "report", former.path, "--against", tried.path])
    assert wrong.code == 2 and b"nothing was tried" in wrong.stderr


def test_nothing_to_try(tracer):
    _, trace = tracer.trace(command("one"))
    same = harness.run([harness.ANALYZE, "whatif", "--workers", "1", "--try", trace.path])
    assert same.code == 0 and same.stdout.startswith(b"# nothing to try")
    wrong = harness.run([harness.ANALYZE, "whatif", "--train-step", "0.5x", "--try", trace.path])
    assert wrong.code == 2 and b"--try" in wrong.stderr
