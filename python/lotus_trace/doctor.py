"""`lotus doctor`: what works on this machine, and what does not, and why."""
import ctypes
import os
import pathlib
import platform
import resource
import shutil
import struct
import subprocess
import sys
import sysconfig
import tempfile

from . import places, traces

MACHINES = "x86_64", "aarch64"
OLDEST_GLIBC = 2, 17
PYTHONS = (3, 9), (3, 15)
FREE_THREADED = 3, 13
SEGMENT_MIB = 3  # of shared memory, each process
LEAST_MIB = 16
SIGNALS_A_THREAD = 8  # pending ones, of the limit: so many are left to the program for each timer

FINE, NOTE, BAD = "ok  ", "note", "BAD "  # a note: something that is not needed is missing


def check_machine():
    system, machine = platform.system(), platform.machine()
    if system != "Linux" or machine not in MACHINES:
        return BAD, f"{system} on {machine}: Lotus is for Linux on {' and '.join(MACHINES)}"
    return FINE, f"{system} {platform.release()} on {machine}"


def text_of(path):
    try:
        return pathlib.Path(path).read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


def check_clock():
    """As the library decides it (preload/system/clock.cpp)."""
    source = text_of("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    if platform.machine() == "x86_64":
        flags = text_of("/proc/cpuinfo").split()
        trusted = source in ("tsc", "kvm-clock") and {"constant_tsc", "nonstop_tsc"} <= set(flags)
    else:
        trusted = source == "arch_sys_counter"
    if not trusted:
        return NOTE, (f"the kernel's clock is {source or 'not known'}: times come from clock_gettime(), which costs more "
                      "than the processor's counter")
    return FINE, f"times come from the processor's counter ({source})"


def check_libc():
    try:
        name = os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):
        name = ""
    if not name.startswith("glibc"):
        return BAD, ("the C library of this Python is not glibc (musl?): programs run as without Lotus; "
                     "take a Python for glibc")
    version = tuple(int(part) for part in name.split()[1].split(".")[:2])
    if version < OLDEST_GLIBC:
        return BAD, f"{name} is older than 2.17: take a newer system or container"
    return FINE, f"{name} (2.17 or later)"


def check_python():
    name = f"{platform.python_implementation()} {platform.python_version()} ({sys.executable})"
    if platform.python_implementation() != "CPython" or not PYTHONS[0] <= sys.version_info[:2] <= PYTHONS[1]:
        return BAD, f"{name}: traced are CPython 3.9 to 3.15; run `lotus doctor` by the Python that trains"
    if sysconfig.get_config_var("Py_GIL_DISABLED") and sys.version_info[:2] != FREE_THREADED:
        return BAD, f"{name} is a free-threaded build: of those 3.13 is traced; take it, or one with the GIL"
    return FINE, name


def check_torch():
    outcome = subprocess.run([sys.executable, "-c", "import importlib.util, importlib.metadata as m, sys\n"
                              "if importlib.util.find_spec('torch') is None: sys.exit(1)\n"
                              "try: print(m.version('torch'))\n"
                              "except m.PackageNotFoundError: print('of unknown version')"],
                             capture_output=True, text=True, env=places.without_preload())
    if outcome.returncode != 0:
        return NOTE, "no torch here: nothing is recorded before a program imports it (pip install torch)"
    return FINE, f"torch {outcome.stdout.strip()}"


def last_line(text):
    return "".join(text.strip().splitlines()[-1:])


def traced(code, **more):
    """Runs code in a traced Python; returns (exit code, standard output, standard error)."""
    environment = dict(os.environ, LD_PRELOAD=places.preload(os.environ), **more)
    environment.pop("LOTUS_OFF", None)
    outcome = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    return outcome.returncode, outcome.stdout, outcome.stderr


def check_library():
    if not places.LIBRARY.exists():
        return BAD, f"{places.LIBRARY} is missing: install the package again"
    code, text, problem = traced("print(any('liblotus.so' in line for line in open('/proc/self/maps')))")
    if code != 0 or text.strip() != "True":
        why = last_line(problem) or "LD_PRELOAD has no effect; is this Python statically linked?"
        return BAD, f"{places.LIBRARY} cannot be preloaded: {why}"
    return FINE, f"{places.LIBRARY} can be preloaded"


def check_evaluator():
    """With an empty module in torch's place: what matters happens at its import."""
    with tempfile.TemporaryDirectory() as directory:
        pathlib.Path(directory, "torch.py").touch()
        path = os.pathsep.join(filter(None, [directory, os.environ.get("PYTHONPATH")]))
        code, _, problem = traced("import torch", PYTHONPATH=path, PYTHONDONTWRITEBYTECODE="1")
    lines = [line for line in problem.splitlines() if line.startswith("lotus: ")]
    if lines:
        return BAD, f"Python calls cannot be seen: {lines[0].rpartition('lotus: ')[2]}"
    if code != 0:
        return BAD, f"a traced Python fails: {last_line(problem)}"
    return FINE, "Python calls can be seen: no other frame evaluator is in the way"


