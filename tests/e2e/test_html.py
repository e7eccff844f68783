"""The report page in a headless Chromium: its content, and no errors or network requests."""
import json
import re
import shutil
import subprocess

import pytest

import browser
import harness

pytestmark = pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")

SECTIONS = ("verdict", "time", "ops", "batches", "samples", "native", "run")
SYNTH = harness.BUILD / "bin/lotus-synth"


@pytest.fixture(scope="module")
def chromium():
    made = browser.Browser()
    made.look(1280, 800)
    yield made
    made.close()


def page_of(trace, directory, name="page.html"):
    path = directory / name
    outcome = harness.run([harness.ANALYZE, "report", "--html", path, trace])
    assert (outcome.code, outcome.stdout) == (0, b""), outcome.stderr.decode()
    return path


class Made:
    def __init__(self, trace, directory):
        self.trace = harness.Trace(trace)
        self.page = page_of(trace, directory)


@pytest.fixture(scope="module")
def real(tmp_path_factory, photos, tracers):
    """The page of a real training with stack samples."""
    directory = tmp_path_factory.mktemp("html")
    tracers.append(harness.Tracer(directory))
    _, trace = tracers[-1].trace(harness.program("classify", data=photos), LOTUS_SAMPLE_HZ=199)
    return Made(trace.path, directory)


def synthetic(directory, *options):
    path = directory / "synthetic.lotus"
    subprocess.run([str(word) for word in (SYNTH, "-o", path, *options)], check=True, capture_output=True)
    return Made(path, directory)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """The page of a synthetic trace of 100,000 batches."""
    return synthetic(tmp_path_factory.mktemp("many"), "--events", 8_600_000, "--workers", 4, "--batch-size", 4,
                     "--images", 400_000, "--step-ms", 8)


def texts_of(chromium, selector):
    return chromium.ask(f"[...document.querySelectorAll({json.dumps(selector)})].map(n => n.textContent.trim())")


def drawn(chromium):
    """What is drawn on the canvas of the run over time, as its data attributes tell."""
    chromium.settle()
    data = chromium.ask("({...document.querySelector('#time canvas').dataset})")
    return {name: float(value) for name, value in data.items()}


def pixels(chromium):
    chromium.settle()
    return chromium.ask("document.querySelector('#time canvas').toDataURL()")


def press(chromium, key):
    chromium.ask("document.querySelector('#time canvas').focus()")
    for kind in ("keyDown", "keyUp"):
        chromium.call("Input.dispatchKeyEvent", type=kind, key=key, text=key if len(key) == 1 and kind == "keyDown" else "")
    chromium.settle()


def number_in(text):
    found = re.search(r"-?[\d,]+(\.\d+)?", text)
    assert found, text
    return float(found.group().replace(",", ""))


def close(shown, value):
    """Whether both are equal in about three significant digits."""
    return abs(shown - value) <= max(0.006 * abs(value), 0.006)


