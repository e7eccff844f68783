"""Runs under coverage.py and prints which lines of the pipeline it saw."""
import os

import coverage


def main():
    seen = coverage.Coverage(data_file=None, branch=True, include=[os.path.join(os.path.dirname(__file__), "work.py")])
    seen.start()
    import work

    work.epoch(workers=0, name="covered")
    work.epoch(workers=1, name="in a worker")
    seen.stop()
    data = seen.get_data()
    for file in sorted(data.measured_files()):
        print(os.path.basename(file), sorted(data.lines(file)), sorted(data.arcs(file)))
    work.end()


main()
