"""Asks a GPU what bit-field and shift instructions do with immediate operands: writes ../immediates.jsonl.

The assembler folds immediates itself, and not always as the instruction behaves with the same numbers in registers.
Needs CuPy. One line per form: the instruction, and for each input value the result, in hexadecimal.
"""
import json
import os

import cupy
import numpy

NUMBERS = [0, 1, 5, 7, 8, 16, 24, 31, 32, 33, 40, 63, 64, 65, 128, 200, 255]
VALUES = [0x21, 0x86008F88, 0xFFFFFFFFFF2CCB49, 0x8000000000000000, 0x7FFFFFFF12345678, 0, 0xFFFFFFFFFFFFFFFF, 0x10000]

def forms():
    for a in NUMBERS:
        for b in NUMBERS:
            for t in ("u32", "s32", "u64", "s64"):
                yield f"bfe.{t}", f"{a}, {b}", t[1:]
            for t in ("b32", "b64"):
                yield f"bfi.{t}", f"{a}, {b}", t[1:]
        for t in ("b32", "b64", "b16"):
            yield f"shl.{t}", f"{a}", t[1:]
        for t in ("u16", "s16", "u32", "s32", "u64", "s64"):
            yield f"shr.{t}", f"{a}", t[1:]
        for t in ("shf.l.wrap.b32", "shf.r.wrap.b32", "shf.l.clamp.b32", "shf.r.clamp.b32"):
            yield t, f"{a}", "32"

def kernel(all_forms):
    lines = [".version 8.3", ".target sm_90", ".address_size 64", ".visible .entry k(.param .u64 in, .param .u64 out)", "{",
             ".reg .b16 %h<4>; .reg .b32 %r<8>; .reg .b64 %l<12>;",
             "ld.param.u64 %l1, [in]; ld.param.u64 %l2, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %l3, %r1, 8;",
             "add.u64 %l1, %l1, %l3; add.u64 %l2, %l2, %l3; ld.global.b64 %l4, [%l1]; ld.global.b64 %l5, [%l1+64];",
             "cvt.u32.u64 %r2, %l4; cvt.u32.u64 %r3, %l5; cvt.u16.u64 %h1, %l4;"]
    for i, (op, immediates, width) in enumerate(all_forms):
        d, a, b = {"16": ("%h0", "%h1", ""), "32": ("%r0", "%r2", "%r3"), "64": ("%l0", "%l4", "%l5")}[width]
        two = op.startswith(("bfi", "shf"))
        lines.append(f"{op} {d}, {a}, {b + ', ' if two else ''}{immediates};")
        if width != "64":
            lines.append(f"cvt.u64.u{width} %l0, {d};")
        lines.append(f"st.global.b64 [%l2+{64 * i}], %l0;")
    return "\n".join(lines + ["ret;", "}"])

def main():
    here = os.environ.get("OUT", os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    todo = list(forms())
    results = []
    for start in range(0, len(todo), 500):
        some = todo[start:start + 500]
        path = f"/tmp/immediates{start}.ptx"  # CuPy keeps modules by path
        open(path, "w").write(kernel(some))
        module = cupy.RawModule(path=path)
        values = cupy.array(numpy.array(VALUES + VALUES[3:] + VALUES[:3], dtype=numpy.uint64))
        out = cupy.zeros(8 * len(some), dtype=cupy.uint64)
        module.get_function("k")((1,), (8,), (values, out))
        results += [list(row) for row in out.get().reshape(-1, 8)]
    with open(os.path.join(here, "immediates.jsonl"), "w") as file:
        for (op, immediates, _), row in zip(todo, results):
            file.write(json.dumps({"op": op, "immediates": immediates, "result": " ".join(f"{int(x):x}" for x in row)}) + "\n")

main()
