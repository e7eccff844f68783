"""What the programs say of the release and the commit that they were built from."""
import re
import shutil
import subprocess

import pytest

import harness

SCRIPT = "tools/version.cmake"
DATE = "2026-02-03T23:30:00-0800"  # the next day in UTC
FORM = r"\d+\.\d+\.\d+ \((changed since |)commit [0-9a-f]{12}, \d{4}-\d\d-\d\d\)|\d+\.\d+\.\d+ \(unknown commit\)"


def git(checkout, *words):
    person = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
              for what, value in (("NAME", "x"), ("EMAIL", "x@example.org"), ("DATE", DATE))}
    done = subprocess.run(["git", "-C", checkout, *words], check=True, capture_output=True, env=harness.clean_environment(**person))
    return done.stdout


def said(source):
    """The version that a build of these sources gets."""
    output = source.parent / "version.cpp"
    subprocess.run(["cmake", "-D", f"SOURCE={source}", "-D", "RELEASE=1.2.3", "-D", f"OUTPUT={output}", "-P", source / SCRIPT],
                   check=True)
    return re.search(r'return "(.*)"', output.read_text()).group(1)


@pytest.fixture
def checkout(tmp_path):
    """A repository with nothing but what makes the version; its commit."""
    for tool in ("git", "cmake"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    (tmp_path / "checkout/tools").mkdir(parents=True)
    for name in (SCRIPT, ".gitattributes"):
        shutil.copy(harness.SOURCE / name, tmp_path / "checkout" / name)
    git(tmp_path / "checkout", "init", "--quiet")
    git(tmp_path / "checkout", "add", ".")
    git(tmp_path / "checkout", "commit", "--quiet", "--message", "x")
    return tmp_path / "checkout"


def test_commit_and_its_date_in_the_committers_time_zone(checkout):
    commit = git(checkout, "rev-parse", "HEAD").decode()[:12]
    assert said(checkout) == f"1.2.3 (commit {commit}, 2026-02-03)"
    (checkout / ".gitattributes").write_text("")
    assert said(checkout) == f"1.2.3 (changed since commit {commit}, 2026-02-03)"


def test_a_tarball_knows_its_commit(checkout):
    """Also inside of another repository."""
    commit = git(checkout, "rev-parse", "HEAD").decode()[:12]
    (checkout / "unpacked").mkdir()
    subprocess.run(["tar", "-x", "-C", checkout / "unpacked"], input=git(checkout, "archive", "HEAD"), check=True)
    git(checkout, "commit", "--quiet", "--allow-empty", "--message", "y")
    assert said(checkout / "unpacked") == f"1.2.3 (commit {commit}, 2026-02-03)"


def test_outside_of_git_the_commit_is_unknown(checkout):
    shutil.rmtree(checkout / ".git")
    assert said(checkout) == "1.2.3 (unknown commit)"


def test_all_commands_say_release_and_commit():
    """The release is that of CMakeLists.txt, and nowhere else."""
    release = re.search(r"project\(lotus VERSION ([0-9.]+)", (harness.SOURCE / "CMakeLists.txt").read_text()).group(1)
    told = [harness.run([harness.BUILD / "bin" / name, "--version"]).stdout.decode() for name in ("lotus-analyze", "lotus-collector")]
    told.append(harness.run([harness.PYTHON, "-m", "lotus_trace", "--version"], PYTHONPATH=harness.BUILD / "wheel").stdout.decode())
    names, versions = zip(*(line.rstrip("\n").split(" ", 1) for line in told))
    assert names == ("lotus-analyze", "lotus-collector", "lotus")
    # Not all need have been built since the last commit.
    assert all(re.fullmatch(FORM, version) and version.startswith(f"{release} ") for version in versions)


def test_the_changelog_has_the_release():
    release = re.search(r"project\(lotus VERSION ([0-9.]+)", (harness.SOURCE / "CMakeLists.txt").read_text()).group(1)
    assert re.search(rf"^## \[{re.escape(release)}\]", (harness.SOURCE / "CHANGELOG.md").read_text(), re.MULTILINE)
