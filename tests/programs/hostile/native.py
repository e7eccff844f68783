"""Cases that are written in C; each is a function below.

    native.py CASE DIRECTORY     with libhostile.so, and plugins/libplugin.so that it finds by its RUNPATH
"""
import ctypes
import os
import signal
import sys
import threading

import work

directory = None


def library(mode=ctypes.RTLD_LOCAL, kind=ctypes.CDLL):
    return kind(os.path.join(directory, "libhostile.so"), mode)


def handlers():
    """Signals whose handlers open, read and map files, while samples do the same."""
    native = library()

    def read(index):
        with open("/proc/self/status", "rb") as file:
            kept = len(file.read()) > 100
        native.burn_ms(20)
        return index + kept

    assert native.handle_signals(200) == 0
    work.epoch(read, workers=0, name="signals")
    print("handled enough", native.stop_signals() > 20, "failed", native.failed_in_handlers())
    signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
    came = []
    signal.signal(signal.SIGPROF, lambda *_: came.append(len(os.listdir("/proc/self/fd"))))
    work.epoch(read, workers=0, name="handlers in Python")
    signal.setitimer(signal.ITIMER_PROF, 0)
    print("handled", len(came) > 5)
    work.epoch(read, workers=2, name="workers")


def cancelled():
    """C threads that are cancelled inside a counted call, and between two such calls."""
    native = library()
    work.epoch(lambda index: native.cancel_threads(25) + index, workers=0, name="cancelled")
    work.epoch(lambda index: native.cancel_threads(25) + index, workers=2, name="in workers")


def cancelled_python():
    """Threads that are cancelled at random times while they make batches; the rest of the program goes on."""
    native = library()
    native.cancel.argtypes = [ctypes.c_ulong]
    made = []
    for _ in range(20):
        begun = threading.Event()
        thread = threading.Thread(
            target=lambda: work.epoch(lambda index: begun.set() or native.wait_forever() + index, workers=0,
                                      show=lambda *values, **_: made.append(values)), daemon=True)
        thread.start()
        begun.wait()
        native.cancel(thread.ident)
    print(made)
    work.epoch(workers=0, name="after")
    work.epoch(workers=2, name="workers")
    work.end()
    sys.stdout.flush()
    os._exit(0)  # cancelled threads are never joined


def evaluator():
    """Installs a frame evaluator above the tracer's, removes it, and finally leaves it installed."""
    native = library(kind=ctypes.PyDLL)
    for name in ("PyInterpreterState_Get", "_PyInterpreterState_GetEvalFrameFunc", "_PyInterpreterState_SetEvalFrameFunc",
                 "_PyEval_EvalFrameDefault"):
        assert getattr(ctypes.pythonapi, name)
    for count in range(3):
        native.put_evaluator()
        work.epoch(workers=count, name="over another")
        frames = native.take_evaluator_away()
        print("enough frames", frames > 50)  # CPython 3.11 inlines some calls, fewer with a tracer
        work.epoch(workers=count, name="without")

    def inside(index):
        native.put_evaluator() if index % 2 == 0 else native.take_evaluator_away()
        return index

    work.epoch(inside, workers=0, name="inside")
    native.put_default_evaluator()
    work.epoch(workers=1, name="only CPython's")


def deep_binding():
    """A library that is bound deeply calls libc's functions directly, not preloaded ones."""
    native = library(os.RTLD_DEEPBIND | os.RTLD_LOCAL)
    assert native.handle_signals(200) == 0
    work.epoch(lambda index: index + (native.burn_ms(10) + native.bytes_of(b"/proc/self/stat") > 0), workers=0, name="deep")
    print("handled enough", native.stop_signals() > 5, "failed", native.failed_in_handlers())
    print("every signal", native.set_all_signals())
    work.epoch(workers=0, name="with every signal ignored")
    work.epoch(workers=2, name="workers")


def run_path():
    """A library repeatedly loads another one by its own RUNPATH."""
    native = library()
    work.epoch(lambda index: native.ask_plugin(index), workers=0, name="RUNPATH")
    work.epoch(lambda index: native.ask_plugin(index), workers=2, name="in workers")


def borrowed_stack():
    """Code whose stack pointer points into a buffer while it computes: signals must not write there."""
    native = library()
    work.epoch(lambda index: native.borrow_stack(50) + index, workers=0, name="changed")
    print("its own", native.alternate_stack_is_its_own())
    work.epoch(lambda index: native.borrow_stack(50) + index, workers=0, name="changed")
    work.epoch(lambda index: native.borrow_stack(50) + index, workers=2, name="in workers")
    work.epoch(lambda index: native.borrow_in_threads(80) + index, workers=0, name="in many threads")
    thread = threading.Thread(target=lambda: work.epoch(lambda index: native.borrow_stack(20) + index, workers=1,
                                                        name="below a thread"))
    thread.start()
    thread.join()


def small_stack():
    """A handler on an alternate stack without room for a second handler."""
    native = library()

    def begin():
        assert native.handle_on_own_stack() == 0

    def end(name):
        print(name, "damaged", native.damaged_below_own_stack())
        native.end_own_stack()

    begin()
    work.epoch(lambda index: native.burn_ms(60) + index, workers=0, name="before samples")
    end("before samples")
    begin()
    work.epoch(lambda index: native.burn_ms(60) + index, workers=0, name="after")
    end("after")


def main():
    global directory
    case, directory = sys.argv[1:]
    globals()[case]()
    if case != "cancelled_python":
        work.end()


main()
