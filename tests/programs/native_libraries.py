"""C and C++ libraries that are loaded, unloaded and fail inside the pipeline; each case is a function below.

    native_libraries.py CASE --libraries DIRECTORY

DIRECTORY has libcaller1.so and libcaller2.so, each linked with its own decoder (tests/programs/native).
Prints the results of the libraries.
"""
import ctypes
import os
import threading
import time

from _ctypes import dlclose
from torch.utils.data import DataLoader, Dataset

import support

CASES = {}
libraries = None


def case(function):
    CASES[function.__name__] = function
    return function


def caller(number, mode=ctypes.RTLD_LOCAL):
    return ctypes.CDLL(os.path.join(libraries, f"libcaller{number}.so"), mode)


@case
def two(_):
    """Two decoders in one process, used by turns: calls reach the right one."""
    first, second = caller(1), caller(2)
    return [(library.decode(), library.decode_with_turbojpeg()) for _ in range(100) for library in (first, second)][-2:]


@case
def failing(_):
    """C++ exceptions and long jumps through the decoder's functions, with valid images in between."""
    library = caller(1)
    for _ in range(1000):
        answers = library.fail_by_longjmp(), library.fail_by_exception(), library.decode()
        assert answers == (1001, 2001, library.decode()), answers
    return answers


@case
def webp(_):
    """Images of two libwebp, by turns."""
    first, second = caller(1), caller(2)
    return [(first.decode_webp(), first.decode_webp(), second.decode_webp()) for _ in range(100)][-1]


@case
def coming_and_going(_):
    """Libraries that are loaded and unloaded by turns, at the same addresses."""
    answers = set()
    for number in [1, 2, 2, 1, 1] * 60:
        library = caller(number)
        answers.add((number, library.decode(), library.decode_with_turbojpeg(), library.fail_by_longjmp()))
        dlclose(library._handle)
    return sorted(answers)


@case
def deep_binding(_):
    """A library with RTLD_DEEPBIND calls its decoder directly."""
    library = caller(1, os.RTLD_DEEPBIND | os.RTLD_LOCAL)
    return library.decode(), library.decode_with_turbojpeg()


@case
def forking(index):
    """The sample forks a child, which decodes and reads; the tracer does not record it."""
    library = caller(1)
    answer = library.decode()
    child = os.fork()
    if child == 0:
        open("/etc/passwd").read()
        os._exit(library.decode() % 100)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with open(__file__, "rb") as file:
        return answer, status, len(file.read()) > 0, library.decode()


class Samples(Dataset):
    def __init__(self, function, count):
        self.function, self.count = function, count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.function(index)


def cancelled():
    """A thread is cancelled in a system call inside a sample, as a library may do with its threads."""
    library = caller(1)
    pthread_cancel = ctypes.CDLL(None).pthread_cancel
    pthread_cancel.argtypes = [ctypes.c_ulong]
    inside = threading.Event()
    readable, _ = os.pipe()

    def wait(_):
        inside.set()
        library.wait_for_byte(readable)

    def iterate():
        for _ in DataLoader(Samples(wait, 1), num_workers=0, batch_size=None):
            print("not reached")

    thread = threading.Thread(target=iterate, daemon=True)
    thread.start()
    inside.wait()
    time.sleep(0.2)
    pthread_cancel(thread.ident)
    time.sleep(0.2)
    print("threads", len(os.listdir("/proc/self/task")))


def main():
    global libraries
    options = support.arguments(__doc__, libraries=None, case=None)
    libraries = options.libraries
    if options.case == "cancelled":
        cancelled()
        options.case = "two"
    loader = DataLoader(Samples(CASES[options.case], 4), num_workers=options.workers, batch_size=None)
    for answer in loader:
        print(answer, flush=True)
    os._exit(0)  # a cancelled thread is never joined


if __name__ == "__main__":
    main()
