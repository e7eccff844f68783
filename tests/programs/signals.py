"""Uses of signals of all numbers by a program with a busy pipeline; each case is a function below."""
import ctypes
import os
import select
import signal
import sys
import time

from torch.utils.data import DataLoader, Dataset

import support

EVERY = [number for number in signal.valid_signals() if number not in (signal.SIGKILL, signal.SIGSTOP)]
REAL_TIME = [number for number in EVERY if number >= signal.SIGRTMIN]
LAST = signal.SIGRTMAX - 1
libc = ctypes.CDLL(None, use_errno=True)


def burn(seconds=0.1):
    """Uses CPU time, so that timers of the thread's CPU clock expire."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(1000))


class Busy(Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        burn()
        return index


def work(*answer):
    print(list(DataLoader(Busy(), batch_size=None)), *answer, flush=True)


def defaults():
    for _ in range(3):
        for number in EVERY:
            signal.signal(number, signal.SIG_DFL)
        work()
        for number in reversed(EVERY):
            libc.signal(number, None)
        work()


def ignored():
    for number in REAL_TIME:
        signal.signal(number, signal.SIG_IGN)
    work()
    for number in REAL_TIME:
        os.kill(os.getpid(), number)
    work()


def handled():
    came = []
    for number in REAL_TIME:
        signal.signal(number, lambda number, _: came.append(number))
    work(came)
    for number in REAL_TIME:
        os.kill(os.getpid(), number)
    work(sorted(came) == sorted(REAL_TIME))


def one_handled():
    """Handlers are set and reset while the pipeline is sampled."""
    came = []
    for number in reversed(REAL_TIME):
        signal.signal(number, lambda number, _: came.append(number))
        burn(0.02)
        signal.raise_signal(number)
        signal.signal(number, signal.SIG_DFL)
        work(came.pop(), came)


def asked():
    """sigaction() must not show a signal as in use."""
    action = (ctypes.c_ulong * 32)()
    used = []
    for number in REAL_TIME:
        ctypes.memset(action, 255, ctypes.sizeof(action))
        assert libc.sigaction(number, None, action) == 0
        used += [number] if action[0] else []
    work(used)


def awaited():
    signal.pthread_sigmask(signal.SIG_BLOCK, EVERY)
    work(signal.sigpending())
    work(signal.sigtimedwait(EVERY, 0.3), signal.sigpending())
    begin = time.monotonic()
    libc.alarm(1)
    work(signal.sigwait(EVERY), time.monotonic() - begin > 0.9)
    os.kill(os.getpid(), LAST)
    burn()
    work(signal.sigwaitinfo(EVERY).si_signo == LAST)
    burn()
    os.kill(os.getpid(), LAST)
    work(signal.sigwait(EVERY) == LAST)


def suspended():
    """System calls with a mask: pending signals of the tracer must not end them."""
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_BLOCK, EVERY)
    none = (ctypes.c_ulong * 16)()
    short = (ctypes.c_long * 2)(0, 100_000_000)
    events = (ctypes.c_long * 16)()
    file = libc.epoll_create1(0)
    waits = {"ppoll": lambda: libc.ppoll(None, 0, short, none),
             "pselect": lambda: libc.pselect(0, None, None, None, short, none),
             "epoll_pwait": lambda: libc.epoll_pwait(file, events, 1, 100, none)}
    for name, wait in waits.items():
        burn()
        print(name, wait())
    burn()
    begin = time.monotonic()
    libc.alarm(1)
    work(libc.sigsuspend(none), time.monotonic() - begin > 0.9)


def described():
    """Reads signals from a descriptor (signalfd)."""
    signal.pthread_sigmask(signal.SIG_BLOCK, EVERY)
    every = (ctypes.c_ulong * 16)(*[~0 & (2**64 - 1)] * 16)
    file = libc.signalfd(-1, every, os.O_NONBLOCK)
    work(select.select([file], [], [], 0.1)[0])
    os.kill(os.getpid(), signal.SIGUSR1)
    work(os.read(file, 128)[0] == signal.SIGUSR1)


def forked():
    """The mask stays the same in parent and child."""
    signal.pthread_sigmask(signal.SIG_BLOCK, EVERY)
    work()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    child = os.fork()
    same = signal.pthread_sigmask(signal.SIG_BLOCK, []) == before
    if child == 0:
        os._exit(7 if same else 8)
    work(same, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def interrupted():
    """Waiting system calls are not interrupted: the CPU clock of samples stands still meanwhile."""
    short = (ctypes.c_long * 2)(0, 20_000)
    early = 0
    for _ in range(20_000):
        early += libc.nanosleep(short, None) != 0
        early += libc.poll(None, 0, 0) != 0
        early += libc.usleep(1) != 0
    work(early, ctypes.get_errno())


def replaced():
    """Pending signals survive exec: none of the tracer's may be among those that the program unblocks."""
    if "SECOND" in os.environ:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, EVERY)
        print(signal.sigpending())
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, EVERY)
    burn()
    work()
    os.execve(sys.executable, [sys.executable] + sys.argv, dict(os.environ, SECOND="1"))


def killed():
    work()
    os.kill(os.getpid(), LAST)
    burn(30)


def main():
    options = support.arguments(__doc__, case=None)
    work()
    globals()[options.case]()


if __name__ == "__main__":
    main()
