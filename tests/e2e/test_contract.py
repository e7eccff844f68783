"""Symbols that liblotus.so may need and export, includes that a room may have, and the code's style."""
import os
import re
import shutil
import subprocess

import pytest

import harness

ROOMS = ("preload", "collector", "analyzer")
# The rooms that may include each dependency, by the beginning of its headers' names.
HOMES = {"zstd": ROOMS, "nlohmann": ("collector", "analyzer"), "fmt": ("collector", "analyzer"),
         "CLI": ("collector", "analyzer"), "elfutils": ("collector",),
         "sodium": ("analyzer",), "protozero": ("analyzer",), "rapidjson": ("analyzer",), "utf8": ("analyzer",)}
SOURCES = ("include", *ROOMS, "tests", "bench")

# The plan has a row for each room, with the rooms that it may include beside itself and the contract: only
# rooms above it. A room is a folder or a single module. A file belongs to the longest row that matches its
# path, so "collector" is the collector's files that are in no other row.
PLAN = {
    "include": "",
    "preload/system": "",
    "preload/counters": "system",
    "preload/record": "system counters",
    "preload/python": "system record",
    "preload/sampling": "system record python",
    "preload/native": "system record python sampling",
    "preload/operators": "system record python native",
    "preload/pipeline": "system counters record python sampling native operators",
    "preload/life": "system counters record python sampling native operators pipeline",
    "collector/fd": "",
    "collector/clock": "",
    "collector/text": "",
    "collector/log": "fd text",
    "collector/guarded_mapping": "",
    "collector/packer": "",
    "collector/frame_index": "fd",
    "collector/trace_file": "fd packer frame_index",
    "collector/stacks": "fd clock text log guarded_mapping packer trace_file",
    "collector/names": "fd clock text log guarded_mapping packer stacks",
    "collector": "fd clock text log guarded_mapping packer frame_index trace_file stacks names",
    "analyzer/text": "",
    "analyzer/reading": "text",
    "analyzer/answers": "text reading",
    "analyzer/showing": "text reading answers",
    "analyzer/care": "text reading",
    "analyzer/paper": "text reading answers",
    "analyzer/commands": "text reading answers showing care paper",
    "analyzer": "text commands",
}


