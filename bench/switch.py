"""Switches parts of Lotus off and on inside a running process, so that it can be compared with itself."""
import ctypes
import os
import signal
import subprocess

PAGE = 4096
READ_WRITE_EXECUTE = 7  # for mprotect
PERF_EVENTS = 31, 32  # for prctl: disable, enable perf events of this task


class Switch:
    """Switches parts of the library in this process and in the children that it forks."""

    def __init__(self):
        library = os.environ["LD_PRELOAD"].split(":")[-1]  # valgrind puts its own before it
        python = ctypes.pythonapi
        python.PyInterpreterState_Get.restype = ctypes.c_void_p
        self.interpreter = ctypes.c_void_p(python.PyInterpreterState_Get())
        get, self.set = python._PyInterpreterState_GetEvalFrameFunc, python._PyInterpreterState_SetEvalFrameFunc
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
        self.set.restype, self.set.argtypes = None, [ctypes.c_void_p, ctypes.c_void_p]
        self.ours = get(self.interpreter)
        self.theirs = ctypes.cast(python._PyEval_EvalFrameDefault, ctypes.c_void_p).value
        assert self.ours != self.theirs
        symbols = subprocess.run(["nm", library], env=dict(os.environ, LD_PRELOAD=""), capture_output=True, text=True, check=True)
        offsets = {line.split()[-1]: int(line.split()[0], 16) for line in symbols.stdout.splitlines() if len(line.split()) == 3}
        with open("/proc/self/maps") as maps:
            start = next(int(line.split("-")[0], 16) for line in maps if os.path.basename(library) in line)
        self.addresses = {name: start + offset for name, offset in offsets.items()}
        name = next(name for name in self.addresses if name.endswith("13sample_signalE"))
        number = ctypes.c_int.from_address(self.addresses[name]).value
        self.signals = ctypes.c_ulong(1 << (number - 1)) if number else None
        self.c = ctypes.CDLL(None)
        self.code = []  # (address, the library's instructions, a jump to the real function)

    def go_around(self, name, prefix):
        """Lets interposed functions with this prefix jump to the library of this name while calls are off."""
        library = ctypes.CDLL(name, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
        for symbol in (symbol for symbol in self.addresses if symbol.startswith(prefix) and hasattr(library, symbol)):
            address, real = self.addresses[symbol], ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value
            assert address != real
            jump = b"\x48\xb8" + real.to_bytes(8, "little") + b"\xff\xe0"  # movabs $real, %rax; jmp *%rax
            first = address & -PAGE
            span = ctypes.c_void_p(first), ctypes.c_size_t(address + len(jump) - first)
            if self.c.mprotect(*span, READ_WRITE_EXECUTE) != 0:
                raise OSError(f"mprotect of {symbol}")
            self.code.append((address, ctypes.string_at(address, len(jump)), jump))

    def none(self, on):
        """Switches nothing, for comparison."""

    def calls(self, on):
        """Restores Python's frame evaluator, so that nothing of the pipeline is seen, recorded or counted."""
        self.set(self.interpreter, self.ours if on else self.theirs)
        for address, ours, jump in self.code:
            ctypes.memmove(address, ours if on else jump, len(jump))

    def samples(self, on):
        """Blocks the signal of stack samples in this thread, and stops perf's clock, which would send it."""
        self.c.prctl(PERF_EVENTS[on], 0, 0, 0, 0)
        if self.signals is not None:
            words = (ctypes.c_ulong * 16)(self.signals.value)
            self.c.pthread_sigmask(signal.SIG_UNBLOCK if on else signal.SIG_BLOCK, ctypes.byref(words), None)

    def all(self, on):
        self.calls(on)
        self.samples(on)
