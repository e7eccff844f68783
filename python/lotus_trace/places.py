"""Where the programs of this installation are, and how one of them is run."""
import os
import pathlib
import subprocess

HOME = pathlib.Path(__file__).resolve().parent
LIBRARY = HOME / "lib/liblotus.so"
COLLECTOR = HOME / "bin/lotus-collector"
ANALYZE = HOME / "bin/lotus-analyze"


def preload(environment, library=LIBRARY):
    """The value of LD_PRELOAD with which our library comes first; what was there is kept.

    Another copy of the library is left out: two of them would interpose each other.
    """
    before = environment.get("LD_PRELOAD", "").replace(":", " ").split()
    kept = [path for path in before if os.path.basename(path) != LIBRARY.name]
    return ":".join([str(library), *kept])


def without_preload():
    """The environment without LD_PRELOAD, for our own programs."""
    return {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}


def ask(program, *words):
    """Runs one of our programs to its end; returns (exit code, standard output, standard error)."""
    outcome = subprocess.run([str(program), *map(str, words)], capture_output=True, env=without_preload(),
                             encoding="utf-8", errors="replace")
    return outcome.returncode, outcome.stdout, outcome.stderr
