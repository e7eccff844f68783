"""Sourced by gdb: at each SIGPROF of the program, writes its registers, stack, mappings and gdb's backtrace.

The output, in the file that LOTUS_STOPS names, consists of lines in this form:

    stop
    registers 17 × hex      DWARF's numbers 0 to 16
    stack address hex       bytes upwards from that address: the red zone, then the stack from its pointer on
    map start end offset path
    frame pc
"""
import os

import gdb

REGISTERS = "rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip".split()
MAX_STACK = 1 << 18
RED_ZONE = 128
MASK = (1 << 64) - 1

for setting in ("pagination off", "confirm off", "debuginfod enabled off", "backtrace past-main on",
                "backtrace past-entry on", "backtrace limit 500", "print thread-events off"):
    gdb.execute("set " + setting)
gdb.execute("handle SIGPROF stop print nopass", to_string=True)


def mappings(pid):
    with open(f"/proc/{pid}/maps") as lines:
        for line in lines:
            fields = line.split(maxsplit=5)
            start, end = (int(text, 16) for text in fields[0].split("-"))
            yield start, end, fields[1], int(fields[2], 16), fields[5].strip() if len(fields) > 5 else ""


def write_stop(out):
    frame = gdb.newest_frame()
    registers = [int(frame.read_register(name)) & MASK for name in REGISTERS]
    print("stop", file=out)
    print("registers", *(f"{value:x}" for value in registers), file=out)
    pointer = registers[REGISTERS.index("rsp")]
    for start, end, flags, offset, path in mappings(gdb.selected_inferior().pid):
        if start <= pointer < end:
            begin = max(start, pointer - RED_ZONE)
            stack = gdb.selected_inferior().read_memory(begin, min(end - begin, MAX_STACK))
            print(f"stack {begin:x}", stack.tobytes().hex(), file=out)
        if "x" in flags and path.startswith("/"):
            print(f"map {start:x} {end:x} {offset:x}", path, file=out)
    # Inlined calls have no frame, nor have the tail calls that gdb infers between a caller and a callee.
    while frame is not None:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            print(f"frame {frame.pc():x}", file=out)
        frame = frame.older()


with open(os.environ["LOTUS_STOPS"], "w") as stops:
    gdb.execute("run", to_string=True)
    while gdb.selected_inferior().pid != 0:
        write_stop(stops)
        gdb.execute("continue", to_string=True)
