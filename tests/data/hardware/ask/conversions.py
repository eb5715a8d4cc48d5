"""Asks a GPU of compute capability 9.0 about conversions to and from narrow formats, packing, halves of a word, roundings of fma.bf16x2,
and logic with a predicate: writes ../conversions.jsonl.

Needs CuPy. Lines with "set" hold 128 times three words, in hexadecimal: what each thread finds in %r0 to %r2, and as floats in %f0
to %f2. Lines with "body" hold statements, the set that they were given, and what each of the 128 threads left in %r21 and %r20, as
one number. Also prints what no file holds: which NaN makes fma.oob give 0.
"""
import json
import os
import random
import struct

import cupy
import numpy

THREADS = 128
HEAD = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
.reg .b8 %q<10>; .reg .b16 %h<10>; .reg .b32 %r<50>; .reg .b64 %l<20>; .reg .f32 %f<40>; .reg .pred %p<10>;
.reg .b64 %m<5>; .reg .b32 %i<4>; .reg .b128 %x<4>;
ld.param.u64 %m0, [in]; ld.param.u64 %m1, [out]; mov.u32 %i0, %tid.x; mul.wide.u32 %m2, %i0, 8; add.u64 %m1, %m1, %m2;
mul.wide.u32 %m2, %i0, 12; add.u64 %m0, %m0, %m2;
ld.global.b32 %r0, [%m0]; ld.global.b32 %r1, [%m0+4]; ld.global.b32 %r2, [%m0+8];
mov.b32 %f0, %r0; mov.b32 %f1, %r1; mov.b32 %f2, %r2; mov.b32 %r20, 0; mov.b32 %r21, 0;
"""
TAIL = "st.global.b32 [%m1], %r20; st.global.b32 [%m1+4], %r21; ret;\n}\n"

def word(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]

def half(x):
    return struct.unpack("<H", struct.pack("<e", x))[0]

def edges(exponent, mantissa):
    """Values of a format and what lies half-way between two, with their neighbours in f32."""
    bias = (1 << (exponent - 1)) - 1
    values = []
    for code in range(1 << (exponent + mantissa)):
        e, m = code >> mantissa, code & ((1 << mantissa) - 1)
        values.append(m * 2.0 ** (1 - bias - mantissa) if e == 0 else (m + (1 << mantissa)) * 2.0 ** (e - bias - mantissa))
    some = []
    for a, b in zip(values, values[1:]):
        for x in (a, (a + b) / 2):
            some += [word(x), word(x) + 1, max(0, word(x) - 1)]
    return some

def input_sets():
    r = random.Random(1)
    special = [0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001, 0xffffffff, 0x7fa12345, 1, 0x80000001,
               0x007fffff, 0x7f7fffff, 0xff7fffff, 0x477fe000, 0x477ff000, 0x477fefff, 0x43e00000, 0x43e80000, 0x43e80001]
    sign = lambda w: w | r.choice((0, 0x80000000))
    floats = lambda pool: [sign(r.choice(pool)) for _ in range(3 * THREADS)]
    wide = [r.choice(special) if r.random() < 0.4 else r.getrandbits(32) for _ in range(3 * THREADS)]
    near = [half(x) for x in (0.0, 1.0, 448.0, 464.0, 480.0, 57344.0, 61440.0, 65504.0, 2.0 ** -6, 2.0 ** -9, 2.0 ** -10, 3 * 2.0 ** -10,
                              2.0 ** -14, 2.0 ** -16, 2.0 ** -17, 2.0 ** -24)]
    near += [h + d for h in near[1:] for d in (1, -1)] + [0x7c00, 0x7c01, 0x7e00, 0x7fff]
    halves = [(r.choice(near) if r.random() < 0.6 else r.getrandbits(16)) ^ r.choice((0, 0x8000)) for _ in range(6 * THREADS)]
    integers = [r.choice((0, 1, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 0x7fffffff, 0x80000000, 0xffffffff, 0xffffff80, 0xffff8000,
                          0xfffffff8, 7, 8, 15, 16, 2, 3)) if r.random() < 0.6 else r.getrandbits(32) for _ in range(3 * THREADS)]
    codes = []
    for i in range(THREADS):
        codes += [2 * i << 8 | (2 * i + 1), (2 * i + 1) << 8 | 2 * i, r.getrandbits(32)]
    outside = (0x7ff7, 0xfff7, 0x7ff6, 0x7fff, 0xffff, 0x7c00, 0x7f80, 0x3c00, 0xbf80, 0, 0x8000)  # 7ff7: out of bounds
    oob = [r.choice(outside) << 16 | r.choice(outside) for _ in range(3 * THREADS)]
    return {"oob": oob, "wide": wide, "e4m3": floats(edges(4, 3)), "e5m2": floats(edges(5, 2)), "f16": floats(edges(5, 10)), "integers": integers,
            "bf16": [sign(r.choice((0x3f7f8000, 0x3f808000, 0x3f818000, 0x3f808001, 0x3f807fff)) + 0x10000 * r.randrange(64))
                     for _ in range(3 * THREADS)],
            "halves": [a << 16 | b for a, b in zip(halves[::2], halves[1::2])], "codes": codes}

def bodies():
    """Names of sets, statements."""
    widen, widen16 = "cvt.u32.u16 %r20, %h0;", "cvt.u16.u32 %h0, %r0; "
    for relu in ("", ".relu"):
        for t in ("e4m3", "e5m2"):
            yield ("wide", t), f"cvt.rn{relu}.satfinite.{t}x2.f32 %h0, %f0, %f1; {widen}"
            yield ("halves",), f"cvt.rn{relu}.satfinite.{t}x2.f16x2 %h0, %r0; {widen}"
            yield ("codes",), f"{widen16}cvt.rn{relu}.f16x2.{t}x2 %r20, %h0;"
        for rounding in ("rn", "rz"):
            for satfinite in ("", ".satfinite"):
                yield ("wide", "f16"), f"cvt.{rounding}{relu}{satfinite}.f16x2.f32 %r20, %f0, %f1;"
                yield ("wide", "bf16"), f"cvt.{rounding}{relu}{satfinite}.bf16x2.f32 %r20, %f0, %f1;"
                yield ("wide", "f16"), f"cvt.{rounding}{relu}{satfinite}.f16.f32 %h0, %f0; {widen}"
                yield ("wide", "bf16"), f"cvt.{rounding}{relu}{satfinite}.bf16.f32 %h0, %f0; {widen}"
            yield ("wide", "f16"), f"cvt.{rounding}{relu}.tf32.f32 %r20, %f0;"
    for satfinite in ("", ".satfinite"):
        yield ("wide", "f16"), f"cvt.rna{satfinite}.tf32.f32 %r20, %f0;"
    for t, r, wide in (("u8", "%q0", "cvt.u32.u8 %r20, %q0;"), ("s8", "%q0", "cvt.u32.u8 %r20, %q0;"), ("u16", "%h1", "cvt.u32.u16 %r20, %h1;"),
                       ("s16", "%h1", "cvt.u32.u16 %r20, %h1;"), ("u32", "%r20", ""), ("s32", "%r20", ""),
                       ("u64", "%l0", "mov.b64 {%r20, %r21}, %l0;"), ("s64", "%l0", "mov.b64 {%r20, %r21}, %l0;")):
        for rounding in ("rni", "rzi", "rmi", "rpi"):
            yield ("halves",), f"{widen16}cvt.{rounding}.{t}.bf16 {r}, %h0; {wide}"
        source = {"8": "cvt.u8.u32 %q0, %r0; ", "6": "cvt.u16.u32 %h1, %r0; ", "2": "mov.b32 %r20, %r0; ",
                  "4": "mov.b64 %l0, {%r0, %r1}; "}[t[-1]]
        for rounding in ("rn", "rz", "rm", "rp"):
            yield ("integers",), f"{source}cvt.{rounding}.bf16.{t} %h0, {r}; {widen}"
    for t in ("u16", "s16"):
        yield ("integers",), f"cvt.pack.sat.{t}.s32 %r20, %r0, %r1;"
    for t in ("u8", "s8", "u4", "s4", "u2", "s2"):
        yield ("integers",), f"cvt.pack.sat.{t}.s32.b32 %r20, %r0, %r1, %r2;"
    for t in ("u16x2", "s16x2"):
        yield ("integers",), f"add.{t} %r20, %r0, %r1;"
        for op in ("min", "max"):
            for relu in ("", ".relu") if t == "s16x2" else ("",):
                yield ("integers",), f"{op}{relu}.{t} %r20, %r0, %r1;"
    for op in ("and", "or"):
        for table in (0x00, 0x1a, 0x80, 0xe8, 0xfe):
            for q in ("%p1", "!%p1"):
                yield ("integers",), f"setp.lt.s32 %p1, %r2, 0; lop3.{op}.b32 %r20|%p2, %r0, %r1, %r2, {table}, {q}; selp.u32 %r21, 1, 0, %p2;"
    for rounding in ("rn", "rz", "rm", "rp"):
        for relu in ("", ".relu"):
            yield ("wide", "bf16"), f"fma.{rounding}{relu}.bf16x2 %r20, %r0, %r1, %r2;"
    for t in ("f16x2", "bf16x2"):
        for relu in ("", ".relu"):
            yield ("oob", "halves"), f"fma.rn.oob{relu}.{t} %r20, %r0, %r1, %r2;"
    yield ("wide",), "mov.b64 %l0, {%r0, %r1}; mov.b64 %l1, {%r2, %r0}; mov.b128 %x0, {%l0, %l1}; mov.b128 {_, %r20, %r21, _}, %x0;"
    yield ("wide",), "mov.b128 %x0, {%r2, %r1, %r0, %r2}; mov.b128 {%l0, %l1}, %x0; mov.b64 {%r20, %r21}, %l1;"
    yield ("wide",), "mov.b32 {%h0, %h1}, %r0; mov.b16 {%q0, %q1}, %h1; mov.b16 %h2, {%q1, %q0}; mov.b64 %l0, {%h0, %h1, %h2, 5}; mov.b64 {%r20, %r21}, %l0;"
    yield ("wide",), "mov.b32 {%q0, %q1, %q2, %q3}, %r0; mov.b32 %r20, {%q3, %q2, %q1, %q0}; mov.v2.b32 {%r21, %r20}, {%r20, %r21};"

def run(body, words, number):
    path = f"/tmp/conversions{number}.ptx"  # CuPy keeps modules by path
    with open(path, "w") as file:
        file.write(HEAD + body + "\n" + TAIL)
    out = cupy.zeros(THREADS, dtype=cupy.uint64)
    cupy.RawModule(path=path).get_function("k")((1,), (THREADS,), (cupy.array(numpy.array(words, dtype=numpy.uint32)), out))
    return [int(x) for x in out.get()]

def out_of_bounds():
    """For each operand in turn, all halves, the others being 1: prints those whose result is +0 with .oob and not without."""
    number = 100000
    for t, one in (("f16", 0x3c00), ("bf16", 0x3f80)):
        for operand in range(3):
            found = []
            for start in range(0, 0x10000, THREADS):
                words = []
                for h in range(start, start + THREADS):
                    words += [h if i == operand else one for i in range(3)]
                body = "".join(f"cvt.u16.u32 %h{i}, %r{i}; " for i in range(3)) + \
                    f"fma.rn.oob.{t} %h4, %h0, %h1, %h2; fma.rn.{t} %h5, %h0, %h1, %h2; cvt.u32.u16 %r20, %h4; cvt.u32.u16 %r21, %h5;"
                path = f"/tmp/conversions{number}.ptx"
                if start == 0:
                    with open(path, "w") as file:
                        file.write(HEAD + body + "\n" + TAIL)
                    kernel = cupy.RawModule(path=path).get_function("k")
                out = cupy.zeros(THREADS, dtype=cupy.uint64)
                kernel((1,), (THREADS,), (cupy.array(numpy.array(words, dtype=numpy.uint32)), out))
                found += [start + i for i, x in enumerate(out.get()) if int(x) & 0xffffffff == 0 and int(x) >> 32 != 0]
            print(f"fma.rn.oob.{t}: +0 where operand {'abc'[operand]} is", " ".join(f"{h:04x}" for h in found) or "none")
            number += 1

def main():
    here = os.environ.get("OUT", os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    sets = input_sets()
    with open(os.path.join(here, "conversions.jsonl"), "w") as file:
        for name, words in sets.items():
            file.write(json.dumps({"set": name, "words": " ".join(f"{w:x}" for w in words)}) + "\n")
        number = 0
        for names, body in bodies():
            for name in names:
                result = run(body, sets[name], number)
                file.write(json.dumps({"body": body, "of": name, "result": " ".join(f"{x:x}" for x in result)}) + "\n")
                number += 1
    out_of_bounds()

main()
