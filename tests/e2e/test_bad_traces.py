"""Damaged traces and other files, given to each command: exit code 1 or a remark, never a crash."""
import os
import pathlib

import pytest

import harness

COMMANDS = ["info", "dump", "report", "batches", "timeline", "counters"]


@pytest.fixture(scope="module")
def good(tmp_path_factory, photos):
    """A trace of a real program."""
    tracer = harness.Tracer(tmp_path_factory.mktemp("good"))
    _, trace = tracer.trace(harness.program("classify", "--epochs", "1", data=photos))
    tracer.close()
    return trace.path.read_bytes()


def analyze(command, path):
    options = ["-o", "-"] if command == "timeline" else []
    return harness.run([harness.ANALYZE, command, *options, path])


@pytest.mark.parametrize("command", COMMANDS)
class TestUnusable:
    def refused(self, command, path, *words):
        outcome = analyze(command, path)
        assert outcome.code == 1
        said = outcome.stderr.decode(errors="replace")
        assert os.path.basename(path) in said
        assert any(word in said.lower() for word in words), said

    def test_missing(self, command, tmp_path):
        self.refused(command, tmp_path / "missing.lotus", "no such file", "not exist", "not found", "no file")

    def test_empty(self, command, tmp_path):
        path = tmp_path / "empty.lotus"
        path.touch()
        self.refused(command, path, "empty")

    def test_directory(self, command, tmp_path):
        self.refused(command, tmp_path, "directory")

    @pytest.mark.parametrize("content", [b"\x7fELF" + bytes(5000), b"hello\n", b"\x89PNG\r\n\x1a\n" * 50])
    def test_other_kind_of_file(self, command, content, tmp_path):
        path = tmp_path / "other.lotus"
        path.write_bytes(content)
        self.refused(command, path, "not a lotus trace", "no lotus trace")

    def test_newer_version(self, command, good, tmp_path):
        path = tmp_path / "newer.lotus"
        path.write_bytes(good[:8] + (99).to_bytes(4, "little") + good[12:])
        self.refused(command, path, "version 99")

    def test_unreadable(self, command, good, tmp_path):
        if os.geteuid() == 0:
            pytest.skip("root may read everything")
        path = tmp_path / "closed.lotus"
        path.write_bytes(good)
        path.chmod(0)
        self.refused(command, path, "permission")


@pytest.mark.parametrize("command", COMMANDS)
def test_truncated(command, good, tmp_path):
    """Cut in the header, right behind it, and in the middle of frames."""
    path = tmp_path / "cut.lotus"
    for size in [1, 8, 40, 63, 64, 65, 100, len(good) // 3, len(good) // 2, len(good) - 113, len(good) - 1]:
        path.write_bytes(good[:size])
        outcome = analyze(command, path)
        assert outcome.code in (0, 1), (size, outcome.stderr)
        assert outcome.code == (1 if size < 64 else outcome.code), size
        if outcome.code == 1:
            assert b"cut.lotus" in outcome.stderr
    assert outcome.code == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_damaged_in_the_middle(command, good, tmp_path):
    path = tmp_path / "damaged.lotus"
    for place in range(200, len(good), len(good) // 12):
        path.write_bytes(good[:place] + bytes(byte ^ 0xA5 for byte in good[place:place + 16]) + good[place + 16:])
        outcome = analyze(command, path)
        assert outcome.code in (0, 1), (place, outcome.stderr)


def test_report_says_that_a_trace_is_cut_off(good, tmp_path):
    path = tmp_path / "cut.lotus"
    path.write_bytes(good[: len(good) - 200])
    assert harness.Trace(path).report["trace"]["truncated"] is True
    assert "cut off" in harness.Trace(path).text or "truncated" in harness.Trace(path).text


def test_newest_trace_of_the_working_directory(good, tmp_path):
    for age, name in [(100, "old.lotus"), (50, "new.lotus")]:
        (tmp_path / name).write_bytes(good)
        os.utime(tmp_path / name, (1_600_000_000 - age, 1_600_000_000 - age))
    outcome = harness.run([harness.ANALYZE, "info"], cwd=tmp_path)
    assert outcome.code == 0 and b"new.lotus" in outcome.stdout
    empty = pathlib.Path(tmp_path / "empty")
    empty.mkdir()
    outcome = harness.run([harness.ANALYZE, "report"], cwd=empty)
    assert outcome.code == 1 and b".lotus" in outcome.stderr


def test_wrong_usage():
    for arguments in (["no-such-command"], ["report", "--no-such-option"], []):
        outcome = harness.run([harness.ANALYZE, *arguments])
        assert outcome.code == 2 and outcome.stderr
