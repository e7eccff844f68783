"""What liblotus.so may need and export, which room may include what, and the style of the code."""
import os
import re
import shutil
import subprocess

import pytest

import harness

ROOMS = ("preload", "collector", "analyzer")
# Dependencies that have one home each, by the beginning of what is included.
HOMES = {"zstd": ROOMS, "nlohmann": ("collector", "analyzer"), "fmt": ("collector", "analyzer"),
         "CLI": ("collector", "analyzer"), "libunwind": ("collector",), "elfutils": ("collector",),
         "sodium": ("analyzer",), "protozero": ("analyzer",), "rapidjson": ("analyzer",), "utf8": ("analyzer",)}
SOURCES = ("include", *ROOMS, "tests", "bench")


def tool(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def files(*directories):
    found = [path for name in directories for pattern in ("*.cpp", "*.hpp")
             for path in (harness.SOURCE / name).rglob(pattern)]
    assert found
    return sorted(found)


def includes(path):
    return re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', path.read_text(), re.MULTILINE)


def test_library_needs_libc_only():
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", tool("readelf", "-d", harness.LIBRARY))
    assert "libc.so.6" in needed
    assert set(needed) <= {"libc.so.6", "ld-linux-x86-64.so.2"}


@pytest.mark.skipif(os.confstr("CS_GNU_LIBC_VERSION") != "glibc 2.36", reason="built against another libc than Debian 12's")
@pytest.mark.parametrize("file, newest", [(harness.LIBRARY, (2, 34)), (harness.COLLECTOR, (2, 35))], ids=["library", "collector"])
def test_runs_in_containers_of_older_systems(file, newest):
    """Both come into a container from outside: Ubuntu 22.04's libc is 2.35."""
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", tool("objdump", "-T", file))
    assert max((int(major), int(minor)) for major, minor in versions) <= newest


def test_library_exports_nothing_but_what_interposes():
    rows = re.findall(r"\bS\((\w+)[,)]", (harness.SOURCE / "preload/native/symbols.hpp").read_text())
    rows = {name for name in rows if name != "symbol"}
    assert len(rows) > 20
    exported = {line.split()[-1] for line in tool("nm", "-D", "--defined-only", harness.LIBRARY).splitlines()}
    assert exported == rows


def test_library_has_no_runtime_of_cpp():
    undefined = [line.split()[-1] for line in tool("nm", "-D", "--undefined-only", harness.LIBRARY).splitlines()]
    forbidden = re.compile(r"^(_Zn|_Zd|__cxa_(throw|begin|end|guard|alloc)|_ZTI|_ZTV|__gxx_|_Unwind_|_ZNSt|_?Py)")
    assert [name for name in undefined if forbidden.match(name)] == []


def test_library_runs_no_initialisers_but_its_constructor():
    """.init_array holds the compiler's frame_dummy and our one constructor."""
    size = re.search(r"\(INIT_ARRAYSZ\)\s+(\d+)", tool("readelf", "-d", harness.LIBRARY))
    assert size is not None and int(size.group(1)) // 8 <= 2


def test_library_keeps_unwind_tables_and_no_text_relocations():
    assert ".eh_frame" in tool("readelf", "-S", "-W", harness.LIBRARY)
    assert "TEXTREL" not in tool("readelf", "-d", harness.LIBRARY)


def test_stack_is_not_executable():
    header = re.search(r"GNU_STACK.*", tool("readelf", "-l", "-W", harness.LIBRARY)).group()
    assert " RWE " not in header


@pytest.mark.parametrize("room", ROOMS)
def test_room_includes_only_the_contract_and_itself(room):
    others = [name for name in (*ROOMS, "tests", "bench", "tools") if name != room]
    for path in files(room):
        for name in includes(path):
            assert ".." not in name.split("/"), f"{path} includes {name}"
            assert name.split("/")[0] not in others, f"{path} includes {name} of another room"


@pytest.mark.parametrize("dependency", sorted(HOMES))
def test_dependency_has_one_home(dependency):
    for path in files("include", *ROOMS):
        room = path.relative_to(harness.SOURCE).parts[0]
        used = [name for name in includes(path) if re.match(rf"{dependency}\b", name)]
        assert not used or room in HOMES[dependency], f"{path} includes {used}"


def test_contract_includes_no_system_headers():
    allowed = re.compile(r"^(lotus/\w+\.hpp|cstddef|cstdint|cstring|iterator|string_view|type_traits|utility)$")
    for path in files("include"):
        assert [name for name in includes(path) if not allowed.match(name)] == []


def test_preload_uses_neither_heap_nor_streams():
    objects = sorted((harness.BUILD / "preload/CMakeFiles/lotus_preload.dir").rglob("*.o"))
    assert objects
    used = {line.split()[-1] for line in tool("nm", "--undefined-only", *objects).splitlines() if " U " in line}
    assert not used & {"malloc", "calloc", "realloc", "free", "strdup", "_Znwm", "_ZdlPv", "printf", "fprintf",
                       "fopen", "fwrite", "fputs", "puts", "abort", "exit", "__assert_fail"}


@pytest.mark.skipif(shutil.which("clang-format") is None, reason="clang-format is not installed")
def test_code_is_formatted():
    outcome = subprocess.run(["clang-format", "--dry-run", "-Werror", *files(*SOURCES)], capture_output=True,
                             text=True, cwd=harness.SOURCE)
    assert outcome.returncode == 0, outcome.stderr


@pytest.mark.parametrize("name", ["lotus-collector", "lotus-analyze"])
def test_programs_answer_help_version_and_wrong_usage(name):
    path = harness.BUILD / "bin" / name
    for option in ("--help", "--version"):
        outcome = harness.run([path, option])
        assert outcome.code == 0 and outcome.stdout and not outcome.stderr
    outcome = harness.run([path, "--no-such-option"])
    assert outcome.code == 2 and outcome.stderr and not outcome.stdout
