"""faulthandler: tracebacks on demand, by a timer while samples are made, by a signal, and of the crash at the end."""
import faulthandler
import os
import signal
import tempfile

import work

file = tempfile.TemporaryFile()


def dumping(index):
    faulthandler.dump_traceback(file, all_threads=True)
    os.kill(os.getpid(), signal.SIGUSR1)
    return index


def crash(_):
    work.end()
    faulthandler._sigsegv()


def main():
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, file)
    faulthandler.dump_traceback_later(0.01, repeat=True, file=file)
    work.epoch(dumping, workers=0, name="on demand")
    work.epoch(dumping, workers=2, name="in workers")
    faulthandler.cancel_dump_traceback_later()
    file.seek(0)
    text = file.read()
    print(b"in dumping" in text, text.count(b"Current thread") + text.count(b"Thread 0x") >= 2 * work.SAMPLES)
    work.epoch(crash, workers=0)


main()
