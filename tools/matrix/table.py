"""What a run of the matrix found, as a table in Markdown."""
import collections
import re
import xml.etree.ElementTree

PACKAGES = ("torch", "torchvision", "PIL", "numpy")
HEADINGS = ("environment", "Python", "PyTorch", "torchvision", "Pillow", "NumPy", "passed", "failed", "skipped", "why")
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


class Row:
    """One environment: `versions` by package, None where it cannot be imported; `cases` of pytest."""

    def __init__(self, title, versions, cases, reason=""):
        self.title, self.versions, self.cases, self.reason = title, versions, cases, reason

    def count(self, state):
        return sum(case.state == state for case in self.cases)

    @property
    def why(self):
        """Why tests were skipped or failed; why there is no such environment here."""
        reasons = collections.Counter(case.reason for case in self.cases if case.state == "skipped")
        words = [f"{reason} ({count})" for reason, count in reasons.most_common()]
        failed = [case.name for case in self.cases if case.state == "failed"]
        if failed:
            words.insert(0, "failed: " + ", ".join(failed[:5]) + (" …" if failed[5:] else ""))
        return "; ".join(filter(None, [self.reason, *words]))

    def cells(self):
        numbers = [self.versions.get(name) or "-" for name in ("python", *PACKAGES)] if self.versions else ["-"] * 5
        counts = [str(self.count(state)) for state in ("passed", "failed", "skipped")] if self.versions else ["-"] * 3
        return [self.title, *numbers, *counts, self.why]


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


def by_interpreter(cases, title):
    """Rows of test_interpreters.py: one for each CPython, by the version in the tests' names."""
    rows = collections.defaultdict(list)
    for case in cases:
        if match := re.search(r"\[(3\.[0-9.]+)", case.name):
            rows[match[1].rstrip(".")].append(case)

    def key(version):
        return [int(part) for part in version.split(".")]

    return [Row(title, {"python": version}, rows[version]) for version in sorted(rows, key=key)]


def markdown(rows):
    lines = ["| " + " | ".join(HEADINGS) + " |", "|" + "---|" * len(HEADINGS)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row.cells()) + " |" for row in rows]
    return "\n".join(lines) + "\n"