class TestPage:
    @pytest.fixture(autouse=True)
    def opened(self, chromium, real):
        chromium.look(1280, 800)
        chromium.open(real.page)

    def test_is_quiet(self, chromium):
        assert chromium.problems() == []
        assert chromium.requests() == []
        assert chromium.ask("performance.getEntriesByType('resource').length") == 0

    @pytest.mark.parametrize("section", SECTIONS)
    def test_every_section_has_its_data(self, chromium, section):
        assert len(chromium.ask(f"document.getElementById('{section}').innerText")) > 200
        assert chromium.ask(f"document.querySelectorAll('#{section} .missing').length") == 0
        if section not in ("verdict", "time", "run"):
            marks = f"#{section} svg :is(rect, circle, path:not(.domain))"
            assert chromium.ask(f"document.querySelectorAll({json.dumps(marks)}).length") > 10

    def test_report_is_embedded_as_it_is_printed(self, chromium, real):
        assert chromium.ask("report") == real.trace.report

    def test_four_numbers(self, chromium, real):
        report = real.trace.report
        busy = 100 * sum(w["fetch_s"] for w in report["workers"]) / sum(w["lifetime_s"] for w in report["workers"])
        expected = {"rate": report["verdict"]["images_per_s"], "waited": report["verdict"]["waited_percent"],
                    "busy": busy, "lost": report["trace"]["lost_events"]}
        for name, value in expected.items():
            shown = number_in(texts_of(chromium, f"[data-number={name}] .value")[0])
            assert close(shown, value), name

    def test_verdict_and_first_advice(self, chromium, real):
        verdict = real.trace.report["verdict"]
        said = " ".join(texts_of(chromium, "#verdict h1, #verdict .rest"))
        assert said.split(":")[0].rstrip(".") == verdict["message"].split(":")[0].split(";")[0].rstrip(".")
        first = verdict["advice"][0]["message"]
        assert first[1:] in texts_of(chromium, "#first-change .say")[0]

    def test_op_table_is_the_reports(self, chromium, real):
        rows = chromium.ask("[...document.querySelectorAll('#ops tbody tr')].map(r => [...r.cells].map(c => c.innerText))")
        ops = real.trace.report["ops"]
        assert len(rows) in (len(ops), len(ops) + 1)  # one more for time outside of all operations
        for row, op in zip(rows, ops):
            assert row[0].split("\n")[0] == op["name"]
            assert abs(number_in(row[1]) - op["share_percent"]) <= 0.051  # one decimal
            assert number_in(row[2]) == op["count"]
            unit = {"s": 1e3, "ms": 1, "µs": 1e-3, "min": 60e3}
            for cell, key in zip(row[3:], ("mean_ms", "median_ms", "p90_ms", "p99_ms", "std_ms")):
                value, name = cell.split("\u202f")
                assert close(number_in(value) * unit[name] / op[key], 1), (op["name"], key)

    def test_slowest_samples_are_the_reports(self, chromium, real):
        slowest = real.trace.report["slow_samples"]
        shown = chromium.ask("sampleData.slowest")
        assert [(s["ms"], s["path"], s["index"], s["op"]) for s in shown[:len(slowest)]] == \
            [(s["ms"], s["path"], s["index"], s["op"]) for s in slowest]
        assert slowest[0]["path"] in texts_of(chromium, "#samples td.path")[0]

    def test_sample_sizes_are_those_of_the_files(self, chromium, photos):
        samples = chromium.ask("sampleData.slowest")
        sizes = [(photos / sample["path"]).stat().st_size for sample in samples]
        assert all(sample["bytes"] >= size for sample, size in zip(samples, sizes))
        # A worker's first samples also read the modules that they import.
        alike = sum(sample["bytes"] <= 1.1 * size + 8192 for sample, size in zip(samples, sizes))
        assert alike >= 0.7 * len(samples)

    def test_batches_are_those_of_the_trace(self, chromium, real):
        batches = real.trace.batches
        unit = chromium.ask("run.unit")
        made = sorted(b["fetch_ns"] for b in batches)
        shown = sorted(chromium.ask("Array.from(run.batches.duration)"))
        assert len(shown) == len(made)
        assert all(abs(a * unit * 1e6 - b) <= 2 * unit * 1e6 for a, b in zip(shown, made))
        early = sum(bool(b["out_of_order"]) for b in batches)
        assert chromium.ask("Array.from(run.batches.flags).filter(f => f & 1).length") == early

    def test_zoom_and_pan_change_what_is_drawn(self, chromium):
        whole, picture = drawn(chromium), pixels(chromium)
        press(chromium, "+")
        chromium.ask("new Promise(done => setTimeout(() => done(1), 400))")
        near, near_picture = drawn(chromium), pixels(chromium)
        assert near["to"] - near["from"] < 0.8 * (whole["to"] - whole["from"])
        assert near_picture != picture
        press(chromium, "ArrowRight")
        assert drawn(chromium)["from"] > near["from"]
        assert pixels(chromium) != near_picture
        chromium.ask("[...document.querySelectorAll('#time button')].find(b => b.textContent === 'All').click()")
        assert pixels(chromium) == picture

    def test_wheel_and_drag(self, chromium):
        whole, (x, y) = drawn(chromium), self.middle(chromium)
        chromium.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-300)
        assert drawn(chromium) | {"took": 0} == whole | {"took": 0}  # the page scrolls
        x, y = self.middle(chromium)
        chromium.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-300, modifiers=2)
        near = drawn(chromium)
        assert near["to"] - near["from"] < 0.8 * (whole["to"] - whole["from"])
        for kind, at in (("mousePressed", x), ("mouseMoved", x - 80), ("mouseReleased", x - 80)):
            chromium.call("Input.dispatchMouseEvent", type=kind, x=at, y=y, button="left", buttons=1, clickCount=1)
        assert drawn(chromium)["from"] > near["from"]

    def middle(self, chromium):
        """The middle of the first worker's lane, in window coordinates."""
        chromium.ask("document.querySelector('#time canvas').scrollIntoView({block: 'center', behavior: 'instant'})")
        chromium.settle()
        return chromium.ask("(() => { const box = document.querySelector('#time canvas').getBoundingClientRect(); "
                            "return [box.left + box.width / 2, box.top + 24 + 26 + 10]; })()")

    def test_a_batch_explains_itself(self, chromium):
        """Moves to the longest batch of the first worker's lane, and checks the tooltip there."""
        _, y = self.middle(chromium)
        x, number, took = chromium.ask("""(() => {
            const lane = laneModel.lanes.find(l => l.made), ids = [...lane.made.ids], b = run.batches;
            const i = ids.reduce((best, id) => b.duration[id] > b.duration[best] ? id : best);
            const canvas = document.querySelector('#time canvas'), box = canvas.getBoundingClientRect();
            const left = Math.ceil(16 + d3.max(laneModel.lanes, l => canvas.getContext('2d').measureText(l.name).width));
            const x = d3.scaleLinear().domain([0, run.span]).range([left, box.width - 6]);
            return [box.left + x(b.start[i] + b.duration[i] / 2), b.number[i], timeText(madeIn(i))];
        })()""")
        chromium.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        chromium.settle()
        said = texts_of(chromium, ".tooltip:not([hidden])")
        assert said and f"Batch {number}, " in said[0] and f"made in {took}" in said[0]

    def test_flame_graph_follows_the_chosen_operation(self, chromium):
        names = chromium.ask("[...document.querySelectorAll('#native option')].map(o => o.textContent)")
        assert "Loader" in names
        for name in names[:3]:
            chromium.ask("(() => { const s = document.querySelector('#native select'); "
                         f"s.selectedIndex = {names.index(name)}; s.dispatchEvent(new Event('change')); }})()")
            chromium.settle()
            assert chromium.ask("document.querySelector('#native .flame text').textContent") == name

    def test_theme_can_be_switched(self, chromium):
        background = "getComputedStyle(document.body).backgroundColor"
        light, picture = chromium.ask(background), pixels(chromium)
        chromium.ask("document.getElementById('theme').click()")
        assert chromium.ask(background) != light
        assert pixels(chromium) != picture
        chromium.look(1280, 800, dark=True)
        chromium.call("Page.reload")
        chromium.ask("new Promise(done => setTimeout(() => done(1), 300))")
        assert chromium.ask(background) != light

    @pytest.mark.parametrize("width, height", [(390, 844), (1280, 800)])
    def test_nothing_is_wider_than_the_screen(self, chromium, width, height):
        chromium.look(width, height)
        chromium.settle()
        assert chromium.ask("document.documentElement.scrollWidth") <= width

    def test_prints(self, chromium, tmp_path):
        chromium.pdf(tmp_path / "page.pdf")
        assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")


