"""Asks a GPU how its profiler counts atomics: writes ../counted_atomics.jsonl. Needs ncu, and nothing else.

    python3 tests/data/hardware/ask/counted_atomics.py tests/data/hardware/counted_atomics.jsonl

Each kernel is one warp that executes one atomic operation, once. A line of the answer: `op`, as PTX spells it; `used`, whether the kernel
stores the result; `lanes`, how many of the first lanes take part; `where`, the words that lane i accesses: `same` (one that the compiler
knows to be the same for all lanes), `equal` (the same, but the compiler cannot know), `pairs` i / 2, `next` i, `banks` 32 * i; `value`, the operand:
a constant, the `lane`, or of cas the constants 0 and 1; `ptx`, the kernel; and `counters`. The first line is the device.
"""
import csv
import ctypes
import io
import json
import os
import subprocess
import sys

from cuda_driver import Driver

METRICS = ["smsp__inst_executed.sum"]
METRICS += [f"l1tex__t_{what}_pipe_lsu_mem_global_op_{op}.sum" for what in ("requests", "sectors") for op in ("ld", "st", "atom", "red")]
METRICS += [f"lts__t_{what}_op_{op}.sum" for what in ("requests", "sectors") for op in ("atom", "red")]
METRICS += [f"smsp__inst_executed_op_shared_{op}.sum" for op in ("ld", "st", "atom", "atom_dot_alu", "atom_dot_cas")]
METRICS += [f"l1tex__data_{what}_pipe_lsu_mem_shared_op_{op}.sum" for what in ("bank_conflicts",) for op in ("ld", "st", "atom")]
METRICS += [f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum" for op in ("ld", "st", "atom")]

GLOBAL = "add.u32 add.s32 add.u64 add.f32 add.f64 min.s32 max.u32 and.b32 xor.b32 inc.u32 exch.b32 cas.b32".split()
SHARED = "add.u32 add.u64 add.f32 min.s32 and.b32 inc.u32 exch.b32 cas.b32".split()
NO_RED = ("exch", "cas")
WHERE = {"same": "mov.u32 %r2, 0;", "equal": "ld.global.u32 %r2, [%l1];", "pairs": "shr.u32 %r2, %r1, 1;", "next": "mov.u32 %r2, %r1;",
         "banks": "shl.b32 %r2, %r1, 5;"}


def asked():
    for space, ops in (("global", GLOBAL), ("shared", SHARED)):
        for op in ops:
            name, kind = op.split(".")
            for head, used in (("atom", True), ("atom", False), ("red", False)):
                if head == "red" and name in NO_RED:
                    continue
                for where in WHERE:
                    if space == "global" and where == "banks":
                        continue
                    for value in ("constant", "lane") if op in ("add.u32", "add.f32") else ("lane",):
                        yield f"{head}.{space}.{op}", used, 32, where, value
        for where in ("same", "equal"):
            for used in (True, False):
                yield f"atom.{space}.add.u32", used, 5, where, "constant"


def kernel(op, used, lanes, where, value):
    space, name, kind = op.split(".")[1:]
    wide, real = kind.endswith("64"), kind[0] == "f"
    reg = {"32": "%f" if real else "%r", "64": "%d" if real else "%l"}[kind[1:]]
    text = ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 data)\n{\n"
    text += ".reg .pred %p; .reg .b32 %r<20>; .reg .b64 %l<20>; .reg .f32 %f<20>; .reg .f64 %d<20>; .shared .align 16 .b8 s[8192];\n"
    text += "ld.param.u64 %l0, [out]; ld.param.u64 %l1, [data]; mov.u32 %r1, %tid.x;\n"
    text += WHERE[where] + f"\nmul.wide.u32 %l2, %r2, {8 if wide else 4};\n"
    text += "add.u64 %l3, %l1, %l2; add.u64 %l3, %l3, 128;\n" if space == "global" else "mov.u64 %l3, s; add.u64 %l3, %l3, %l2;\n"
    operand = {"constant": "1.0" if real else "1", "lane": f"{reg}9"}[value]
    if real and value == "constant":
        operand = "0f3F800000" if kind == "f32" else "0d3FF0000000000000"
    if value == "lane":
        convert = {"%r": "mov.u32 %r9, %r1;", "%l": "cvt.u64.u32 %l9, %r1;", "%f": "cvt.rn.f32.u32 %f9, %r1;", "%d": "cvt.rn.f64.u32 %d9, %r1;"}
        text += convert[reg] + "\n"
    guard = ""
    if lanes < 32:
        text += f"setp.lt.u32 %p, %r1, {lanes};\n"
        guard = "@%p "
    if name == "cas":
        operand = f"0, {operand}"
    result = "" if op.startswith("red") else f"{reg}10, "
    text += f"{guard}{op} {result}[%l3], {operand};\n"
    if used:
        text += f"mul.wide.u32 %l4, %r1, 8; add.u64 %l4, %l0, %l4; {guard}st.global.{'b64' if wide else 'b32'} [%l4], {reg}10;\n"
    return text + "ret;\n}\n"


def run():
    device = Driver()
    out, data = device.memory(bytes(4096)), device.memory(bytes(8192))
    for case in asked():
        device.launch(device.kernel(kernel(*case)), 1, 32, [out, data])


def main():
    if sys.argv[1] == "--run":
        return run()
    known = subprocess.run(["ncu", "--query-metrics", "--query-metrics-mode", "all"], capture_output=True, text=True).stdout
    metrics = [m for m in METRICS if m.rsplit(".", 1)[0] in known]
    print("not known:", [m for m in METRICS if m not in metrics], file=sys.stderr)
    command = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", "--metrics", ",".join(metrics),
               sys.executable, os.path.abspath(__file__), "--run"]
    out = subprocess.run(command, capture_output=True, text=True)
    table = list(csv.reader(io.StringIO("\n".join(line for line in out.stdout.splitlines() if line.startswith('"')))))
    cases = list(asked())
    if len(table) != 2 + len(cases):
        sys.exit(out.stdout[-3000:] + out.stderr[-3000:])
    name = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True).stdout.strip()
    with open(sys.argv[1], "w") as file:
        file.write(json.dumps({"device": name}) + "\n")
        for case, row in zip(cases, table[2:]):
            counters = {m: int(float(dict(zip(table[0], row))[m].replace(",", ""))) for m in metrics}
            line = dict(zip(("op", "used", "lanes", "where", "value"), case), ptx=kernel(*case), counters=counters)
            file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
