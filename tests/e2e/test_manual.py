"""The man pages document the options of --help, and the keys of the programs' JSON output."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest
from PIL import Image

import harness

MANUAL = harness.SOURCE / "docs/man"
BOLD = re.compile(r"\*(\.[^*]*)\*")
DOCUMENTED = re.compile(r"\*(\.[^*]*)\*(?: _([A-Z]+)_)?")


@pytest.fixture(scope="module")
def options():
    """The outcome of tools/manual --check."""
    command = [sys.executable, harness.SOURCE / "tools/manual", "--check"]
    return subprocess.run(command, env={**os.environ, "LOTUS_BUILD": str(harness.BUILD)}, capture_output=True, text=True)


def test_options_are_those_of_help(options):
    assert options.returncode == 0, options.stderr


def test_every_command_has_its_options():
    """The comparison above does not notice a command without a block."""
    text = (MANUAL / "lotus-analyze.1.scd").read_text()
    blocks = re.findall(r"^; options of lotus-analyze (\S+): written by tools/manual$", text, re.MULTILINE)
    told = harness.run([harness.ANALYZE, "--help"]).stdout.decode().splitlines()
    rows = told[told.index("Subcommands:") + 1:]
    assert blocks == [row.split()[0] for row in rows[:rows.index("")]]


@pytest.mark.skipif(shutil.which("scdoc") is None, reason="no scdoc here")
@pytest.mark.parametrize("page", sorted(MANUAL.glob("*.scd")), ids=lambda page: page.stem)
def test_page_is_valid(page):
    made = subprocess.run(["scdoc"], stdin=page.open(), capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    assert ".SH NAME" in made.stdout


# Documented keys.

def sections():
    """The sections of lotus-json(5): {title: lines}. Each of the tables is a section of its own."""
    found, title = {}, None
    for line in (MANUAL / "lotus-json.5.scd").read_text().splitlines():
        if line.startswith("## "):
            title = f"table {line[3:]}"
        elif line.startswith("# "):
            title = line[2:].lower()
        elif title:
            found.setdefault(title, []).append(line)
    return found


def objects():
    """The keys of the objects that are documented once and used in several places."""
    found, name = {}, None
    for line in sections()["objects"]:
        if line.startswith("*"):
            name = line.strip("*")
            found[name] = []
        elif name:
            found[name] += BOLD.findall(line)
    return found


def with_parents(path):
    """The path of a key, and those of all objects around it."""
    parts = path.split(".")[1:]
    return {"." + ".".join(parts[:count]) for count in range(1, len(parts) + 1)}


def documented(*titles):
    """The paths of keys that these sections document."""
    known, found = objects(), set()
    for title in titles:
        for line in sections()[title]:
            for path, name in DOCUMENTED.findall(line) if line.startswith("*") else []:
                for key in ["", *known[name]] if name else [""]:
                    found |= with_parents(path + key)
    assert found
    return {path.removesuffix("[]") for path in found}


# Printed keys.

def paths(value, names, before=""):
    """The paths of all keys in a value; NAME stands for the keys of objects in `names`."""
    found = {f"{before}.NAME"} if before in names else set()
    if isinstance(value, dict):
        for key, inner in value.items():
            path = f"{before}.{'NAME' if before in names else key}"
            found |= {path} | paths(inner, names, path)
    elif isinstance(value, list):
        for inner in value:
            found |= paths(inner, names, before + ("[]" if before else ".[]"))
    return found


def compare(values, titles, names=(), perhaps=()):
    """Compares printed and documented keys. `names`: see paths(). `perhaps`: objects that may be null,
    or lists that may be empty."""
    printed = set()
    for value in values:
        printed |= paths(value, names)
    printed = {path for path in printed if path != ".[]"}
    told = {path for path in documented(*titles) if path not in (".", ".[]")}
    assert sorted(printed - told) == [], "printed, and not in docs/man/lotus-json.5.scd"
    missing = {path for path in told - printed if not path.startswith(tuple(f"{name}." for name in perhaps))}
    assert sorted(missing) == [], "in docs/man/lotus-json.5.scd, and not printed"


def asked(command, *arguments):
    outcome = harness.run([harness.ANALYZE, *command, *arguments])
    assert outcome.code == 0, outcome.stderr.decode()
    return json.loads(outcome.stdout)


@pytest.fixture(scope="module")
def traces(tmp_path_factory, tracers, photos):
    """A training run on photographs, one whose worker is killed inside an operation, one with other settings,
    one that calls its dataset, and one whose fetches wait."""
    tracer = harness.Tracer(tmp_path_factory.mktemp("traces"))
    tracers.append(tracer)
    _, whole = tracer.trace(harness.program("classify", data=photos))
    large = tracer.directory / "photos"
    shutil.copytree(photos, large)
    path = large / "kite/kite_0003.jpeg"
    Image.open(path).resize((2400, 1800)).save(path)  # the program's operation hangs in an image of this size
    _, killed = tracer.trace(harness.program("cut_short", data=large))
    _, tried = tracer.trace(harness.program("classify", data=photos), LOTUS_TRY="prefetch_factor=3")
    _, called = tracer.trace([*harness.program("dataset_in_step"), "each"])
    _, waited = tracer.trace([*harness.program("waits"), tracer.directory / "log"])
    return whole.path, killed.path, tried.path, called.path, waited.path


def test_keys_of_the_report(traces):
    reports = [asked(["report", "--json"], trace) for trace in traces]
    compare(reports, ["report"], perhaps=(".locks[]", ".stuck[]", ".reopened[]", ".lost_slots[]"))


def test_every_cause_has_its_page(traces):
    """The names in the table of causes are those of the manual, and of the pages."""
    verdict = asked(["report", "--json"], traces[0])["verdict"]
    told = {row["cause"] for row in verdict["causes"] + verdict["ruled_out"]}
    pages = {path.stem for path in (harness.SOURCE / "docs/causes").glob("*.md")} - {"README"}
    text = " ".join((MANUAL / "lotus-json.5.scd").read_text().split())
    manual = text[text.index("*.verdict.cause* "):].split(":")[1].split(".")[0]
    assert set(manual.replace(" or ", ", ").replace(" ", "").split(",")) == pages
    assert told <= pages


def test_keys_of_the_report_by_rank(tracer):
    if harness.run([harness.PYTHON, "-c", "from torch.distributed import ProcessGroupGloo"]).code != 0:
        pytest.skip("this PyTorch has no gloo")
    _, trace = tracer.trace(harness.program("ranks", "--workers", 2, "--slow", 1, "--launch", 2), USE_LIBUV="0")
    report = asked(["report", "--by-rank", "--json"], trace.path)
    compare([report], ["report by rank"], perhaps=(".straggler",))  # null on a busy machine: all ranks wait


def test_keys_of_whatif(traces):
    questions = [["--op", "RandomResizedCrop=0.5x", "--train-step", "2ms"], ["--op", "RandomResizedCrop=2ms"],
                 ["--try", "--prefetch", "5"]]
    compare([asked(["whatif", "--json", *question], traces[0]) for question in questions], ["whatif"], [".asked.ops"])


def test_keys_of_the_map(traces):
    whole = asked(["map", "--full"], traces[0])
    compare([whole], ["map"], [".op_to_func", ".common_funcs_to_op"])
    assert asked(["map", "--json"], traces[0]).keys() == {"op_to_func", "common_funcs_to_op"}


def test_keys_of_counters(tmp_path_factory, tracers):
    """Also ratios, which need a counter of the processor, in a machine that has one."""
    tracers.append(harness.Tracer(tmp_path_factory.mktemp("counters")))
    _, trace = tracers[-1].trace([*harness.program("counted"), 0], LOTUS_COUNTERS="default")
    kinds = [f"{of}.{kind}" for of in (".ops[]", ".fetches", ".functions[]") for kind in ("counters", "ratios")]
    compare([asked(["counters", "--json", "--functions"], trace.path)], ["counters"], [".counters", *kinds],
            [".topdown"] + [f"{of}.ratios.NAME" for of in (".ops[]", ".fetches", ".functions[]")] +
            [f"{of}.ratios" for of in (".ops[]", ".fetches", ".functions[]")])


def test_keys_of_memory(tmp_path_factory, tracers):
    tracers.append(harness.Tracer(tmp_path_factory.mktemp("memory")))
    _, trace = tracers[-1].trace(harness.program("memory_steps", "attention", "Adam", "list"), LOTUS_STEPS="all")
    without_forward = (".peak_at", ".floor_at", ".growth.left_behind[]", ".growth.left_sometimes[]")
    compare([asked(["memory", "--json"], trace.path)], ["memory"], [".peak_by_role"],
            perhaps=(".held_longer[]", *(f"{name}.forward" for name in without_forward)))


def test_keys_of_diff(traces, tracer):
    others = [traces[0], traces[3]]  # of which one has operations that the other has not
    counted = [tracer.trace([*harness.program("counted"), 0], LOTUS_COUNTERS="page-faults")[1].path for _ in range(2)]
    compare([*(asked(["diff", "--json"], traces[0], after) for after in others), asked(["diff", "--json"], *counted)], ["diff"],
            [".ops[].counters", ".counters.fetches"], perhaps=(".unnamed_libraries[]",))


def chain(layers):
    """The steps of a chain of layers, forward and backward, with weights that are there from step to step."""
    storages = [{"bytes": 300_000, "older": True, "survives": True} for _ in range(layers)]
    operators = []
    for layer in range(layers):
        storages.append({"bytes": 2_000_000, "born": layer, "released": 2 * layers - layer, "place": "train.py:7"})
        inputs = [layer] if layer == 0 else [layer, layers + layer - 1]
        operators.append({"name": "aten::linear", "seconds": 0.001, "place": "train.py:7",
                          "operands": [*({"storage": read, "read": True} for read in inputs), {"storage": layers + layer, "written": True}]})
    for layer in reversed(range(layers)):
        operators.append({"name": "aten::mul_", "seconds": 0.001, "phase": "backward",
                          "operands": [{"storage": layers + layer, "read": True}, {"storage": layer, "read": True, "written": True}]})
    return {"steps": [{"operators": operators, "storages": storages}]}


def test_keys_of_memory_plan(tmp_path):
    steps = tmp_path / "steps.json"
    steps.write_text(json.dumps(chain(6)))
    plan = asked(["memory-plan", "--json", "--steps", steps, "--fast", "2:1,1:1"])
    assert any(row["moves"] for row in plan["plan"])
    compare([plan], ["memory-plan"], perhaps=[".plan[].saved[]"])


def test_keys_of_executed_plans(tmp_path, tracer):
    _, trace = tracer.trace(harness.program("planned_steps", "mlp"), LOTUS_STEPS="all")
    plan = asked(["memory-plan", "--json", "--mode", "offload", "--fast", "0:1", trace.path])
    assert plan["plan"] == []
    floor = plan["offload_floor_bytes"]
    plan = asked(["memory-plan", "--json", "--mode", "offload", "--fast", str(floor), trace.path])
    saved = [key for row in plan["plan"] for use in row["saved"] for key in use]
    assert set(saved) == {"operator", "argument"}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    _, tried = tracer.trace(harness.program("planned_steps", "mlp"), LOTUS_TRY=f"memory-plan={tmp_path}/plan.json")
    compare([asked(["memory-plan", "--json", "--executed", tried.path])], ["executed plans"])


def test_keys_of_batches(traces):
    compare([asked(["batches", "--json"], traces[0])], ["batches"])


@pytest.mark.parametrize("name", ["mapping", "ops", "functions", "batches", "waits", "counters"])
def test_keys_of_tables(traces, name):
    table = asked(["table", name, "--json"], traces[0])
    told = documented("tables", f"table {name}")
    if name == "functions":
        told.discard(".rows[].run")
    assert sorted(paths(table, ())) == sorted(told)
    titles = harness.run([harness.ANALYZE, "table", name, "--csv", traces[0]]).stdout.decode().splitlines()[0]
    assert titles.split(",") == list(table["rows"][0])


def test_keys_of_the_dump(traces):
    """The dump has the documented keys and the fields of records."""
    schema = harness.run([harness.ANALYZE, "dump", "--schema", traces[0]]).stdout.decode()
    kinds = {row.split()[2]: {field.split(":")[0] for field in row.split()[3:]} for row in schema.splitlines()}
    told = {path[1:] for path in documented("dump")}
    printed = {}
    for line in harness.run([harness.ANALYZE, "dump", "--json", traces[0]]).stdout.splitlines():
        record = json.loads(line)
        printed.setdefault(record["kind"], set()).update(record)
    for kind, keys in printed.items():
        fields = kinds[kind] | {f"{kind}_{field}" for field in kinds[kind]}
        assert keys - told <= fields, kind
    assert told - set().union(*printed.values()) <= {"lost"}  # a complete trace has no gap


def test_keys_of_info(traces):
    damaged = traces[1].with_name("damaged.lotus")
    content = bytearray(traces[1].read_bytes())
    content[len(content) // 2:len(content) // 2 + 16] = bytes(16)
    damaged.write_bytes(content)
    reports = [asked(["info", "--json"], trace) for trace in (*traces, damaged)]
    compare(reports, ["info"], [".frames", ".records"])


def test_keys_of_recover(traces, tmp_path):
    """Recovers traces in which the header of the file or of a frame is damaged."""
    content, accounts = traces[0].read_bytes(), []
    damaged, output = tmp_path / "damaged.lotus", tmp_path / "recovered.lotus"
    frames = {content[found.end()]: found.start() for found in re.finditer(b"LFRM", content)}  # one of each type
    assert len(frames) >= 9
    for place in [0, *frames.values()]:
        damaged.write_bytes(content[:place] + bytes(16) + content[place + 16:])
        accounts.append(asked(["recover", "--json", "--force", "-o", output], damaged))
    compare(accounts, ["recover"])


def test_keys_of_status(tmp_path, texts):
    """The status of a collector that was started by hand, with an ended and a running program."""
    tracer = harness.Tracer(tmp_path)
    segments = tracer.segments
    segments.mkdir(mode=0o700)
    collector = subprocess.Popen([harness.COLLECTOR, "--dir", segments, "--quiet"], env=harness.clean_environment())
    status = [harness.COLLECTOR, "--status", "--json", "--dir", segments]
    running = None
    try:
        tracer.trace(harness.pure_program(data=texts))
        program = harness.pure_program("--epochs", 100_000, data=texts)
        environment = harness.clean_environment(**tracer.environment(LOTUS_OUTPUT=tmp_path / "running.lotus"))
        running = subprocess.Popen([str(word) for word in program], env=environment, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True)

        def told():
            places = json.loads(harness.run(status).stdout)
            sessions = places["directories"][0].get("sessions")
            return places if sessions and sessions[0]["processes"] else None

        compare([harness.wait_until(told, "the running program in the status")], ["status"])
    finally:
        if running is not None:
            os.killpg(running.pid, signal.SIGTERM)  # its worker, too
            running.wait()
        collector.terminate()
        collector.wait()
        shutil.rmtree(segments.parent)
