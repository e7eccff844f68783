"""Functions that run in threads of their own, at once, shared by the programs."""
import threading


def in_threads(*functions):
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
