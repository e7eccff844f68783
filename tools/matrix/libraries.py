"""The libraries of the matrix, and what a run of each says."""
import collections
import json
import os
import pathlib
import re
import statistics
import subprocess

from matrix import places

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = SOURCE / "tests/programs/libraries"
BASE = ["torchvision", "pillow", "numpy"]  # and PyTorch, in the environment that the others see
LONGEST_REASON = 150
LONGEST = 60  # characters of a function's name
PATIENCE = 120  # seconds for a program
SHARE, CALL_NS = 0.02, 10_000  # how much calls and their time may differ from the program's own clock

# program: in tests/programs/libraries; wheels: the first gives the version; not_seen: what the report lacks, and why.
Library = collections.namedtuple("Library", "program wheels not_seen", defaults=[""])
Row = collections.namedtuple("Row", "library version same batches samples workers operations verdict map remarks")

NATIVE = "what it does inside is native: only the wait for each batch is seen"
OWN_PROCESSES = "its functions are called in processes that Ray starts: only the wait for each batch is seen"
LIBRARIES = [
    Library("torchvision_v2", ["torchvision"]),
    Library("albumentations_boxes", ["albumentations"]),
    Library("datasets_images", ["datasets"]),
    Library("datasets_streaming", ["datasets"]),
    Library("datasets_interleaved", ["datasets"]),
    Library("transformers_trainer", ["transformers[torch]", "datasets"]),
    Library("lightning_trainer", ["lightning"]),
    Library("torchdata_stateful", ["torchdata"]),
    Library("torchdata_nodes", ["torchdata"]),
    Library("accelerate_loader", ["accelerate"]),
    Library("tokenizers_text", ["tokenizers"]),
    Library("timm_transform", ["timm"]),
    Library("kornia_augment", ["kornia"]),
    Library("monai_dictionary", ["monai"]),
    Library("torchio_subjects", ["torchio"]),
    Library("webdataset_shards", ["webdataset"]),
    Library("fastai_learner", ["fastai"]),
    Library("hydra_config", ["hydra-core"]),
    Library("torchaudio_mel", ["torchaudio"]),
    Library("geometric_graphs", ["torch_geometric"]),
    Library("litdata_streaming", ["litdata"]),
    Library("mosaicml_streaming", ["mosaicml-streaming"]),
    Library("skorch_net", ["skorch"]),
    Library("ignite_engine", ["pytorch-ignite"]),
    Library("speechbrain_items", ["speechbrain"]),
    Library("mmengine_runner", ["mmengine"]),
    Library("ultralytics_train", ["ultralytics"]),
    Library("deeplake_loader", ["deeplake"]),
    Library("squirrel_stream", ["squirrel-core"], "a batch is one tensor: whether its first dimension counts samples is not known"),
    Library("ray_train", ["ray[data,train]"]),
    Library("ray_data", ["ray[data,train]"], OWN_PROCESSES),
    Library("petastorm_rows", ["petastorm"]),
    Library("spdl_pipeline", ["spdl"], "a batch is one tensor: whether its first dimension counts samples is not known"),
    Library("grain_loader", ["grain"], "a batch is one array: whether its first dimension counts samples is not known"),
    Library("dali_pipeline", ["nvidia-dali-cuda120"], NATIVE),
]
HEADINGS = ("library", "program", "same output", "batches", "samples", "workers", "operations within 2 % or 10 µs a call",
            "verdict", "map", "what is not seen, and why")


def environment_of(library, below, directory):
    name = re.sub(r"\W+", "-", "+".join(library.wheels)).strip("-")
    return places.Overlay(below, directory / name, library.wheels)


