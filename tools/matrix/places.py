"""The environments: how each is made, and the Python that it gives the tests.

An environment lives in a directory of its own, is made once, and left as it is afterwards.
"""
import os
import pathlib
import shutil
import subprocess

import interpreters

DEBIAN = ["python3-torch", "python3-torchvision", "python3-pil", "python3-numpy", "python3-pytest", "python3-coverage"]
COMPILER = ["g++", "python3-dev", "libtorch-dev"]  # torch.compile's default backend needs them
# A mirror may be a snapshot whose date has expired; signatures are still checked.
APT = ["apt-get", "-qq", "-o", "Acquire::Check-Valid-Until=false"]
OLDEST_OF_WHEELS = (3, 10)  # today's PyTorch needs it
TORCH = ["torch==2.13.0+cpu", "torch"]  # first choice: the small CPU build; then the default one (5 GB)
WHEELS = ["torchvision", "pillow", "numpy", "albumentations", "opencv-python-headless", "timm", "datasets", "soundfile",
          "ipykernel", "flask", "coverage"]
DECLARED = pathlib.Path(__file__).with_name("declared_operators.py")


class Unavailable(Exception):
    """An environment cannot be made; the message gives the reason and a remedy."""


def told(*command, **options):
    """Runs a command; returns its output, or raises Unavailable with its last lines."""
    try:
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", **options)
    except FileNotFoundError:
        raise Unavailable(f"{command[0]} is missing; tools/packages names the package") from None
    if done.returncode != 0:
        lines = [line for line in done.stdout.splitlines() if line.strip()]
        raise Unavailable(f"`{' '.join(str(word) for word in command[:6])} …` failed: {' / '.join(lines[-3:])}")
    return done.stdout


class Here:
    """The distribution's own Python, on this machine."""

    name, title, root, remark = "here", "this machine", None, ""

    def __init__(self):
        words = {line.partition("=")[0]: line.partition("=")[2].strip('"')
                 for line in pathlib.Path("/etc/os-release").read_text().splitlines()}
        self.title = f"{words['ID'].capitalize()} {words.get('VERSION_ID', '')}".strip()

    def present(self):
        return True

    def make(self):
        pass

    def python(self, _):
        return pathlib.Path("/usr/bin/python3")


