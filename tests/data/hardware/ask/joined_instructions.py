# SPDX-License-Identifier: Apache-2.0
"""Asks ptxas how many machine instructions it makes of a few PTX instructions that belong together. Needs no GPU.

    python3 tests/data/hardware/ask/joined_instructions.py > joined_instructions.jsonl        needs ptxas 13.0

A line has the PTX of a kernel that computes once, and what each further copy of the computation has in the machine code: `instructions`,
without loads and stores, and `alu`, those of them that only the ALU executes.
"""
import json
import os
import re
import subprocess
import tempfile

from compiled_code import functions

MEMORY = (0x381, 0x981, 0x980, 0x385, 0x985, 0x386, 0x986)
# By the lowest nine bits: comparisons, selections, minima, logic, shifts, three-way additions.
ALU = {0x007: "SEL", 0x008: "FSEL", 0x009: "FMNMX", 0x00B: "FSETP", 0x00C: "ISETP", 0x010: "IADD3", 0x011: "LEA", 0x012: "LOP3", 0x013: "IABS", 0x016: "PRMT",
       0x017: "IMNMX", 0x018: "BMSK", 0x019: "SHF", 0x01A: "SGXT", 0x01C: "PLOP3", 0x048: "VIMNMX", 0x036: "VIADD", 0x045: "I2FP", 0x03E: "F2FP"}
