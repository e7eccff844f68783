"""How benchmarks that compare CPU times read clocks and summarise ratios."""
import os
import pathlib
import statistics


def cpu_of(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def summary(ratios):
    low, middle, high = statistics.quantiles(ratios, n=4)
    order, n = sorted(ratios), len(ratios)
    reach = 0.98 * n ** 0.5  # of the median's interval: ranks of a binomial distribution, approximated
    least, most = order[max(0, int(n / 2 - reach))], order[min(n - 1, int(n / 2 + reach))]
    percent = [100 * (ratio - 1) for ratio in (middle, low, high, least, most)]
    return "{:+6.2f} %   quartiles [{:+.2f}, {:+.2f}]   95 % [{:+.2f}, {:+.2f}]".format(*percent)
