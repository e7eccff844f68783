"""For Spack 1.0 or later, from the checkout whose tools/wheel has made the wheel:

    spack repo add packaging/spack && spack install --no-checksum py-lotus-trace

A copy of this recipe elsewhere names each release's address and its sum (dist/SHA256SUMS) instead.
"""
import pathlib
import platform

from spack.package import *
from spack_repo.builtin.build_systems.python import PythonPackage


class PyLotusTrace(PythonPackage):
    """Lotus tells why the input pipeline of a PyTorch training is slow: a preloaded tracer for workers,
    operations, files and native functions."""

    license("Apache-2.0")

    # The wheel has all libraries inside of it, and serves every Python: it is installed as it is.
    version("0.2.0", expand=False)

    depends_on("python@3.9:", type=("build", "run"))
    conflicts("platform=darwin")
    conflicts("platform=windows")

    def url_for_version(self, version):
        dist = pathlib.Path(__file__).resolve().parents[4] / "dist"
        return (dist / f"lotus_trace-{version}-py3-none-manylinux2014_{platform.machine()}.whl").as_uri()

    import_modules = ["lotus_trace"]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_commands(self):
        for name in ("lotus", "lotus-analyze", "lotus-collector"):
            Executable(join_path(self.prefix.bin, name))("--version")
