"""The documentation: targets of links and named files exist."""
import re

import pytest

import harness

PAGES = sorted(path for path in harness.SOURCE.rglob("*.md")
               if not {"build", ".git"} & set(path.relative_to(harness.SOURCE).parts))
ROOMS = "analyzer|bench|collector|docs|examples|include|preload|tests|tools"
NAMED = re.compile(rf"`((?:{ROOMS})/[\w./-]*)`")
PLACEHOLDER = re.compile(r"\bNAME\b")


def name(path):
    return str(path.relative_to(harness.SOURCE))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links(page):
    """Links within this repository."""
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_files_that_are_named(page):
    named = {path for path in NAMED.findall(page.read_text()) if not PLACEHOLDER.search(path)}
    assert sorted(path for path in named if not (harness.SOURCE / path).exists()) == []


def test_every_page_is_in_the_index():
    index = "".join((harness.SOURCE / "docs" / place / "README.md").read_text() for place in (".", "adding", "causes"))
    pages = [path for path in (harness.SOURCE / "docs").rglob("*.md") if path.name != "README.md"]
    assert [name(path) for path in pages if f"({path.name})" not in index] == []


def test_readme_is_for_five_minutes():
    assert len((harness.SOURCE / "README.md").read_bytes()) <= 12_000
