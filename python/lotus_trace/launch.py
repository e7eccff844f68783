"""Runs a program as its parent: signals are passed on, and we end as it does."""
import os
import resource
import signal

SI_KERNEL = 0x80  # what a terminal sends goes to all of its foreground processes
PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2,
             signal.SIGALRM)
NOT_FOUND, NOT_EXECUTABLE = 127, 126  # as shells have it


class CannotRun(Exception):
    """A program that cannot be started: its message, and the exit code that a shell would give."""

    def __init__(self, error, word):
        super().__init__(f"{word}: {error.strerror}")
        self.code = NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE


class Program:
    """A running program. What is sent to us while it runs, it gets, too."""

    def __init__(self, command, environment):
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # ignored, nobody could wait for it
        self._waited = {*PASSED_ON, signal.SIGCHLD}
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, self._waited)
        try:
            # CPython ignores these two from its start on, and what it executes would, too.
            self.pid = os.posix_spawnp(command[0], command, environment, setsigmask=self._mask,
                                       setsigdef=[signal.SIGPIPE, signal.SIGXFSZ])
        except OSError as error:
            self.unblock()
            raise CannotRun(error, command[0]) from None

    def wait(self):
        """Waits for the end; returns the status that waitpid() tells."""
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid != 0:
                return status
            told = signal.sigwaitinfo(self._waited)
            if told.si_signo != signal.SIGCHLD and told.si_code != SI_KERNEL:
                os.kill(self.pid, told.si_signo)

    def unblock(self):
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)


def end_like(status):
    """Returns the exit code; where a signal ended the program, the same signal ends us."""
    if not os.WIFSIGNALED(status):
        return os.WEXITSTATUS(status)
    number = os.WTERMSIG(status)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    os.kill(os.getpid(), number)
    return 128 + number  # a signal that ends nobody, such as one that init ignores
