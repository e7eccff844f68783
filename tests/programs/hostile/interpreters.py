"""Subinterpreters that run pipelines of their own, before and after the main interpreter starts one."""
import sys

import _xxsubinterpreters as interpreters

CODE = f"""
import sys
sys.path[:] = {sys.path!r}
import work
work.epoch(workers=0, samples=4, name={{name!r}})
"""


def run(name):
    interpreter = interpreters.create()
    interpreters.run_string(interpreter, CODE.format(name=name))
    interpreters.destroy(interpreter)


def main():
    run("first")
    import work

    work.epoch(workers=2, name="main")
    run("second")
    work.epoch(lambda index: run(f"inside {index}") or index, workers=0, samples=2, name="around")
    work.end()


main()