class TestLarge:
    def test_many_batches(self, chromium, many):
        assert many.trace.report["batches"]["count"] >= 100_000
        assert many.page.stat().st_size < 10_000_000
        chromium.look(1280, 800)
        chromium.open(many.page)
        assert chromium.problems() == []
        whole = drawn(chromium)
        assert whole["dense"] > 0 and whole["blocks"] == 0  # busy share of each pixel, no blocks
        for _ in range(30):
            press(chromium, "+")
            chromium.ask("new Promise(done => setTimeout(() => done(1), 20))")
            if drawn(chromium)["dense"] == 0:
                break
        near = drawn(chromium)
        assert near["dense"] == 0 and 0 < near["blocks"] < 5000

    def test_an_epoch_of_imagenet_fits(self, tmp_path):
        made = synthetic(tmp_path, "--events", 18_000_000, "--workers", 8, "--batch-size", 256, "--images", 1_281_167)
        assert made.trace.report["batches"]["samples"] > 1_200_000
        assert made.page.stat().st_size < 10_000_000


@pytest.mark.parametrize("name", ["two_loaders", "iterable", "getitems", "out_of_order", "no_compose", "raising", "persistent"])
def test_other_programs(chromium, tracer, photos, tmp_path, name):
    _, trace = tracer.trace(harness.program(name, data=photos))
    chromium.open(page_of(trace.path, tmp_path))
    assert chromium.problems() == []
    assert chromium.ask("report") == trace.report
    assert drawn(chromium)["blocks"] >= trace.report["batches"]["count"]
    marked = chromium.ask("laneModel.early.length")
    assert marked == trace.report["wait"]["out_of_order"]
    if name == "out_of_order":
        assert marked > 0