def tool(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def files(*directories):
    found = [path for name in directories for pattern in ("*.cpp", "*.hpp")
             for path in (harness.SOURCE / name).rglob(pattern)]
    assert found
    return sorted(found)


def includes(path):
    return re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', path.read_text(), re.MULTILINE)


def room_of(path, plan):
    """The longest row that contains this path without suffix; None if there is none."""
    return max((row for row in plan if f"{path}/".startswith(f"{row}/")), key=len, default=None)


def included(root):
    """Yields (file, included file) for each include of a project file, as paths below `root`."""
    for program in ("include", *ROOMS):
        for path in sorted((root / program).rglob("*.[ch]pp")):
            for name in includes(path):
                for base in (root / program, path.parent, root / "include"):
                    if (base / name).is_file():
                        yield str(path.relative_to(root)), str((base / name).resolve().relative_to(root.resolve()))
                        break


def module(path):
    """The path without suffix, which a header and its source file share."""
    return path.rpartition(".")[0]


def forbidden_edges(root, plan):
    """Pairs of rooms in which the first includes the second against the plan; None stands for no room."""
    edges = {(room_of(module(file), plan), room_of(module(other), plan)) for file, other in included(root)}
    allowed = {(row, f"{row.partition('/')[0]}/{name}") for row, names in plan.items() for name in names.split()}
    return {(room, other) for room, other in edges
            if None in (room, other) or room != other and other != "include" and (room, other) not in allowed}


def circles(edges):
    """Sets of names that include each other, directly or not; a set of one includes itself."""
    following = {}
    for one, other in edges:
        following.setdefault(one, set()).add(other)

    def reached(start):
        seen, left = set(), [start]
        while left:
            new = following.get(left.pop(), set()) - seen
            seen |= new
            left += new
        return seen

    reach = {one: reached(one) for one in following}
    return {frozenset(other for other in reach[one] if one in reach.get(other, ())) for one in reach if one in reach[one]}


def module_circles(root):
    return circles({(module(file), module(other)) for file, other in included(root) if module(file) != module(other)})


def test_plan_has_no_circle_and_a_row_for_each_room():
    rows = list(PLAN)
    for row, names in PLAN.items():
        above = {other for other in rows[:rows.index(row)]}
        assert {f"{row.partition('/')[0]}/{name}" for name in names.split()} <= above, row
    used = {room_of(module(str(path.relative_to(harness.SOURCE))), PLAN) for path in files("include", *ROOMS)}
    assert used == set(rows)


def test_rooms_include_what_the_plan_allows():
    assert forbidden_edges(harness.SOURCE, PLAN) == set()


def test_no_circles():
    assert circles(included(harness.SOURCE)) == set()
    assert module_circles(harness.SOURCE) == set()


def make_tree(root, **sources):
    """Writes source files: `ground_a_hpp="top/b.hpp"` makes preload/ground/a.hpp, which includes that."""
    for name, included_files in sources.items():
        room, stem, suffix = name.split("_")
        path = root / "preload" / room / f"{stem}.{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f'#include "{other}"\n' for other in included_files.split()))
    return root


def test_checks_of_the_plan_find_what_is_forbidden(tmp_path):
    plan = {"preload/ground": "", "preload/top": "ground"}
    allowed = make_tree(tmp_path, ground_a_hpp="", ground_a_cpp="ground/a.hpp", top_b_hpp="ground/a.hpp", top_b_cpp="top/b.hpp")
    assert forbidden_edges(allowed, plan) == set() and module_circles(allowed) == set()
    upwards = make_tree(allowed, ground_a_cpp="ground/a.hpp top/b.hpp")
    assert forbidden_edges(upwards, plan) == {("preload/ground", "preload/top")}
    assert module_circles(upwards) == {frozenset({"preload/ground/a", "preload/top/b"})}
    assert circles(included(upwards)) == set()  # of modules only, not of files
    make_tree(upwards, ground_a_cpp="", ground_a_hpp="top/b.hpp")
    assert circles(included(upwards)) == {frozenset({"preload/ground/a.hpp", "preload/top/b.hpp"})}
    make_tree(upwards, ground_a_hpp="", attic_c_cpp="ground/a.hpp")
    assert forbidden_edges(upwards, plan) == {(None, "preload/ground")}
    make_tree(upwards, attic_c_cpp="", top_b_hpp="b.hpp")  # one beside it, and itself
    assert circles(included(upwards)) == {frozenset({"preload/top/b.hpp"})}


def test_library_needs_libc_only():
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", tool("readelf", "-d", harness.LIBRARY))
    assert needed == ["libc.so.6"]


def newest_of_glibc(file):
    """The newest version of glibc that a symbol is asked for in; (0, 0): none is asked for."""
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", tool("objdump", "-T", file))
    return max(((int(major), int(minor)) for major, minor in versions), default=(0, 0))


# Headers of newer ones lead to newer symbols, such as __isoc23_strtol.
@pytest.mark.skipif(os.confstr("CS_GNU_LIBC_VERSION") != "glibc 2.36", reason="built against another libc than Debian 12's")
@pytest.mark.parametrize("file, newest", [(harness.LIBRARY, (2, 17)), (harness.COLLECTOR, (2, 35))], ids=["library", "collector"])
def test_runs_in_containers_of_older_systems(file, newest):
    """Library and collector come into a container from outside: the library kills what it cannot be loaded into."""
    assert newest_of_glibc(file) <= newest


def test_library_loads_where_symbols_are_missing():
    """musl has not got them, and before 2.34 they are in libraries that not every program has."""
    undefined = {line.split()[-1].partition("@")[0] for line in tool("nm", "-D", "--undefined-only", harness.LIBRARY).splitlines()}
    assert "dl_iterate_phdr" in undefined
    assert not undefined & {"dlsym", "dlvsym", "dlopen", "dlclose", "dladdr", "dladdr1", "__register_atfork",
                            "pthread_getattr_np", "pthread_attr_getstack", "pthread_sigmask"}


def test_library_exports_nothing_but_what_interposes():
    rows = re.findall(r"^  H\((\w+),", (harness.SOURCE / "preload/native/hook_table.hpp").read_text(), re.MULTILINE)
    assert len(rows) > 20
    exported = {line.split()[-1] for line in tool("nm", "-D", "--defined-only", harness.LIBRARY).splitlines()}
    assert exported == set(rows)


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
    allowed = re.compile(r"^(lotus/\w+\.hpp|cstddef|cstdint|cstring|iterator|span|string_view|type_traits|utility)$")
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
