"""On a Debian 12 with nothing but Python and pip: pip, `lotus demo` and apt, by tools/roots."""
import shutil

import pytest

import harness


def test_debian_12(tmp_path):
    if shutil.which("debootstrap") is None:
        pytest.skip("debootstrap is not installed")
    if why := harness.cannot_unshare("-m"):
        pytest.skip(why)
    command = [harness.SOURCE / "tools/roots", "bookworm", "--no-torch", "--build", harness.BUILD]
    told = harness.run(command, timeout=900, LOTUS_ROOTS=tmp_path)
    text = told.stdout.decode()
    if "NOT tried" in text:
        pytest.skip(text[text.index("!! "):].splitlines()[0])
    assert told.code == 0, text + told.stderr.decode()
    row = next(line for line in text.splitlines() if line.startswith("| Debian 12 |"))
    assert row.count("✓") == 3 and "failed" not in row