def check_preloads():
    ours = places.LIBRARY.name
    named = os.environ.get("LD_PRELOAD", "").replace(":", " ").split()
    others = [path for path in named if os.path.basename(path) != ours]
    copies = [path for path in named
              if os.path.basename(path) == ours and os.path.realpath(path) != str(places.LIBRARY)]
    try:
        others += pathlib.Path("/etc/ld.so.preload").read_text().split()
    except OSError:
        pass
    if copies:
        return BAD, f"LD_PRELOAD names another copy of Lotus, {copies[0]}: unset it, or use its own commands"
    if others:
        return NOTE, f"also preloaded: {' '.join(others)}; if a traced program misbehaves, try without"
    return FINE, "no other library is preloaded"


def check_shared_memory():
    place = os.environ.get("LOTUS_DIR") or "/dev/shm"
    there = place if os.path.isdir(place) else os.path.dirname(place)
    if not os.path.isdir(there) or not os.access(there, os.W_OK):
        return NOTE, (f"{place} is not there or not writable: segments go to $XDG_RUNTIME_DIR, $TMPDIR or "
                      "your home")
    free = shutil.disk_usage(there).free >> 20
    if free < LEAST_MIB:
        return BAD, (f"{place} has {free} MiB left, and each process takes {SEGMENT_MIB}: remove what is old "
                     "there, or docker run --shm-size=1g, or name another place in LOTUS_DIR")
    return FINE, f"{place} has {free} MiB left; a process takes {SEGMENT_MIB}"


def check_collector():
    if not os.access(places.COLLECTOR, os.X_OK):
        return BAD, f"{places.COLLECTOR} is missing or not executable: install the package again"
    code, text, problem = places.ask(places.COLLECTOR, "--version")
    if code != 0:
        return BAD, f"{places.COLLECTOR} does not run: {problem.strip()}"
    if other := traces.other_collector():
        return NOTE, other
    return FINE, f"{text.strip()} runs: {places.COLLECTOR}"


def syscall(number, *words):
    function = ctypes.CDLL(None, use_errno=True).syscall
    result = function(ctypes.c_long(number), *words)
    return result, ctypes.get_errno()


def check_seccomp():
    """Stack samples read this process's memory by process_vm_readv()."""
    readv = {"x86_64": 310, "aarch64": 270}.get(platform.machine())
    if readv is None:
        return NOTE, "whether stacks can be read is not known on this machine"
    source, target = ctypes.create_string_buffer(b"lotus"), ctypes.create_string_buffer(6)
    vectors = [(ctypes.c_void_p * 2)(ctypes.addressof(buffer), 5) for buffer in (source, target)]
    one, none = ctypes.c_ulong(1), ctypes.c_ulong(0)
    result, error = syscall(readv, ctypes.c_int(os.getpid()), vectors[1], one, vectors[0], one, none)
    if result != 5:
        return BAD, (f"process_vm_readv() is refused ({os.strerror(error)}): without it, stacks are not "
                     "sampled in full; docker run --cap-add SYS_PTRACE, or a seccomp profile that allows it")
    signals = resource.getrlimit(resource.RLIMIT_SIGPENDING)[0]
    if 0 <= signals < SIGNALS_A_THREAD:
        return BAD, (f"no timers can be made (ulimit -i is {signals}): no stack samples; raise it to "
                     f"{SIGNALS_A_THREAD} for each thread, or more")
    return FINE, "stacks can be sampled: no seccomp filter is in the way"


def check_perf():
    """Only LOTUS_SAMPLE_CLOCK=perf needs perf events; the attributes are those of a software clock."""
    number = {"x86_64": 298, "aarch64": 241}.get(platform.machine())
    if number is None:
        return NOTE, "whether perf events are permitted is not known on this machine"
    exclude_kernel = 1 << 5
    attributes = ctypes.create_string_buffer(struct.pack("IIQQQQQ", 1, 64, 0, 0, 0, 0, exclude_kernel), 64)
    own, any_core, no_group, no_flags = ctypes.c_int(0), ctypes.c_int(-1), ctypes.c_int(-1), ctypes.c_ulong(0)
    event, error = syscall(number, attributes, own, any_core, no_group, no_flags)
    if event < 0:
        return NOTE, (f"perf events are not permitted ({os.strerror(error)}): LOTUS_SAMPLE_CLOCK=perf "
                      "cannot be used; the default clock needs none (sysctl kernel.perf_event_paranoid=2)")
    os.close(event)
    return FINE, "perf events are permitted"


def check_output():
    place = os.environ.get("LOTUS_OUTPUT") or os.getcwd()
    directory = place if os.path.isdir(place) else os.path.dirname(os.path.abspath(place))
    if not os.access(directory, os.W_OK):
        return BAD, f"traces cannot be written to {directory}: name another place in LOTUS_OUTPUT"
    free = shutil.disk_usage(directory).free >> 20
    if free < LEAST_MIB:
        return BAD, f"{directory} has {free} MiB left for traces: name another place in LOTUS_OUTPUT"
    return FINE, f"traces go to {directory}"


CHECKS = (check_machine, check_clock, check_libc, check_python, check_torch, check_library, check_evaluator,
          check_preloads, check_shared_memory, check_collector, check_seccomp, check_perf, check_output)


def add_options(parser):
    parser.epilog = "Exit code 1: something is bad, and the line says what to do."


def run(_):
    found = []
    for check in CHECKS:
        state, line = check()
        found.append(state)
        print(f"{state}  {line}", flush=True)
    return 1 if BAD in found else 0