def test_no_workers(chromium, tracer, photos, tmp_path):
    _, trace = tracer.trace(harness.program("classify", "--workers", "0", data=photos))
    chromium.open(page_of(trace.path, tmp_path))
    assert chromium.problems() == []
    assert "num_workers=0" in texts_of(chromium, "[data-number=busy] .note")[0]


@pytest.fixture(scope="module")
def counted(tmp_path_factory, tracers):
    """The page of a run on a played PMU."""
    directory = tmp_path_factory.mktemp("counted")
    tracers.append(harness.Tracer(directory))
    _, trace = tracers[-1].trace([*harness.program("counted"), 0], LOTUS_COUNTERS="topdown",
                                 LD_PRELOAD=f"{tracers[-1].library}:{harness.played_pmu(directory)}")
    return Made(trace.path, directory)


class TestHardware:
    @pytest.fixture(autouse=True)
    def opened(self, chromium, counted):
        chromium.open(counted.page)

    def test_each_call_is_what_counters_prints(self, chromium, counted):
        told = json.loads(harness.run([harness.ANALYZE, "counters", "--json", counted.trace.path]).stdout)
        assert chromium.problems() == []
        assert chromium.ask("counted.ops") == told["ops"]
        table = "[...document.querySelectorAll('#hardware .card')].find(c => c.innerText.startsWith('Each call'))"
        rows = chromium.ask(f"[...{table}.querySelectorAll('tr')].map(r => [...r.cells].map(c => c.innerText))")
        assert {row[0] for row in rows[1:]} == {op["name"] for op in told["ops"]} | {"(fetches of batches)"}
        cell = {row[0]: row for row in rows}["TouchesPages"][rows[0].index("instructions per cycle")]
        (ratio,) = [op["ratios"]["ipc"]["value"] for op in told["ops"] if op["name"] == "TouchesPages"]
        assert close(number_in(cell), ratio) and ratio == pytest.approx(3, rel=0.001)

    def test_one_operation_with_intervals(self, chromium):
        shown = texts_of(chromium, "#hardware .card:last-child tbody tr td:nth-child(3)")
        assert len(shown) > 4 and all(" to " in text or text == "exact" for text in shown)

    def test_slots(self, chromium, counted):
        if chromium.ask("counted.topdown?.of") != "AMD Zen 5":
            pytest.skip("the played rates are those of an AMD Zen 5")
        shown = texts_of(chromium, "#hardware .card")[0]
        assert "TouchesPages loses its slots to: waiting for memory 28" in shown
        report = harness.run([harness.ANALYZE, "report", counted.trace.path]).stdout.decode()
        assert "TouchesPages: its slots are lost to: waiting for memory 28.0 % [" in report
        widths = chromium.ask("[...document.querySelector('#hardware .split').children].map(i => parseFloat(i.style.width))")
        assert widths[0] == pytest.approx(50, abs=0.1)


def test_hardware_without_counters_says_how(chromium, real):
    chromium.open(real.page)
    assert "LOTUS_COUNTERS=default" in texts_of(chromium, "#hardware .missing")[0]


