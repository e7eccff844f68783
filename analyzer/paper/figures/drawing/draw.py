#!/usr/bin/env python3
"""Draws one figure of `lotus-analyze figure`, `memory`, `memory-plan` or `control-flow`: draw.py NUMBER TITLE DATA.csv PICTURE…

Pictures are SVG or PNG, by their suffix. Exit code 3: Matplotlib is missing.
"""
import csv
import sys

try:
    import matplotlib
except ImportError:
    sys.exit(3)
matplotlib.use("Agg")

import boxes  # noqa: E402
import control_flow  # noqa: E402
import costs  # noqa: E402
import memory  # noqa: E402
import memory_plan  # noqa: E402
import style  # noqa: E402
import timeline  # noqa: E402

FIGURES = {"2": timeline.draw, "3": timeline.out_of_order,
           "4": boxes.preprocessing, "5a": boxes.wait, "5b": boxes.delay,
           "6a": costs.epochs, "6b": costs.operation_times,
           "6c": costs.functions, "6d": costs.operations, "6e": costs.functions, "6f": costs.operations,
           "6g": costs.functions, "6h": costs.operations,
           "plan7": memory_plan.speedup, "plan9": memory_plan.cost, "plan10": memory_plan.limit, "plan11": memory_plan.error,
           "memory": memory.step, "flow2": control_flow.stacked, "flow15": control_flow.stacked, "flow17": control_flow.sweep, "flow19": control_flow.ladder}


def main(number, title, data, *pictures):
    with open(data, newline="") as file:
        rows = list(csv.DictReader(file))
    style.begin()
    figure = FIGURES[number](rows, title)
    for picture in pictures:
        style.save(figure, picture)


if __name__ == "__main__":
    if len(sys.argv) < 5 or sys.argv[1] not in FIGURES:
        sys.exit(__doc__.strip())
    main(*sys.argv[1:])