COPIES = 8
# What is loaded: a to e of 32 bits, A to C of 64, the floats u to w. What is stored: R and S of 32 bits, U and W of 64, the floats V and T. In between:
# i to l, I to L, the float g, and the predicates p to t.
SNIPPETS = {
    "add_2": "add.s32 R, a, b;",
    "add_3": "add.s32 i, a, b; add.s32 R, i, c;",
    "add_4": "add.s32 i, a, b; add.s32 j, i, c; add.s32 R, j, d;",
    "add_5": "add.s32 i, a, b; add.s32 j, i, c; add.s32 k, j, d; add.s32 R, k, e;",
    "add_tree": "add.s32 i, a, b; add.s32 j, c, d; add.s32 R, i, j;",
    "sub_add": "sub.s32 i, a, b; add.s32 R, i, c;",
    "add_constant": "add.s32 i, a, b; add.s32 R, i, 12345;",
    "add_shared": "add.s32 i, a, b; add.s32 R, i, c; add.s32 S, i, d;",
    "add_kept": "add.s32 R, a, b; add.s32 S, R, c;",
    "add64_2": "add.s64 U, A, B;",
    "add64_3": "add.s64 I, A, B; add.s64 U, I, C;",
    "add64_constant": "add.s64 U, A, 4096;",
    "sub64_2": "sub.s64 U, A, B;",
    "xor_2": "xor.b32 R, a, b;",
    "xor_3": "xor.b32 i, a, b; xor.b32 R, i, c;",
    "xor_4": "xor.b32 i, a, b; xor.b32 j, i, c; xor.b32 R, j, d;",
    "xor_5": "xor.b32 i, a, b; xor.b32 j, i, c; xor.b32 k, j, d; xor.b32 R, k, e;",
    "select_bits": "and.b32 i, a, b; not.b32 j, a; and.b32 k, j, c; or.b32 R, i, k;",
    "majority": "and.b32 i, a, b; and.b32 j, a, c; and.b32 k, b, c; xor.b32 l, i, j; xor.b32 R, l, k;",
    "choose": "xor.b32 i, b, c; and.b32 j, i, a; xor.b32 R, j, c;",
    "or_not": "not.b32 i, a; or.b32 j, i, b; xor.b32 R, j, c;",
    "and_constant": "and.b32 i, a, 255; xor.b32 R, i, b;",
    "xor_shared": "xor.b32 i, a, b; and.b32 R, i, c; or.b32 S, i, d;",
    "not": "not.b32 R, a;",
    "xor64_2": "xor.b64 U, A, B;",
    "xor64_3": "xor.b64 I, A, B; xor.b64 U, I, C;",
    "shl": "shl.b32 R, a, 5;",
    "shr": "shr.u32 R, a, 5;",
    "shr_s32": "shr.s32 R, a, 5;",
    "shl_register": "shl.b32 R, a, b;",
    "shl64": "shl.b64 U, A, 5;",
    "shr64": "shr.u64 U, A, 5;",
    "rotate": "shl.b32 i, a, 5; shr.u32 j, a, 27; or.b32 R, i, j;",
    "rotate_add": "shl.b32 i, a, 5; shr.u32 j, a, 27; add.s32 R, i, j;",
    "rotate_wrap": "shf.l.wrap.b32 R, a, a, 5;",
    "shl_add": "shl.b32 i, a, 5; add.s32 R, i, b;",
    "shl_add_constant": "shl.b32 i, a, 5; add.s32 R, i, 1000;",
    "shl_add_2": "shl.b32 i, a, 5; add.s32 R, i, b; add.s32 S, i, c;",
    "shl_add_add": "shl.b32 i, a, 5; add.s32 j, i, b; add.s32 R, j, c;",
    "shl_or": "shl.b32 i, a, 5; or.b32 R, i, b;",
    "shr_add": "shr.u32 i, a, 5; add.s32 R, i, b;",
    "shr_add_signed": "shr.s32 i, a, 5; add.s32 R, i, b;",
    "shr_add_2": "shr.u32 i, a, 5; add.s32 R, i, b; add.s32 S, i, c;",
    "shr_add_add": "shr.u32 i, a, 5; add.s32 j, i, b; add.s32 R, j, c;",
    "shr64_add": "shr.u64 I, A, 5; add.s64 U, I, B;",
    "shr_add_shl": "shr.u32 i, a, 5; add.s32 j, i, a; shl.b32 k, j, 2; add.s32 R, b, k;",
    "shr_and": "shr.u32 i, a, 5; and.b32 R, i, 255;",
    "shr_and_8": "shr.u32 i, a, 8; and.b32 R, i, 255;",
    "shr_xor": "shr.u32 i, a, 5; xor.b32 R, i, a;",
    "shl64_add": "shl.b64 I, A, 3; add.s64 U, I, B;",
    "bfe": "bfe.u32 R, a, 5, 8;",
    "bfe_register": "bfe.u32 R, a, b, c;",
    "bfi": "bfi.b32 R, a, b, 5, 8;",
    "index": "mul.wide.s32 I, a, 4; add.s64 U, I, A;",
    "index_u32": "mul.wide.u32 I, a, 4; add.s64 U, I, A;",
    "index_12": "mul.wide.s32 I, a, 12; add.s64 U, I, A;",
    "index_register": "mul.wide.s32 I, a, b; add.s64 U, I, A;",
    "index_2": "mul.wide.s32 I, a, 4; add.s64 U, I, A; add.s64 W, I, B;",
    "index_of_sum": "add.s32 i, a, b; mul.wide.s32 I, i, 4; add.s64 U, I, A;",
    "index_extended": "cvt.s64.s32 I, a; shl.b64 J, I, 3; add.s64 U, J, A;",
    "index_extended_u32": "cvt.u64.u32 I, a; shl.b64 J, I, 3; add.s64 U, J, A;",
    "extend": "cvt.s64.s32 U, a;",
    "extend_u32": "cvt.u64.u32 U, a;",
    "narrow": "cvt.u32.u64 R, A;",
    "extend_add": "cvt.s64.s32 I, a; add.s64 U, I, A;",
    "extend_u32_add": "cvt.u64.u32 I, a; add.s64 U, I, A;",
    "mul_wide": "mul.wide.s32 U, a, b;",
    "mul": "mul.lo.s32 R, a, b;",
    "mul_constant": "mul.lo.s32 R, a, 12345;",
    "mul_8": "mul.lo.s32 R, a, 8;",
    "mul_add": "mul.lo.s32 i, a, b; add.s32 R, i, c;",
    "mul_sub": "mul.lo.s32 i, a, b; sub.s32 R, c, i;",
    "mad": "mad.lo.s32 R, a, b, c;",
    "mul_hi": "mul.hi.u32 R, a, b;",
    "mul_hi_add": "mul.hi.u32 i, a, b; add.s32 R, i, c;",
    "mul64": "mul.lo.s64 U, A, B;",
    "mad64": "mad.lo.s64 U, A, B, C;",
    "mul64_hi": "mul.hi.u64 U, A, B;",
    "mad_wide": "mad.wide.s32 U, a, b, A;",
    "neg": "neg.s32 R, a;",
    "neg_add": "neg.s32 i, a; add.s32 R, i, b;",
    "abs": "abs.s32 R, a;",
    "min": "min.s32 R, a, b;",
    "min_max": "max.s32 i, a, b; min.s32 R, i, c;",
    "min64": "min.s64 U, A, B;",
    "select": "setp.lt.s32 p, a, b; selp.b32 R, c, d, p; add.s32 S, c, d;",
    "select_and": "setp.lt.s32 p, a, b; setp.gt.s32 q, c, d; and.pred r, p, q; selp.b32 R, d, e, r; add.s32 S, d, e;",
    "select_or_3": "setp.lt.s32 p, a, b; setp.gt.s32 q, c, d; or.pred r, p, q; setp.gt.s32 s, a, e; or.pred t, r, s; selp.b32 R, d, e, t; add.s32 S, d, e;",
    "select_bit": "and.b32 i, a, 16; setp.ne.s32 p, i, 0; selp.b32 R, b, c, p; add.s32 S, b, c;",
    "select_bits_clear": "and.b32 i, a, b; setp.eq.b32 p, i, 0; selp.b32 R, b, c, p; add.s32 S, b, c;",
    "select_bits_are": "and.b32 i, a, 48; setp.eq.s32 p, i, 16; selp.b32 R, b, c, p; add.s32 S, b, c;",
    "select_not": "setp.lt.s32 p, a, b; not.pred q, p; selp.b32 R, c, d, q; add.s32 S, c, d;",
    "select64": "setp.lt.s64 p, A, B; selp.b32 R, c, d, p; add.s32 S, c, d;",
    "select_of_64": "setp.lt.s32 p, a, b; selp.b64 U, A, B, p; add.s64 W, A, B;",
    "select_float": "setp.lt.f32 p, u, v; selp.f32 V, v, w, p; add.f32 T, v, w;",
    "byte": "cvt.u32.u8 R, a;",
    "signed_byte": "cvt.s32.s8 R, a;",
    "half_word": "cvt.u32.u16 R, a;",
    "popc": "popc.b32 R, a;",
    "clz": "clz.b32 R, a;",
    "brev": "brev.b32 R, a;",
    "prmt": "prmt.b32 R, a, b, 0x3210;",
    "prmt_5410": "prmt.b32 R, a, b, 0x5410;",
    "sad": "sad.u32 R, a, b, c;",
    "dp4a": "dp4a.s32.s32 R, a, b, c;",
    "float_add": "add.f32 V, u, v;",
    "float_mul_add": "mul.rn.f32 g, u, v; add.rn.f32 V, g, w;",
    "float_neg_add": "neg.f32 g, u; add.f32 V, g, v;",
    "float_abs_add": "abs.f32 g, u; add.f32 V, g, v;",
    "float_max": "max.f32 V, u, v;",
    "float_max_min": "max.f32 g, u, v; min.f32 V, g, w;",
    "int_to_float": "cvt.rn.f32.s32 V, a;",
    "float_to_int": "cvt.rzi.s32.f32 R, u;",
    "add_carry": "add.cc.u32 R, a, b; addc.u32 S, c, d;",
    "divide_10": "mul.hi.u32 i, a, 0xCCCCCCCD; shr.u32 R, i, 3;",
}