def test_many_loaders(chromium, tracer, tmp_path):
    """Those with the same settings share a row."""
    outcome, trace = tracer.trace(harness.program("many_loaders"))
    assert outcome.code == 0, outcome.stderr.decode()
    assert len(trace.report["loaders"]) > 200
    chromium.open(page_of(trace.path, tmp_path))
    assert chromium.problems() == []
    assert chromium.ask("report.loaders.length") == len(trace.report["loaders"])
    shown = chromium.ask("loaderRows().map(row => row.loaders)")
    assert sum(shown) == len(trace.report["loaders"]) and len(shown) < 10


def test_several_traces(chromium, real, tmp_path):
    again = tmp_path / "again.lotus"
    shutil.copy(real.trace.path, again)
    page = tmp_path / "both.html"
    assert harness.run([harness.ANALYZE, "report", "--html", page, real.trace.path, again]).code == 0
    chromium.open(page)
    assert chromium.problems() == []
    assert chromium.ask("report.batches.count") == 2 * real.trace.report["batches"]["count"]
    assert chromium.ask("laneModel.lanes.filter(l => l.training).length") == 2


class TestHostile:
    def test_names_are_text(self, chromium, tracer, texts, tmp_path):
        directory = tmp_path / "</script><script>document.title='owned'</script><!--<img src=x onerror=alert(1)>\u2028'\"&{{report}}"
        directory.mkdir(parents=True)
        shutil.copytree(texts, directory, dirs_exist_ok=True)
        _, trace = tracer.trace(harness.pure_program(data=directory))
        page = page_of(trace.path, tmp_path)
        chromium.open(page)
        assert chromium.problems() == []
        assert chromium.requests() == []
        assert "owned" not in chromium.ask("document.title")
        assert chromium.ask("document.querySelectorAll('img').length") == 0
        assert chromium.ask("report") == trace.report
        assert chromium.ask("sampleData.slowest.some(s => (s.path || '').includes('onerror'))") is True


