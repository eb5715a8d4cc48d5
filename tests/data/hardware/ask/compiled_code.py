# SPDX-License-Identifier: Apache-2.0
"""Asks ptxas which short branches it replaces by predicates and which loops it unrolls. Needs no GPU.

    python3 tests/data/hardware/ask/compiled_code.py > answers.jsonl        needs ptxas 13.0

A line has the PTX of a kernel, and `branches`, the branches of its machine code; of a loop also `turns`, how many turns of the PTX
its largest loop has there, by the loads.
"""
import json
import os
import re
import struct
import subprocess
import tempfile

LOADS, BRANCH, EXIT = (0x381, 0x981, 0x980), 0x947, 0x94D


def functions(path):
    """The opcodes, predicates and targets of each function of a cubin."""
    with open(path, "rb") as file:
        data = file.read()
    start, count, names = struct.unpack_from("<Q", data, 0x28)[0], *struct.unpack_from("<HH", data, 0x3C)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, start + 64 * i) for i in range(count)]
    for section in sections:
        at = sections[names][4] + section[0]
        name = data[at:data.index(b"\0", at)].decode()
        if name.startswith(".text."):
            yield name[6:], decoded(data[section[4]:section[4] + section[5]])


def decoded(code):
    result = []
    for i in range(0, len(code) - 15, 16):
        low, high = struct.unpack_from("<QQ", code, i)
        opcode, target = low & 0xFFF, None
        if opcode == BRANCH:
            offset = (low >> 34) | (high & 0x3FFFF) << 30
            offset -= (1 << 48) if offset >> 47 else 0
            target = (i + 16 + ((offset << 8) | (low >> 16 & 0xFF)) * 4) // 16
        result.append((opcode, target))
    return result


def kernel(name, body):
    return f""".version 8.5
.target sm_90
.address_size 64
.visible .entry {name}(.param .u64 a, .param .u64 o, .param .u32 n, .param .u32 st)
{{
.reg .pred %p<20>; .reg .f32 %f<120>; .reg .b32 %r<80>; .reg .b64 %rd<80>; .reg .f64 %d<9>;
.shared .align 4 .b8 words[4096];
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [o]; ld.param.u32 %r2, [n]; ld.param.u32 %r9, [st]; mov.u32 %r1, %tid.x;
mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; cvta.to.global.u64 %rd3, %rd1; cvta.to.global.u64 %rd4, %rd2; mov.u32 %r5, words;
cvt.s64.s32 %rd11, %r1; cvt.s64.s32 %rd12, %r2;
{body}
mul.wide.u32 %rd5, %r1, 4; add.s64 %rd6, %rd4, %rd5; add.f32 %f1, %f1, %f2; st.global.f32 [%rd6], %f1; ret;
}}
"""


def load(k=0, nc=".nc"):
    return (f"mul.wide.s32 %rd{20 + k}, %r1, 4; add.s64 %rd{40 + k}, %rd3, %rd{20 + k}; ld.global{nc}.f32 %f{10 + k}, [%rd{40 + k}+{4 * k}]; "
            f"add.f32 %f1, %f1, %f{10 + k};\n")


FMA = "fma.rn.f32 %f2, %f2, %f10, %f10;\n"
SKIP = "mul.wide.s32 %rd20, %r1, 4; add.s64 %rd60, %rd3, %rd20; ld.global.nc.f32 %f10, [%rd60]; setp.gt.f32 %p1, %f10, 0f00000000;\n@%p1 bra J;\n"


def branches():
    """One short branch: what it skips."""
    for k in (1, 2, 4, 6, 7, 8, 9, 10, 12, 16):
        yield f"fma_{k}", SKIP + FMA * k + "J:\n"
    for k in (1, 2, 4, 8):
        yield f"load_{k}", SKIP + "".join(f"ld.global.nc.f32 %f{20 + i}, [%rd60+{4 * i + 4}]; add.f32 %f1, %f1, %f{20 + i};\n" for i in range(k)) + "J:\n"
    for k in (1, 2, 4, 6, 7, 8, 9):
        yield f"store_{k}", SKIP + "".join(f"st.global.f32 [%rd4+{4 * i + 4}], %f10;\n" for i in range(k)) + "J:\n"
    for k in (1, 2, 4):
        yield f"shared_{k}", SKIP + "".join(f"ld.shared.f32 %f{20 + i}, [%r5+{4 * i + 4}]; add.f32 %f1, %f1, %f{20 + i};\n" for i in range(k)) + "J:\n"
    for k in (1, 3):
        yield f"atomic_{k}", SKIP + "".join(f"red.global.add.f32 [%rd4+{4 * i + 4}], %f10;\n" for i in range(k)) + "J:\n"
    for name, body in (("division", "div.rn.f32 %f2, %f10, %f2;"), ("shuffle", "shfl.sync.bfly.b32 %f2, %f10, 1, 31, -1;"),
                       ("double_1", "cvt.f64.f32 %d1, %f10; fma.rn.f64 %d2, %d1, %d1, %d1; cvt.rn.f32.f64 %f2, %d2;")):
        yield name, SKIP + body + "\nJ:\n"
    for k in (1, 2, 3, 4, 5, 8):
        yield f"diamond_{k}", (SKIP.replace("bra J", "bra E") + FMA * k + "bra J;\nE:\n" + "mul.rn.f32 %f2, %f2, %f10; add.rn.f32 %f2, %f2, %f10;\n" * k + "J:\n")
    for k in (1, 2, 3):
        yield f"nested_{k}", SKIP + FMA * k + "setp.gt.f32 %p2, %f2, %f10;\n@%p2 bra J;\n" + "mul.rn.f32 %f2, %f2, %f10;\n" * k + "J:\n"
    for m in (1, 2, 3, 4, 8):
        for k in (1, 2, 3, 4):
            yield f"series_{m}_{k}", SKIP.replace("@%p1 bra J;\n", "") + "".join(
                f"and.b32 %r{30 + q}, %r9, {1 << q}; setp.eq.s32 %p{2 + q}, %r{30 + q}, 0; @%p{2 + q} bra Z{q};\n" + "".join(
                    f"ld.global.nc.f32 %f{20 + i}, [%rd60+{4 * (q * k + i) + 4}]; fma.rn.f32 %f1, %f1, %f1, %f{20 + i};\n" for i in range(k)) + f"Z{q}:\n" for q in range(m))


