#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes PTX like that of nvcc: many kernels with straight-line and branching code, about as many bytes as requested.

    tests/ir/generate_ptx.py 3000000 > big.ptx
"""
import random
import sys


def kernel(out, random, number):
    name = f"_Z6kernel{number:04d}PfS_S_i"
    params = [f"{name}_param_{i}" for i in range(4)]
    out.append(f".visible .entry {name}(\n" + ",\n".join(
        f"\t.param .u{32 if i == 3 else 64} {p}" for i, p in enumerate(params)) + "\n)\n{\n")
    statements = random.randint(100, 1500)
    count = statements + 20
    out.append(f"\t.reg .pred \t%p<{count}>;\n\t.reg .f32 \t%f<{count}>;\n\t.reg .b32 \t%r<{count}>;\n"
               f"\t.reg .b64 \t%rd<{count}>;\n\t.shared .align 4 .b8 tile_{number}[4096];\n\n")
    for i in range(3):
        out.append(f"\tld.param.u64 \t%rd{i + 1}, [{params[i]}];\n\tcvta.to.global.u64 \t%rd{i + 4}, %rd{i + 1};\n")
    out.append(f"\tld.param.u32 \t%r1, [{params[3]}];\n\tmov.u32 \t%r2, %ctaid.x;\n\tmov.u32 \t%r3, %ntid.x;\n"
               f"\tmov.u32 \t%r4, %tid.x;\n\tmad.lo.s32 \t%r5, %r2, %r3, %r4;\n")
    for i in range(10, statements):
        a, b, c = (random.randint(1, i - 1) for _ in range(3))
        kind = random.random()
        if kind < 0.15:
            out.append(f"\tld.global.nc.f32 \t%f{i}, [%rd{a}+{4 * b}];\n")
        elif kind < 0.20:
            out.append(f"\tst.global.f32 \t[%rd{a}], %f{b};\n")
        elif kind < 0.24:
            out.append(f"\tld.shared.v4.f32 \t{{%f{i}, %f{a}, %f{b}, %f{c}}}, [%r{a}+{16 * b}];\n")
        elif kind < 0.28:
            out.append(f"\tmov.u32 \t%r{i}, tile_{number};\n")
        elif kind < 0.34:
            out.append(f"\tsetp.ge.s32 \t%p{i}, %r{a}, {b};\n\t@%p{i} bra \t$L__BB{number}_{i};\n\n$L__BB{number}_{i}:\n")
        elif kind < 0.40:
            out.append(f"\tadd.f32 \t%f{i}, %f{a}, 0f{random.getrandbits(32):08X};\n")
        elif kind < 0.50:
            out.append(f"\tmul.wide.s32 \t%rd{i}, %r{a}, {random.choice([2, 4, 8])};\n")
        elif kind < 0.60:
            out.append(f"\tadd.s64 \t%rd{i}, %rd{a}, %rd{b};\n")
        elif kind < 0.75:
            out.append(f"\tfma.rn.f32 \t%f{i}, %f{a}, %f{b}, %f{c};\n")
        elif kind < 0.85:
            out.append(f"\tshl.b32 \t%r{i}, %r{a}, {b % 32};\n")
        else:
            out.append(f"\tadd.s32 \t%r{i}, %r{a}, %r{b};\n")
    out.append("\tret;\n\n}\n")


def main():
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 3_000_000
    rng = random.Random(1)
    out = [".version 8.0\n.target sm_80\n.address_size 64\n\n"]
    written, number = 0, 0
    while written < size:
        start = len(out)
        kernel(out, rng, number)
        written += sum(map(len, out[start:]))
        number += 1
    sys.stdout.write("".join(out))


main()