def renamed(snippet, n):
    """The snippet with registers of copy n, and the names of the loaded and the stored ones."""
    loaded, stored = set(), set()

    def name(match):
        word = match[0]
        kinds = {"32": "abcde", "64": "ABC", "f": "uvw"}
        if word in "pqrst":
            return f"%p{word}{n}"
        for kind, letters in kinds.items():
            if word in letters:
                loaded.add((kind, word))
        if word in "RSUWVT":
            stored.add(word)
        return f"%{'x' if word in 'abcdeijklRS' else 'y' if word in 'ABCIJKLUW' else 'z'}{word}{n}"

    body = re.sub(r"(?<![\w.%])[A-Za-z](?![\w.])", name, snippet)
    return body, sorted(loaded), sorted(stored)


def kernel(name, snippet, copies):
    lines, registers, inputs, outputs = [], set(), 64, 64
    for n in range(copies):
        body, loaded, stored = renamed(snippet, n)
        for kind, word in loaded:
            register, of = {"32": ("x", "u32"), "64": ("y", "u64"), "f": ("z", "f32")}[kind]
            lines.append(f"ld.global.{of} %{register}{word}{n}, [%in+{inputs}];")
            inputs += 8
        lines.append(body)
        for word in stored:
            register, of = ("y", "u64") if word in "UW" else ("z", "f32") if word in "VT" else ("x", "u32")
            lines.append(f"st.global.{of} [%out+{outputs}], %{register}{word}{n};")
            outputs += 8
    text = "\n".join(lines)
    for prefix, of in (("p", "pred"), ("x", "b32"), ("y", "b64"), ("z", "f32")):
        found = sorted(set(re.findall(rf"%{prefix}[A-Za-z]\d+", text)))
        if found:
            registers.add(f".reg .{of} {', '.join(found)};")
    declared = "\n".join(sorted(registers))
    return (f".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry {name}(.param .u64 i, .param .u64 o)\n{{\n.reg .b64 %in, %out;\n{declared}\n"
            f"ld.param.u64 %in, [i]; ld.param.u64 %out, [o]; cvta.to.global.u64 %in, %in; cvta.to.global.u64 %out, %out;\n{text}\nret;\n}}\n")


def counts(folder, text, name):
    source, binary = os.path.join(folder, "k.ptx"), os.path.join(folder, "k.cubin")
    with open(source, "w") as file:
        file.write(text)
    subprocess.run(["ptxas", "-arch=sm_90", source, "-o", binary], check=True)
    code = [opcode for opcode, _ in dict(functions(binary))[name] if opcode not in MEMORY]
    last = max(i for i, opcode in enumerate(code) if opcode == 0x94D)
    return code[:last]


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, snippet in SNIPPETS.items():
            one, more = (counts(folder, kernel(name, snippet, n), name) for n in (1, 1 + COPIES))
            alu = [sum(opcode & 0x1FF in ALU for opcode in code) for code in (one, more)]
            print(json.dumps({"name": name, "ptx": kernel(name, snippet, 1), "instructions": (len(more) - len(one)) / COPIES, "alu": (alu[1] - alu[0]) / COPIES}))


if __name__ == "__main__":
    main()