class Run:
    """A program's run: its output, its own clock, and with Lotus the report."""

    def __init__(self, python, library, directory, build=None):
        self.trace = directory / f"{library.program}.lotus"
        clock = directory / f"{library.program}.clock"
        for path in (*directory.glob(f"{clock.name}.*"), *directory.glob(f"{library.program}.lotus*")):
            path.unlink(missing_ok=True)
        known = {name: value for name, value in os.environ.items() if not name.startswith(("LOTUS_", "LD_", "PYTHON"))}
        known.update(OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1", LIBRARIES_CLOCK=str(clock), HF_HUB_OFFLINE="1",
                     HF_HOME=str(directory / "huggingface"), TOKENIZERS_PARALLELISM="false", NO_ALBUMENTATIONS_UPDATE="1",
                     WANDB_MODE="disabled", RAY_USAGE_STATS_ENABLED="0", YOLO_CONFIG_DIR=str(directory), YOLO_OFFLINE="true")
        if build is not None:
            known.update(LD_PRELOAD=str(build / "lib/liblotus.so"), LOTUS_OUTPUT=str(self.trace))
        done = subprocess.run(["timeout", "--kill-after=5", str(PATIENCE), str(python), str(PROGRAMS / f"{library.program}.py"),
                               str(directory)], env=known, capture_output=True, text=True, cwd=directory)
        (directory / f"{library.program}.{'traced' if build else 'plain'}.log").write_text(done.stdout + done.stderr)
        lines = [line for line in done.stdout.splitlines() if line.startswith('{"batches"')]
        self.code, self.told = done.returncode, json.loads(lines[-1]) if lines else None
        self.error = done.stderr.strip().splitlines()[-1:] if done.returncode != 0 else []
        self.clock = collections.defaultdict(list)
        for path in directory.glob(f"{clock.name}.*"):
            for line in path.read_bytes().rstrip(b"\0").decode().splitlines():
                name, ns = line.rsplit(" ", 1)
                self.clock[name].append(int(ns))


def ask(build, *words):
    done = subprocess.run([str(build / "bin/lotus-analyze"), *map(str, words)], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def compared(clock, report):
    """(operations that agree, those of the program's clock, what is wrong with the others).

    The median of a call is compared, which other programs on the machine disturb least.
    """
    wrong = []
    for name, calls in sorted(clock.items()):
        rows = [op for op in report["ops"] if op["name"] == name or op["name"].endswith("." + name)]
        spent = statistics.median(calls)
        if not rows:
            wrong.append(f"{name}: no row")
            continue
        op = max(rows, key=lambda op: op["count"])
        seen = 1e6 * op["p50_ms"]
        if abs(seen - spent) > max(SHARE * spent, CALL_NS):
            wrong.append(f"{name}: {seen / 1000:.0f} µs a call of {spent / 1000:.0f} µs")
        elif abs(op["count"] - len(calls)) > SHARE * len(calls):
            wrong.append(f"{name}: {op['count']:,} of {len(calls):,} calls")
    return len(clock) - len(wrong), len(clock), wrong


def mapped(build, trace, report):
    """The native functions of the operation that takes most of the time."""
    told = ask(build, "map", "--json", trace)
    if not told or not report["ops"]:
        return "-"
    most = max(report["ops"], key=lambda op: op["total_s"] if op["share_percent"] is None else op["share_percent"])
    functions = told["op_to_func"].get(most["name"], [])
    name = functions[0].split("|")[0] if functions else "Python alone"
    return f"{most['name']}: {name if len(name) <= LONGEST else name[:LONGEST] + ' …'}"


def why(lines):
    words = re.sub(r"/\S*/(?=\S)", "", " ".join(lines))  # paths of this machine
    return words if len(words) <= LONGEST_REASON else words[:LONGEST_REASON] + " …"


def of(seen, told):
    return str(seen) if seen == told else f"{'not known' if seen is None else seen} of {told}"


def examine(library, version, plain, traced, build):
    """The Row of a library's two runs."""
    remarks = [library.not_seen] if library.not_seen else []
    if plain.code != 0:
        return Row(library.program, version, "-", "-", "-", "-", "-", "-", "-", f"does not run here: {why(plain.error)}")
    same = "yes" if traced.code == 0 and plain.told == traced.told else "NO"
    report = ask(build, "report", "--json", traced.trace) if traced.trace.exists() else None
    if report is None:
        return Row(library.program, version, same, "-", "-", "-", "-", "-", "-", "; ".join(remarks) or "no trace: NOT EXPLAINED")
    good, known, wrong = compared(traced.clock, report)
    verdict = report["verdict"]
    words = f"{verdict['bound']}-bound, waited {verdict['waited_percent']:.0f} %" if verdict["waited_percent"] is not None else "-"
    return Row(library.program, version, same, of(report["wait"]["count"], traced.told["batches"]),
               of(report["batches"]["samples"], traced.told["samples"]),
               str(len({worker["id"] for worker in report["workers"]})), f"{good} of {known}", words,
               mapped(build, traced.trace, report), "; ".join(remarks + wrong))


def markdown(rows):
    cells = [[row.version, row.library, *row[2:]] for row in rows]
    lines = [HEADINGS, ["---"] * len(HEADINGS), *cells]
    return "".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |\n" for line in lines)