class TestPoor:
    """Traces with little data."""

    def test_no_samples_of_the_stack(self, chromium, tracer, photos, tmp_path):
        _, trace = tracer.trace(harness.program("classify", "--epochs", "1", data=photos), LOTUS_SAMPLE_HZ=0)
        chromium.open(page_of(trace.path, tmp_path))
        assert chromium.problems() == []
        assert "LOTUS_SAMPLE_HZ" in texts_of(chromium, "#native .missing")[0]

    def test_cut_off(self, chromium, real, tmp_path):
        whole = real.trace.path.read_bytes()
        for part in (0.05, 0.5, 0.95):
            path = tmp_path / f"{part}.lotus"
            path.write_bytes(whole[:int(part * len(whole))])
            chromium.open(page_of(path, tmp_path, f"{part}.html"))
            assert chromium.problems() == []
            assert any("cut off" in text for text in texts_of(chromium, "#verdict .missing"))

    def test_ends_before_what_workers_recorded(self, chromium, real, tmp_path):
        whole, path = real.trace.path.read_bytes(), tmp_path / "early.lotus"
        for size in range(len(whole) // 50, len(whole), len(whole) // 50):
            path.write_bytes(whole[:size])
            report = harness.Trace(path).report
            if report["trace"]["missing_workers"] > 0 and not report["ops"]:
                break
        else:
            pytest.fail("a worker's records are here as soon as the worker")
        chromium.open(page_of(path, tmp_path))
        assert chromium.problems() == []
        for section in ("ops", "batches", "samples", "native"):
            assert "anything that the workers recorded" in texts_of(chromium, f"#{section} .missing")[0], section
        assert "num_workers=0" not in texts_of(chromium, "#verdict")[0]

    def test_no_events(self, chromium, real, tmp_path):
        whole = real.trace.path.read_bytes()
        path = tmp_path / "none.lotus"
        path.write_bytes(whole[:64])
        chromium.open(page_of(path, tmp_path))
        assert chromium.problems() == []
        assert "No event is in the part of the trace that is here" in texts_of(chromium, "#verdict h1")[0]
        for section in (*SECTIONS[1:], "memory"):
            assert chromium.ask(f"document.querySelectorAll('#{section} .missing').length") > 0, section


class TestFile:
    def test_is_not_overwritten(self, real, tmp_path):
        path = page_of(real.trace.path, tmp_path)
        path.write_text("mine")
        outcome = harness.run([harness.ANALYZE, "report", "--html", path, real.trace.path])
        assert outcome.code == 2 and b"--force" in outcome.stderr
        assert path.read_text() == "mine"
        assert harness.run([harness.ANALYZE, "report", "--html", path, "--force", real.trace.path]).code == 0
        assert path.read_text().startswith("<!DOCTYPE html>")

    def test_not_for_what_is_no_trace(self, tmp_path):
        (tmp_path / "no.lotus").write_text("hello")
        outcome = harness.run([harness.ANALYZE, "report", "--html", tmp_path / "page.html", tmp_path / "no.lotus"])
        assert outcome.code == 1
        assert not (tmp_path / "page.html").exists()

    def test_needs_no_network(self, real):
        text = real.page.read_text()
        assert "default-src 'none'" in text
        assert not re.search(r"<(script|link|img|iframe)[^>]*(src|href)=[\"']?(https?:)?//", text)
        assert "Redistribution and use" in text  # the library's licence


class TestMemory:
    @pytest.fixture(scope="class")
    def told(self, tmp_path_factory, tracers):
        directory = tmp_path_factory.mktemp("memory")
        tracers.append(harness.Tracer(directory))
        _, trace = tracers[-1].trace(harness.program("memory_steps", "cnn", "Adam", "list"), LOTUS_STEPS="all")
        page = page_of(trace.path, directory)
        return page, json.loads(harness.run([harness.ANALYZE, "memory", "--json", trace.path]).stdout)

    def test_section_shows_what_memory_says(self, chromium, told):
        page, memory = told
        chromium.look(1280, 800)
        chromium.open(page)
        assert chromium.problems() == []
        text = chromium.ask("document.getElementById('memory').innerText")
        assert all(finding in text for finding in memory["findings"]) and memory["findings"]
        assert f"in step {memory['step']['number']} of process" in text and memory["peak_at"]["op"] in text
        rows = chromium.ask("[...document.querySelectorAll('#memory table')].map(t => t.tBodies[0].rows.length)")
        roles = sum(size > 0 for size in memory["peak_by_role"].values())
        assert rows[:3] == [roles, min(40, len(memory["alive_at_peak"])), len(memory["growth"]["left_behind"])]
        assert chromium.ask("document.querySelectorAll('#memory svg path:not(.domain)').length") >= 2
        phases = chromium.ask("document.querySelectorAll('#memory svg g > rect').length")
        assert phases == len(memory["phases"]) >= 3


def test_head_of_a_page_with_a_region_alone(chromium, tracer, tmp_path):
    """There is no verdict, so nothing says that there is nothing to change; and what is known stands first."""
    _, trace = tracer.trace([harness.PYTHON, harness.PROGRAMS / "cocktailer/lstm.py", "--calls", "4"],
                            LOTUS_REGION="LSTM.forward", LOTUS_STEPS="all")
    first = json.loads(harness.run([harness.ANALYZE, "report", "--json", trace.path]).stdout)["control_flow"]
    told = harness.run([harness.ANALYZE, "control-flow", trace.path]).stdout.decode()
    assert "LSTM.forward" in first and " ".join(told.split()).startswith(first)
    chromium.look(1280, 800)
    chromium.open(page_of(trace.path, tmp_path))
    assert chromium.problems() == []
    assert texts_of(chromium, "#verdict .state") == ["Control flow"]
    assert texts_of(chromium, "#first-change") == []
    (claim,), (said,) = texts_of(chromium, "#verdict h1"), texts_of(chromium, "#first-of-control-flow")
    assert f"{claim} {said}".startswith(first) and "lotus-analyze control-flow" in said
    numbers = chromium.ask("[...document.querySelectorAll('#verdict .number')].map(n => n.dataset.number)")
    assert numbers == ["call", "native", "flow", "lost"]
    sections = chromium.ask("[...document.querySelectorAll('main > section')].map(s => s.id)")
    assert sections == ["verdict", "control-flow", "run"]  # others would be empty
    assert chromium.ask("[...document.querySelectorAll('nav a')].map(a => a.hash)") == ["#control-flow", "#run"]
    report = harness.run([harness.ANALYZE, "report", trace.path]).stdout.decode()
    assert " ".join(report.split()).startswith(f"{first} lotus-analyze control-flow tells more. No batch was recorded")
