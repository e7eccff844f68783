"""A region, Model.forward, in which calls of functions come about in one of many ways, and count themselves.

    python control_flow.py KIND [CALLS]

Prints as JSON for each call of the region how often functions were called and how deep, and the tables of some functions.
"""
import collections
import ctypes
import functools
import json
import os
import sys
import threading

import torch  # or the stand-in for it

CALLS, OPEN, DEPTH = collections.Counter(), collections.Counter(), collections.Counter()


def begins(name):
    CALLS[name] += 1
    OPEN[name] += 1
    DEPTH[name] = max(DEPTH[name], OPEN[name])


def ends(name):
    OPEN[name] -= 1


def fall(n):
    begins("fall")
    result = 0 if n == 0 else 1 + fall(n - 1)
    ends("fall")
    return result


def fork(n):
    begins("fork")
    result = 1 if n == 0 else fork(n - 1) + fork(n - 1)
    ends("fork")
    return result


def numbers(n):
    begins("numbers")
    for i in range(n):
        yield i
    ends("numbers")


def delegates(n):
    begins("delegates")
    yield from numbers(n)
    ends("delegates")


def fails(n):
    begins("fails")
    try:
        if n == 0:
            raise ValueError
        fails(n - 1)
    finally:
        ends("fails")


class Point:
    def __init__(self, x):
        begins("__init__")
        self.x = double(x)
        ends("__init__")

    def __getitem__(self, i):
        begins("__getitem__")
        result = double(i)
        ends("__getitem__")
        return result

    @property
    def twice(self):
        begins("twice")
        result = double(self.x)
        ends("twice")
        return result

    def __lt__(self, other):
        begins("__lt__")
        result = double(self.x) < double(other.x)
        ends("__lt__")
        return result


def double(x):
    begins("double")
    x += x
    ends("double")
    return x


async def later(n):
    begins("later")
    result = 0 if n == 0 else 1 + await later(n - 1)
    ends("later")
    return result


def busy(n):
    """Of another thread: not counted."""
    return sum(other(i) for i in range(n))


def other(i):
    return i * i


class Model:
    def forward(self, kind):
        return getattr(self, kind)()

    def recursion(self):
        return fall(20) + fork(6)

    def deep(self):
        return fall(700)

    def very_deep(self):
        sys.setrecursionlimit(20_000)
        return fall(6_000)

    def generators(self):
        total = 0
        for i in numbers(5):
            for k in delegates(i):
                total += k
        left = numbers(3)
        next(left)
        left.close()  # it does not reach its end
        OPEN["numbers"] -= 1
        thrown = numbers(3)
        next(thrown)
        try:
            thrown.throw(KeyError)
        except KeyError:
            OPEN["numbers"] -= 1
        return total

    def coroutines(self):
        made = later(4)
        try:
            made.send(None)
        except StopIteration as end:
            return end.value

    def exceptions(self):
        for _ in range(3):
            try:
                fails(5)
            except ValueError:
                fall(2)

    def methods(self):
        total = 0
        for i in range(40):
            point = Point(i)
            total += point[i] + point.twice + (point < point)
        return total

    def native(self):
        pairs = sorted((Point(i) for i in range(6)), key=lambda point: double(point.x))
        return sum(map(double, range(9))) + functools.reduce(lambda a, b: a + double(b), range(4)) + len(pairs)

    def threads(self):
        workers = [threading.Thread(target=busy, args=(2000,)) for _ in range(3)]
        for worker in workers:
            worker.start()
        result = fork(5)
        for worker in workers:
            worker.join()
        return result

    def same_function(self):
        """Another thread calls the region's own function, and what it calls."""
        worker = threading.Thread(target=lambda: [other(i) for i in range(500)] and Other().forward("quiet"))
        worker.start()
        result = fall(5)
        worker.join()
        return result

    def quiet(self):
        return sum(other(i) for i in range(100))

    def traced(self):
        lines = []

        def trace(frame, event, argument):
            lines.append(event)
            return trace

        sys.settrace(trace)
        try:
            fork(3)
        finally:
            sys.settrace(None)
        return len(lines)

    def forks(self):
        fall(3)
        child = os.fork()
        if child == 0:
            fall_quietly(50)
            os._exit(0)
        os.waitpid(child, 0)
        return fall(4)

    def redefined(self):
        for n in range(30):
            names = {"double": double}
            exec(f"def made(x):\n    for i in range({n % 3}):\n        x = double(x)\n    return double(x)\n", names)
            CALLS["made"] += 1
            DEPTH["made"] = 1
            names["made"](n)
            del names

    def swapped(self):
        """As torch.compile does: CPython's own evaluator meanwhile, which runs an __init__ below a frame of its own."""
        api = ctypes.pythonapi
        api.PyInterpreterState_Get.restype = api._PyInterpreterState_GetEvalFrameFunc.restype = ctypes.c_void_p
        interpreter = ctypes.c_void_p(api.PyInterpreterState_Get())
        evaluator = ctypes.c_void_p(api._PyInterpreterState_GetEvalFrameFunc(interpreter))

        class Swaps:
            def __init__(self, last):
                if last:
                    api._PyInterpreterState_SetEvalFrameFunc(interpreter, evaluator)
                    fall(3)

        api._PyInterpreterState_SetEvalFrameFunc(interpreter, ctypes.cast(api._PyEval_EvalFrameDefault, ctypes.c_void_p))
        swaps(Swaps, 100)
        return fall(4)

    def leaves(self):
        fall(3)
        raise KeyError("out of the region")

    def exits(self):
        fall(3)
        sys.exit(3)


def swaps(made, count):
    for i in range(count):
        made(i == count - 1)


class Other(Model):
    pass


def fall_quietly(n):
    return 0 if n == 0 else 1 + fall_quietly(n - 1)


def main():
    kind = sys.argv[1]
    model = Model()
    made = []
    for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 2):
        for counter in (CALLS, OPEN, DEPTH):
            counter.clear()
        try:
            result = model.forward(kind)
        except (KeyError, SystemExit) as error:
            result = repr(error)
        made.append({"calls": dict(CALLS), "depth": dict(DEPTH), "result": result})
    codes = {function.__name__: function.__code__ for function in (fall, fork, numbers, fails, double, Model.forward)}
    tables = {name: [code.co_code.hex(), (code.co_linetable if sys.version_info >= (3, 10) else code.co_lnotab).hex(),
                     list(code.co_names), getattr(code, "co_exceptiontable", b"").hex()] for name, code in codes.items()}
    print(json.dumps({"torch": torch.__version__, "regions": made, "tables": tables}))


if __name__ == "__main__":
    main()
