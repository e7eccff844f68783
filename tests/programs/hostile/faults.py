"""faulthandler: tracebacks on demand, by a timer during a sample, by a signal, and of the crash at the end.

The timer's thread reads the frames of other threads without a lock. In CPython 3.11 it crashes if one of them
calls or returns meanwhile, so here the only other thread waits for the traceback.
"""
import faulthandler
import os
import signal
import tempfile

import work

file = tempfile.TemporaryFile()
timed = []


def dumping(index):
    faulthandler.dump_traceback(file, all_threads=True)
    os.kill(os.getpid(), signal.SIGUSR1)
    return index


def timing(index):
    read, write = os.pipe()
    faulthandler.dump_traceback_later(0.01, file=write)
    first = os.read(read, 1)
    faulthandler.cancel_dump_traceback_later()  # returns when its thread has ended
    os.close(write)
    with open(read, "rb") as dumped:
        timed.append(first + dumped.read())
    return dumping(index)


def crash(_):
    work.end()
    faulthandler._sigsegv()


def main():
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, file)
    work.epoch(timing, workers=0, name="on demand")
    work.epoch(dumping, workers=2, name="in workers")
    file.seek(0)
    text = file.read()
    print(b"in dumping" in text, text.count(b"Current thread") + text.count(b"Thread 0x") >= 2 * work.SAMPLES)
    print(len(timed), all(text.startswith(b"Timeout") and b"in timing" in text for text in timed))
    work.settle()  # the traceback of the crash shows all threads
    work.epoch(crash, workers=0)


main()