def loop(body, step="add.s32 %r1, %r1, 64;", test="setp.lt.s32 %p1, %r1, %r2;", before="", pragma=""):
    return f"{before}setp.ge.s32 %p2, %r1, %r2; @%p2 bra END;\nL:\n{pragma}\n{body}{step}\n{test}\n@%p1 bra L;\nEND:\n"


def loops():
    for c in ("lt", "le", "ne"):
        for t in ("s32", "u32"):
            yield f"loop_{c}_{t}", loop(load(), test=f"setp.{c}.{t} %p1, %r1, %r2;")
    for c in ("gt", "ge"):
        yield f"loop_{c}_s32", loop(load(), "add.s32 %r1, %r1, -64;", f"setp.{c}.s32 %p1, %r1, %r2;")
    for s in (1, 2, 3, 1024):
        yield f"loop_step_{s}", loop(load(), f"add.s32 %r1, %r1, {s};")
    yield "loop_step_of_register", loop(load(), "add.s32 %r1, %r1, %r9;")
    for t in ("s64", "u64"):
        yield f"loop_{t}", loop(load(), "add.s64 %rd11, %rd11, 64; cvt.u32.u64 %r1, %rd11;", f"setp.lt.{t} %p1, %rd11, %rd12;")
    for k in (1, 2, 3, 4):
        yield f"loop_loads_{k}", loop("".join(load(i) for i in range(k)))
    for k in (4, 8, 16, 32, 40, 64, 128):
        yield f"loop_fma_{k}", loop(load() + FMA * k)
    yield "loop_nounroll", loop(load(), pragma='.pragma "nounroll";')
    yield "loop_store", loop(load() + "st.global.f32 [%rd4], %f10;\n")
    yield "loop_copy", loop("ld.global.nc.f32 %f10, [%rd30]; st.global.f32 [%rd31], %f10; add.s64 %rd30, %rd30, 4096; add.s64 %rd31, %rd31, 4096;\n",
                            before="mov.u64 %rd30, %rd3; mov.u64 %rd31, %rd4;\n")
    for name, body in (("barrier", "bar.sync 0;"), ("division", "div.rn.f32 %f2, %f2, %f10;"), ("fast_division", "div.full.f32 %f2, %f2, %f10;"),
                       ("root", "sqrt.rn.f32 %f2, %f10;"), ("atomic", "red.global.add.f32 [%rd4], %f10;"),
                       ("shuffle", "shfl.sync.bfly.b32 %f2, %f10, 1, 31, -1;")):
        yield f"loop_{name}", loop(load() + body + "\n")
    yield "loop_until", loop(load(), test="setp.lt.s32 %p3, %r1, %r2; setp.gt.and.f32 %p1, %f10, 0f00000000, %p3;")
    yield "loop_doubling", loop(load(), "shl.b32 %r1, %r1, 1;")
    yield "loop_moving_bound", loop(load(), "add.s32 %r1, %r1, 64; add.s32 %r2, %r2, -1;")
    yield "loop_if", loop(load() + "setp.gt.f32 %p3, %f10, %f2; @%p3 bra Q;\nmov.f32 %f2, %f10;\nQ:\n")
    yield "loop_if_load", loop(load() + "setp.gt.f32 %p3, %f10, %f2; @%p3 bra Q;\nld.global.nc.f32 %f20, [%rd40+4096]; add.f32 %f2, %f2, %f20;\nQ:\n")


def main():
    with tempfile.TemporaryDirectory() as folder:
        source, binary = os.path.join(folder, "k.ptx"), os.path.join(folder, "k.cubin")
        for name, body in [*branches(), *loops()]:
            text = kernel(name, body)
            with open(source, "w") as file:
                file.write(text)
            subprocess.run(["ptxas", "-arch=sm_90", source, "-o", binary], check=True)
            code = dict(functions(binary))[name]
            last = max(i for i, (opcode, _) in enumerate(code) if opcode == EXIT)
            inner = [(target, i) for i, (opcode, target) in enumerate(code) if opcode == BRANCH and target is not None and target < i]
            answer = {"name": name, "ptx": text, "branches": sum(opcode == BRANCH for opcode, _ in code[:last])}
            if name.startswith("loop_"):
                loads = max((sum(opcode in LOADS for opcode, _ in code[a:b + 1]) for a, b in inner), default=0)
                answer["turns"] = loads / len(re.findall(r"ld\.global", body))
            print(json.dumps(answer))


if __name__ == "__main__":
    main()
