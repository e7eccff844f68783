"""Counts what a workload's control flow does, by running a copy of the workload that has counters in its source.

The program itself stays as it is, so that counting costs it nothing. What is counted are the methods of its classes but
__init__: entries and iterations of loops, outcomes of branches, calls and their depth, and the places where a tensor
becomes a number of Python's.
"""
import ast
import collections
import contextlib
import sys

import torch

COUNTERS = "_counters"  # the name in the copy
EXTRACTIONS = ("item", "tolist", "__bool__", "__int__", "__float__", "__index__")
HIDDEN = (ast.BoolOp, ast.IfExp, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Try, ast.Assert, ast.Lambda)


class Counters:
    """`places`: (kind, line, function) of each place, by number. Counts: {(place, event): times}; `depth`: {place: most}."""

    def __init__(self, file):
        self.file, self.places = file, []
        self.clear()

    def clear(self):
        self.counts = collections.Counter()
        self.active, self.depth = collections.Counter(), collections.Counter()
        self.extractions = collections.Counter()  # by (line, kind)

    def count(self, place, event):
        self.counts[place, event] += 1

    @contextlib.contextmanager
    def call(self, place):
        self.count(place, "calls")
        self.active[place] += 1
        self.depth[place] = max(self.depth[place], self.active[place])
        yield
        self.active[place] -= 1

    @contextlib.contextmanager
    def watched(self):
        """While the context lasts, extractions in the copy's own lines are counted."""
        def replacement(kind, real):
            def extract(tensor):
                caller = sys._getframe(1)
                if caller.f_code.co_filename == self.file:
                    self.extractions[caller.f_lineno, kind.strip("_")] += 1
                return real(tensor)
            return extract

        for kind in EXTRACTIONS:
            setattr(torch.Tensor, kind, replacement(kind, getattr(torch.Tensor, kind)))
        try:
            yield
        finally:
            for kind in EXTRACTIONS:
                delattr(torch.Tensor, kind)

    def told(self):
        """Lists by kind, in the order of lines. Places that were not reached have counts of 0."""
        events = {"loops": ("entries", "iterations"), "branches": ("taken", "not_taken"), "functions": ("calls",)}
        result = {kind: [] for kind in events}
        for place, (kind, line, function) in sorted(enumerate(self.places), key=lambda row: row[1][1]):
            row = {"line": line, "function": function, **{event: self.counts[place, event] for event in events[kind]}}
            if kind == "functions":
                row["depth"] = self.depth[place]
            result[kind].append(row)
        result["extractions"] = [{"line": line, "kind": kind, "count": count}
                                 for (line, kind), count in sorted(self.extractions.items())]
        return result


class Instrument(ast.NodeTransformer):
    """Adds the counters to a module's tree."""

    def __init__(self, counters):
        self.counters, self.names, self.inside = counters, [], False

    def place(self, kind, node):
        self.counters.places.append((kind, node.lineno, ".".join(self.names)))
        return len(self.counters.places) - 1

    def statement(self, place, event):
        return ast.parse(f"{COUNTERS}.count({place}, {event!r})").body[0]

    def visit_ClassDef(self, node):
        self.names.append(node.name)
        node.body = [self.method(part) if isinstance(part, ast.FunctionDef) and part.name != "__init__" else part
                     for part in node.body]
        self.names.pop()
        return node

    def method(self, node):
        self.names.append(node.name)
        place = self.place("functions", node)
        self.generic_visit(node)
        around = ast.parse(f"with {COUNTERS}.call({place}): pass").body[0]
        around.body, node.body = node.body, [around]
        self.names.pop()
        return node

    def visit_FunctionDef(self, node):
        return node  # of the module, which make the model and its input

    def visit_For(self, node):
        place = self.place("loops", node)
        self.generic_visit(node)
        node.body.insert(0, self.statement(place, "iterations"))
        return [self.statement(place, "entries"), node]

    visit_While = visit_For

    def visit_If(self, node):
        if not self.names:  # of the module
            return node
        place = self.place("branches", node)
        self.generic_visit(node)
        node.body.insert(0, self.statement(place, "taken"))
        node.orelse.insert(0, self.statement(place, "not_taken"))
        return node

    def visit(self, node):
        if self.names and isinstance(node, HIDDEN):
            raise SystemExit(f"line {node.lineno}: control flow inside an expression is not counted; write it as a statement")
        return super().visit(node)


def copy_of(path):
    """(the copy's names, its Counters). Its functions have a file name and qualified names of their own, so that nobody
    who looks for the program's finds them."""
    file = f"{path} (counted)"
    counters = Counters(file)
    with open(path) as source:
        tree = Instrument(counters).visit(ast.parse(source.read()))
    around = ast.parse("def counted():\n    return locals()")
    around.body[0].body = tree.body + around.body[0].body
    names = {"__name__": "counted", COUNTERS: counters}
    exec(compile(ast.fix_missing_locations(around), file, "exec"), names)
    return names["counted"](), counters
