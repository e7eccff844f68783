"""Results of the matrix: kept for each file of tests, shown as a Markdown table."""
import collections
import json
import re
import xml.etree.ElementTree

PACKAGES = ("torch", "torchvision", "PIL", "numpy")
HEADINGS = ("environment", "Python", "PyTorch", "torchvision", "Pillow", "NumPy", "files of tests", "passed", "failed", "skipped",
            "what does not work, and why")
LONGEST = 150  # characters of one reason
VERSIONS = """
import importlib, json, sys
found = {"python": ".".join(map(str, sys.version_info[:3]))}
for name in sys.argv[1:]:
    try:
        found[name] = importlib.import_module(name).__version__
    except Exception:
        found[name] = None
print(json.dumps(found))
"""

Case = collections.namedtuple("Case", "name state reason")  # state: passed, failed or skipped


SECOND = "at the second try"


def second(case, again):
    """The Case of a test that failed and then ran again."""
    return Case(case.name, "passed", SECOND) if again is not None and again.state == "passed" else case


class Row:
    """One environment: `versions` by package, None where it cannot be imported; `cases` of pytest.

    `files`: number of files of tests that ran, as "N of M"; `reason`: further remarks.
    """

    def __init__(self, title, versions, cases, reason="", files=""):
        self.title, self.versions, self.cases, self.reason, self.files = title, versions, cases, reason, files

    def count(self, state):
        return sum(case.state == state for case in self.cases)

    @property
    def why(self):
        """Why tests were skipped or failed, or why the environment is missing."""
        reasons = collections.Counter(case.reason for case in self.cases if case.state == "skipped")
        words = [f"{shortened(reason)} ({count})" for reason, count in reasons.most_common()]
        if tried := sum(case.reason == SECOND for case in self.cases):
            words.append(f"passed {SECOND}: {tried}")
        failed = [case.name for case in self.cases if case.state == "failed"]
        if failed:
            words.insert(0, "failed: " + ", ".join(failed[:5]) + (" …" if failed[5:] else ""))
        return "; ".join(filter(None, [self.reason, *words]))

    def cells(self):
        numbers = [self.versions.get(name) or "-" for name in ("python", *PACKAGES)] if self.versions else ["-"] * 5
        counts = [str(self.count(state)) for state in ("passed", "failed", "skipped")] if self.versions else ["-"] * 3
        return [self.title, *numbers, self.files or "-", *counts, self.why]


def shortened(text):
    return text if len(text) <= LONGEST else text[:LONGEST - 2] + " …"


def read_cases(path):
    """The Cases in a file that pytest wrote with --junitxml."""
    cases = []
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        name = case.get("classname", "").rpartition(".")[2] + "::" + case.get("name")
        state, reason = "passed", ""
        for child in case:
            if child.tag in ("failure", "error"):
                state, reason = "failed", child.get("message", "")
            elif child.tag == "skipped" and state == "passed":
                state, reason = "skipped", child.get("message", "")
        cases.append(Case(name, state, " ".join(reason.split())))
    return cases


class Kept:
    """Results of the last run of each file of tests in an environment; `build` identifies liblotus.so."""

    def __init__(self, directory, build):
        self.directory, self.build = directory, build

    def put(self, name, cases):
        self._path(name).write_text(json.dumps({"build": self.build, "cases": cases}, indent=1))

    def put_versions(self, title, versions):
        self._path("versions").write_text(json.dumps({"title": title, "versions": versions}))

    def cases(self, names):
        """(Cases of these files, files that never ran, files that ran with another build)."""
        cases, missing, older = [], [], []
        for name in names:
            if not self._path(name).exists():
                missing.append(name)
                continue
            known = json.loads(self._path(name).read_text())
            cases += [Case(*case) for case in known["cases"]]
            if known["build"] != self.build:
                older.append(name)
        return cases, missing, older

    def row(self, names, remark=""):
        """The Row of all results of these files; None if there are none."""
        cases, missing, older = self.cases(names)
        if not cases or not self._path("versions").exists():
            return None
        known = json.loads(self._path("versions").read_text())
        notes = [remark, missing and "not run: " + ", ".join(missing), older and "run with an earlier build: " + ", ".join(older)]
        return Row(known["title"], known["versions"], cases, "; ".join(filter(None, notes)),
                   f"{len(names) - len(missing)} of {len(names)}")

    def _path(self, name):
        return self.directory / f"{name}.json"


def by_interpreter(cases, title, note=""):
    """Rows of test_interpreters.py: one for each CPython version in the tests' names."""
    rows = collections.defaultdict(list)
    for case in cases:
        if match := re.search(r"\[(3\.[0-9.]+)", case.name):
            rows[match[1].rstrip(".")].append(case)

    def key(version):
        return [int(part) for part in version.split(".")]

    return [Row(title, {"python": version}, rows[version], note, "1 of 1") for version in sorted(rows, key=key)]


def markdown(rows):
    lines = ["| " + " | ".join(HEADINGS) + " |", "|" + "---|" * len(HEADINGS)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row.cells()) + " |" for row in rows]
    return "\n".join(lines) + "\n"
