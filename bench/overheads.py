"""Shared by benchmarks that compare CPU times: a collector, clocks, summaries of ratios."""
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile


class Collector:
    """Runs while the context lasts, with segments and trace in directories of its own.

    bare, traced: environments of programs without and with Lotus. cpu_s: the CPU time of its whole life, once
    ended.
    """

    def __init__(self, build, *before):
        self.directory, self.segments = tempfile.TemporaryDirectory(), tempfile.TemporaryDirectory(dir="/dev/shm")
        self.bare = dict(os.environ, LOTUS_DIR=self.segments.name,
                         LOTUS_OUTPUT=os.path.join(self.directory.name, "bench.lotus"))
        self.traced = dict(self.bare, LD_PRELOAD=str(build.resolve() / "lib/liblotus.so"))
        self.process = subprocess.Popen([*before, build / "bin/lotus-collector", "--quiet"], env=self.bare)
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, error, *_):
        ended = self.process.poll() is not None
        if not ended:
            self.process.send_signal(signal.SIGTERM)
            _, status, usage = os.wait4(self.pid, 0)
            self.process.returncode = os.waitstatus_to_exitcode(status)
            self.cpu_s = usage.ru_utime + usage.ru_stime
        self.directory.cleanup()
        self.segments.cleanup()
        if ended and error is None:
            sys.exit("lotus-collector ended too early")


def cpu_of(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def summary(ratios):
    low, middle, high = statistics.quantiles(ratios, n=4)
    order, n = sorted(ratios), len(ratios)
    reach = 0.98 * n ** 0.5  # half width of the median's interval, in ranks (binomial, approximated)
    least, most = order[max(0, int(n / 2 - reach))], order[min(n - 1, int(n / 2 + reach))]
    percent = [100 * (ratio - 1) for ratio in (middle, low, high, least, most)]
    return "{:+6.2f} %   quartiles [{:+.2f}, {:+.2f}]   95 % [{:+.2f}, {:+.2f}]".format(*percent)
