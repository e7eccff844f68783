"""What the container image holds, and the recipes: one directory that stands alone."""
import re
import shutil

import pytest

import harness

PACKAGING = harness.SOURCE / "packaging"
MOST_MB = 20
NAMED = re.compile(r"(?:version: |version\()\"(\d+\.\d+\.\d+)\"")


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """The last stage of the container file, as its build stage makes it."""
    root = tmp_path_factory.mktemp("image")
    made = harness.run([PACKAGING / "stage", "--built", harness.BUILD, root / "opt/lotus"])
    assert made.code == 0, made.stderr.decode()
    return root


def test_the_container_file_stages_what_is_tested_here():
    lines = (PACKAGING / "Containerfile").read_text().splitlines()
    assert "RUN packaging/stage /image/opt/lotus" in lines
    assert lines[lines.index("FROM scratch") + 1] == "COPY --from=build /image /"


def test_size(image):
    files = [path for path in image.rglob("*") if path.is_file() and not path.is_symlink()]
    assert 5_000_000 < sum(path.stat().st_size for path in files) <= MOST_MB * 1_000_000


def test_links_lead_to_the_inside(image):
    links = [path for path in image.rglob("*") if path.is_symlink()]
    assert len(links) >= 4 and all(path.resolve().is_relative_to(image) and path.exists() for path in links)


def test_its_programs_run_where_nothing_else_is(image):
    for name in ("lotus-analyze", "lotus-collector"):
        told = harness.run(["chroot", image, f"/opt/lotus/bin/{name}", "--version"])
        if told.code == 125:  # chroot itself: only root may
            pytest.skip(told.stderr.decode().strip())
        assert (told.code, told.stdout) == (0, harness.run([harness.BUILD / "bin" / name, "--version"]).stdout)


def test_a_copy_of_it_traces(image, tracer, texts, tmp_path):
    """As after COPY --from: what it was copied from is gone."""
    copy = tmp_path / "elsewhere"
    shutil.copytree(image / "opt/lotus", copy, symlinks=True)
    trace = tracer.directory / "x.lotus"
    told = harness.run([copy / "bin/lotus", "run", "--output", trace, "--", *harness.pure_program(data=texts)],
                       LOTUS_DIR=tracer.segments)
    assert told.code == 0 and b"samples/s" in told.stderr, told.stderr.decode()
    plain = harness.run(harness.pure_program(data=texts), LD_PRELOAD=copy / "lib/liblotus.so", LOTUS_DIR=tracer.segments,
                        LOTUS_OUTPUT=tracer.directory / "y.lotus")
    assert plain.code == 0
    harness.wait_until(lambda: harness.is_complete(tracer.directory / "y.lotus"), "the copy's own collector")


@pytest.mark.parametrize("name", ["conda/recipe.yaml", "spack/packages/py_lotus_trace/package.py"])
def test_recipes_are_of_this_release(name):
    release = re.search(r"project\(lotus VERSION ([0-9.]+)", (harness.SOURCE / "CMakeLists.txt").read_text()).group(1)
    assert NAMED.findall((PACKAGING / name).read_text()) == [release]

