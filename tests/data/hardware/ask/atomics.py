"""Asks a GPU what atom and red leave in memory and return: writes ../atomics.ptx and ../atomics.jsonl. Needs CuPy.

One kernel per form, k(in, out), one warp: lane i has 16 bytes of memory of its own, filled from words 4i to 4i+3 of
`in`, and operands b and c from words 128+4i and 256+4i on; it writes the memory afterwards to words 8i to 8i+3 of
`out` and what was returned to words 8i+4 to 8i+7. One JSON line per form: its instruction, kernel, the words of `in`
by the name of a set, and the words of `out`, in hexadecimal.
"""
import json
import os
import struct
import sys

REGISTERS = {"16": "%h", "32": "%r", "64": "%l"}
F32 = [0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000, 0x80800000, 0x00800001,
       0x3F800000, 0xBF800000, 0x33800000, 0x33800001, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000,
       0x7F800001, 0xFFFFFFFF, 0x40490FDB, 0x00400000, 0x80400000, 0x4B800000]
F64 = [0, 1 << 63, 1, 0x000FFFFFFFFFFFFF, 0x0010000000000000, 0x8010000000000000, 0x3FF0000000000000, 0x3CA0000000000000,
       0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0x400921FB54442D18]
F16 = [0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x0400, 0x8400, 0x3C00, 0xBC00, 0x1000, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00,
       0x7E00, 0x7C01, 0x4248, 0x6400, 0x6401]
BF16 = [0x0000, 0x8000, 0x0001, 0x8001, 0x007F, 0x0080, 0x8080, 0x3F80, 0xBF80, 0x3B80, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80,
        0x7FC0, 0x7F81, 0x4049, 0x4300, 0x4301]
INTEGER = [0, 1, 2, 5, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE, 100, 0x12345678, 0xF0F0F0F0]


def words_of(kind):
    """384 words: three operands of four words for each of 32 lanes."""
    state = 12345
    words = []
    for _ in range(384):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        pick = state >> 33
        table = {"f32": F32, "f16": F16, "bf16": BF16, "int": INTEGER}.get(kind)
        if kind == "f64":
            value = F64[pick % len(F64)]
            words += struct.unpack("<II", struct.pack("<Q", value))
        elif kind in ("f16", "bf16"):
            words.append(table[pick % len(table)] | table[(pick >> 8) % len(table)] << 16)
        else:
            words.append(table[pick % len(table)])
    return words[:384]


def forms():
    for op in ("atom", "red"):
        for space in ("global", "shared", ""):
            for o, types in (("add", "u32 s32 u64"), ("min", "u32 s32 u64 s64"), ("max", "u32 s32 u64 s64"),
                             ("and", "b32 b64"), ("or", "b32 b64"), ("xor", "b32 b64"), ("inc", "u32"), ("dec", "u32")):
                for t in types.split():
                    yield op, space, o, t, 1, "int"
            yield op, space, "add", "f32", 1, "f32"
            yield op, space, "add", "f64", 1, "f64"
            for t in ("f16", "f16x2", "bf16", "bf16x2"):
                yield op, space, "add.noftz", t, 1, t.removesuffix("x2")
            if op == "atom":
                for t in ("b16", "b32", "b64"):
                    yield op, space, "cas", t, 1, "int"
                for t in ("b32", "b64"):
                    yield op, space, "exch", t, 1, "int"
        for n in (2, 4):
            yield op, "global", "add", "f32", n, "f32"
        for o in ("add", "min", "max"):
            for t in ("f16", "bf16"):
                for n in (2, 4, 8):
                    yield op, "global", o + ".noftz", t, n, t
                for n in (2, 4):
                    yield op, "global", o + ".noftz", t + "x2", n, t


def kernel(name, op, space, operation, t, n, _):
    bits = "32" if t.endswith("x2") else "".join(c for c in t.replace("bf", "").lstrip("usbf") if c.isdigit())
    r = REGISTERS[bits]
    step = int(bits) // 8

    def vector(first):
        return f"{r}{first}" if n == 1 else "{" + ", ".join(f"{r}{first + i}" for i in range(n)) + "}"

    address = "[%l90]"
    lines = [f".visible .entry {name}(.param .u64 in, .param .u64 out)", "{",
             ".reg .b16 %h<80>; .reg .b32 %r<90>; .reg .b64 %l<99>; .shared .align 16 .b8 s[512];",
             "ld.param.u64 %l91, [in]; ld.param.u64 %l92, [out]; mov.u32 %r80, %tid.x;",
             "mul.wide.u32 %l93, %r80, 16; add.u64 %l91, %l91, %l93; mul.wide.u32 %l94, %r80, 32; add.u64 %l92, %l92, %l94;",
             "mov.u64 %l95, s; add.u64 %l95, %l95, %l93;"]
    where = "shared" if space == "shared" else "global"
    lines.append("mov.u64 %l90, %l95;" if where == "shared" else "mov.u64 %l90, %l92;")
    lines.append("ld.global.v4.b32 {%r81, %r82, %r83, %r84}, [%l91];")
    lines.append(f"st.{where}.v4.b32 [%l90], {{%r81, %r82, %r83, %r84}};")
    for k in range(n):
        lines.append(f"ld.global.b{bits} {r}{10 + k}, [%l91+{512 + k * step}]; ld.global.b{bits} {r}{20 + k}, [%l91+{1024 + k * step}];")
        lines.append(f"mov.b{bits} {r}{30 + k}, 0;")
    spelling = ".".join(p for p in (op, space, operation) if p) + (f".v{n}" if n > 1 else "") + f".{t}"
    operands = ([vector(30)] if op == "atom" else []) + [address, vector(10)] + ([vector(20)] if operation == "cas" else [])
    lines.append(f"{spelling} {', '.join(operands)};")
    lines.append(f"ld.{where}.v4.b32 {{%r81, %r82, %r83, %r84}}, [%l90];")
    lines.append("st.global.v4.b32 [%l92], {%r81, %r82, %r83, %r84};")
    lines.append("mov.u32 %r85, 0; st.global.v4.b32 [%l92+16], {%r85, %r85, %r85, %r85};")
    if op == "atom":
        lines += [f"st.global.b{bits} [%l92+{16 + k * step}], {r}{30 + k};" for k in range(n)]
    return spelling, "\n".join(lines + ["ret;", "}"])


def main():
    here = os.environ.get("OUT", os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    todo = list(forms())
    made = [kernel(f"k{i}", *form) for i, form in enumerate(todo)]
    text = ".version 8.3\n.target sm_90\n.address_size 64\n" + "\n".join(k for _, k in made) + "\n"
    path = os.path.join(here, "atomics.ptx")
    with open(path, "w") as file:
        file.write(text)
    if "--ptx" in sys.argv:
        return
    import cupy
    import numpy

    module = cupy.RawModule(path=path)
    with open(os.path.join(here, "atomics.jsonl"), "w") as file:
        for i, ((spelling, _), form) in enumerate(zip(made, todo)):
            given = words_of(form[5])
            out = cupy.zeros(256, dtype=cupy.uint32)
            module.get_function(f"k{i}")((1,), (32,), (cupy.array(numpy.array(given, dtype=numpy.uint32)), out))
            if i == 0 or form[5] not in [f[5] for f in todo[:i]]:
                file.write(json.dumps({"set": form[5], "words": " ".join(f"{w:x}" for w in given)}) + "\n")
            file.write(json.dumps({"op": spelling, "kernel": f"k{i}", "set": form[5],
                                   "out": " ".join(f"{int(w):x}" for w in out.get())}) + "\n")


if __name__ == "__main__":
    main()
