"""Prints what Python's own dis says of the codes of files, or else of some modules of its library: a line for each, as

    minor first-line bytecode-in-hex lines-in-hex exceptions-in-hex offset:line:target…

without EXTENDED_ARGs; line 0: none; target -1: it does not jump; - for an empty table.

    python3.15 print_codes.py flow_shapes.py > flow_shapes.3.15.txt"""
import dis
import importlib
import sys
import types

MODULES = ["argparse", "ast", "asyncio.base_events", "asyncio.tasks", "collections", "contextlib", "csv", "dataclasses", "inspect",
           "json.decoder", "pickle", "subprocess", "tarfile", "threading", "typing", "zipfile"]


def codes_of(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_of(constant)


def lines_by_offset(code):
    if sys.version_info < (3, 10):
        lines, last, starts = {}, 0, dict(dis.findlinestarts(code))
        for offset in range(0, len(code.co_code), 2):
            last = lines[offset] = starts.get(offset, last)
        return lines
    return {offset: line or 0 for start, end, line in code.co_lines() for offset in range(start, end, 2)}


def told(code):
    lines, jumps = lines_by_offset(code), set(dis.hasjrel) | set(dis.hasjabs)
    table = code.co_lnotab if sys.version_info < (3, 10) else code.co_linetable
    found = [f"{one.offset}:{lines[one.offset]}:{one.argval if one.opcode in jumps else -1}"
             for one in dis.get_instructions(code) if one.opname != "EXTENDED_ARG"]
    return " ".join([str(sys.version_info[1]), str(code.co_firstlineno), code.co_code.hex(), table.hex() or "-",
                     getattr(code, "co_exceptiontable", b"").hex() or "-", *found])


for path in sys.argv[1:] or [importlib.import_module(name).__file__ for name in MODULES]:
    with open(path, encoding="utf-8") as file:
        for one in codes_of(compile(file.read(), path, "exec")):
            print(told(one))