class Wheels:
    """A virtual environment with wheels, PyTorch among them, of one interpreter."""

    root = None

    def __init__(self, directory, base, version, wheels=WHEELS):
        self.name = "wheels-" + version
        self.directory, self.base, self.title, self.wheels = directory / self.name, base, "wheels", wheels

    def present(self):
        return (self.directory / "made").exists()

    def make(self):
        if self.present():
            return
        told(self.base, "-m", "venv", "--clear", self.directory)
        pip = [self.directory / "bin/python", "-m", "pip", "install", "-q"]
        self.install_torch(pip)
        fixed = self.directory / "constraints"
        installed = "import importlib.metadata; print(importlib.metadata.version('torch'))"
        fixed.write_text(f"torch=={told(self.python(None), '-c', installed).strip()}\n")
        for wheel in self.wheels:
            try:
                told(*pip, "-c", fixed, wheel)
            except Unavailable as error:
                print(f"   {wheel} is left out: {error}")
        self.declare_operators()
        (self.directory / "made").touch()

    def install_torch(self, pip):
        for torch in TORCH:
            try:
                told(*pip, torch)
                return
            except Unavailable as error:
                why = error
        raise Unavailable(f"{why}. Name an index that has PyTorch in PIP_EXTRA_INDEX_URL")

    def declare_operators(self):
        """Makes torchvision for CUDA importable, as there is no wheel of it for the CPU build of PyTorch."""
        if self.imports("torchvision"):
            return
        packages = pathlib.Path(told(self.python(None), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
        shutil.copy(DECLARED, packages)
        (packages / "declared_operators.pth").write_text("import declared_operators\n")
        if self.imports("torchvision"):
            (self.directory / "remark").write_text("torchvision's wheel is built for CUDA: its native operators are declared, not loaded")
        else:
            (packages / "declared_operators.pth").unlink()

    def imports(self, module):
        try:
            return told(self.python(None), "-c", f"import {module}") is not None
        except Unavailable:
            return False

    @property
    def remark(self):
        """The remark on this environment in the table."""
        path = self.directory / "remark"
        return path.read_text() if path.exists() else ""

    def python(self, _):
        return self.directory / "bin/python"


class Overlay:
    """A virtual environment with some wheels more than another one, whose packages it sees but does not change."""

    def __init__(self, below, directory, wheels):
        self.below, self.directory, self.wheels = below, directory, wheels

    def make(self):
        self.below.make()
        wanted = "\n".join(self.wheels)
        made = self.directory / "made"
        if made.exists() and made.read_text() == wanted:
            return
        told(self.below.base, "-m", "venv", "--clear", "--without-pip", self.directory)
        path = "import sysconfig; print(sysconfig.get_path('purelib'))"
        own, others = (pathlib.Path(told(python, "-c", path).strip()) for python in (self.python, self.below.python(None)))
        (own / "below.pth").write_text(f"import site; site.addsitedir({str(others)!r})\n")
        fixed = self.below.directory / "constraints"
        told(self.below.python(None), "-m", "pip", "--python", self.python, "install", "-q", "-c", fixed, *self.wheels)
        made.write_text(wanted)

    @property
    def python(self):
        return self.directory / "bin/python"


class DebianRoot:
    """A minimal Debian of another release in a directory, entered by chroot. Needs root."""

    remark = ""

    def __init__(self, directory, suite, title):
        self.root, self.name, self.title = directory / suite, suite, title

    def present(self):
        return (self.root / "lotus-made").exists()

    def make(self):
        if os.geteuid() != 0:
            raise Unavailable("only root may make a Debian root and enter it: run as root, in a container for example")
        if not (self.root / "usr/bin/apt-get").exists():
            told("debootstrap", "--variant=minbase", self.name, self.root, mirror())
        self.mount("/proc", "/dev", "/sys")
        if self.present():
            return
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
        told("chroot", self.root, *APT, "update", env=quiet)
        told("chroot", self.root, *APT, "install", "-y", "--no-install-recommends", *DEBIAN, *COMPILER, env=quiet)
        (self.root / "lotus-made").touch()

    def mount(self, *paths):
        """Mounts these directories in the root under the same names. They vanish with our mount namespace."""
        for path in paths:
            target = pathlib.Path(f"{self.root}{path}")
            target.mkdir(parents=True, exist_ok=True)
            told("mount", "--rbind", path, target)

    def python(self, results, name="python3"):
        """Writes a script that runs the root's Python in the working directory of the caller."""
        script = results / f"run-{name}"
        script.write_text(f"#!/bin/sh\nexec chroot {self.root} /usr/bin/env -C \"$PWD\" /usr/bin/{name} \"$@\"\n")
        script.chmod(0o755)
        return script

    def interpreters(self, results):
        """Such scripts for each of the root's versions of Python."""
        return [self.python(results, path.name) for path in sorted(self.root.glob("usr/bin/python3.*[0-9]"))]


def mirror():
    """The mirror of this machine's packages, or that of LOTUS_DEBIAN_MIRROR."""
    if "LOTUS_DEBIAN_MIRROR" in os.environ:
        return os.environ["LOTUS_DEBIAN_MIRROR"]
    targets = told("apt-get", "indextargets", "--format", "$(ORIGIN) $(REPO_URI)", "Created-By: Packages").splitlines()
    found = [line.split()[-1] for line in targets if line.startswith("Debian ") and line.rstrip("/").endswith("/debian")]
    if not found:
        raise Unavailable("this machine's apt knows no Debian mirror: name one in LOTUS_DEBIAN_MIRROR")
    return found[0]


def all_places(directory):
    """All possible environments, in the order of the table."""
    bases = {"3.11": "/usr/bin/python3"}
    supported = [numbers for numbers in interpreters.found() if OLDEST_OF_WHEELS <= numbers[:2] <= interpreters.NEWEST]
    if supported:
        newest = max(supported)
        bases.setdefault(f"{newest[0]}.{newest[1]}", interpreters.found()[newest])
    wheels = [Wheels(directory, base, version) for version, base in bases.items()]
    return [Here(), *wheels, DebianRoot(directory, "trixie", "Debian 13"), DebianRoot(directory, "sid", "Debian sid")]
