"""sys.settrace and sys.setprofile, from the start and within operations: they see the same events."""
import collections
import os
import sys
import threading

import work

HERE = os.path.basename(__file__), "work.py"
events = collections.Counter()


def observe(frame, event, argument):
    file = os.path.basename(frame.f_code.co_filename)
    if file in HERE and frame.f_code.co_name != "burn":
        called = f" {argument.__name__}" if event.startswith("c_") else ""
        events[f"{file}:{frame.f_lineno} {frame.f_code.co_name} {event}{called}"] += 1
    return observe


def in_the_middle(install):
    def switch(index):
        install(observe if index % 2 == 0 else None)
        return index + len(str(index))

    return switch


def show(name):
    for event, count in sorted(events.items()):
        print(name, event, count)
    events.clear()


def main():
    for install in (sys.settrace, sys.setprofile):
        install(observe)
        work.epoch(workers=0, name=install.__name__)
        install(None)
        show("from the start")
        work.epoch(in_the_middle(install), workers=0)
        install(None)
        show("in the middle")
    threading.settrace(observe)
    thread = threading.Thread(target=work.epoch, kwargs={"workers": 0})
    thread.start()
    thread.join()
    show("in a thread")
    threading.settrace(None)
    work.end()


main()
