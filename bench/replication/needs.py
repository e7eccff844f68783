"""What the experiments need of this machine, checked before the first step: a run takes an hour."""
import importlib.machinery
import importlib.util
import pathlib
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = SOURCE / "tests/programs"
BOXED = pathlib.Path("/usr/share/doc/labelme-examples/examples/bbox_detection/data_annotated")
PYTHON = "/usr/bin/python3"
BUILT = ("lib/liblotus.so", "bin/lotus-collector", "bin/lotus-analyze", "share/lotus/figures/draw.py")
MODULES = {"torch": "python3-torch", "torchvision": "python3-torchvision", "PIL": "python3-pil", "numpy": "python3-numpy"}
DRAWING = {"matplotlib": "python3-matplotlib"}


def imports(python, module):
    try:
        return subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0
    except OSError:
        return False


def packages_missing():
    """(what is missing, the Debian package that has it)."""
    rows = [(f"{PYTHON} has no {module}", package) for module, package in MODULES.items() if not imports(PYTHON, module)]
    rows += [(f"no python3 has {module}, which draws the figures", package) for module, package in DRAWING.items()
             if not any(imports(python, module) for python in ("python3", PYTHON))]
    path = SOURCE / "tools/photos"
    loader = importlib.machinery.SourceFileLoader("photos", str(path))
    photos = importlib.util.module_from_spec(importlib.util.spec_from_loader("photos", loader))
    loader.exec_module(photos)
    try:
        photos.photographs()
    except SystemExit:
        rows.append((f"{photos.SOURCE} lacks photographs", photos.PACKAGE))
    if not BOXED.is_dir():
        rows.append((f"{BOXED} is missing", "labelme-examples"))
    return rows


def missing(build):
    """One line for each thing that is missing, and for each remedy."""
    lines = [f"{build / path} is missing" for path in BUILT if not (build / path).exists()]
    if lines:
        lines.append("  build first (tools/quickstart), or name --build")
    packages = packages_missing()
    lines += [what for what, _ in packages]
    if packages:
        lines.append("  apt-get install " + " ".join(sorted({package for _, package in packages})))
    return lines
