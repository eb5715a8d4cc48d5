"""Asks a GPU what bfe and bfi make of any position and length: writes ../bit_fields.jsonl. Needs only NVIDIA's driver.

The first line holds `numbers`, the positions and lengths that were combined, and `a` and `b`, in hexadecimal. Further
lines: {"op", "ptx", "results"}: kernel k(a, b, positions, lengths, out) of `ptx`, one thread for each combination, in
groups of 64 threads; combination i had position i / n and length i % n of the n numbers, and elements i % len(a) of `a`
and `b`. `results` are the 64-bit words of `out`, zero-extended. With "constant", position and length were moved from
constants, which the assembler sees: `results` are those of combinations `step` * j, each computed by a statement of its
own.
"""
import json
import os
import struct
import sys

NUMBERS = [0, 1, 2, 7, 8, 16, 31, 32, 33, 40, 63, 64, 65, 100, 127, 128, 200, 254, 255, 256, 257, 264, 288, 300, 319, 320,
           511, 512, 65536, 65544, 0x7FFFFFFF, 0x80000000, 0x80000008, 0xFFFFFF00, 0xFFFFFF08, 0xFFFFFFFF]
A = [0x0123456789ABCDEF, 0xFEDCBA9876543210, 0x8000000180000001, 0x7FFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF]
B = [0xFFFFFFFFFFFFFFFF, 0, 0x5555555555555555, 0xAAAAAAAA55555555, 0x00FF00FF0F0F3355]
OPS = ["bfe.u32", "bfe.s32", "bfe.u64", "bfe.s64", "bfi.b32", "bfi.b64"]
HEADER = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 positions, .param .u64 lengths, .param .u64 out)
{
.reg .b32 %r<9>; .reg .b64 %l<9>; .reg .b64 %d<9>; .reg .b32 %w<9>;
ld.param.u64 %l0, [a]; ld.param.u64 %l1, [b]; ld.param.u64 %l2, [positions]; ld.param.u64 %l3, [lengths]; ld.param.u64 %l4, [out];
"""
STEP = 17


def statement(op, position, length):
    r = "%d" if op.endswith("64") else "%w"
    return f"{op} {r}3, {r}1, " + (f"{r}2, " if op.startswith("bfi") else "") + f"{position}, {length};"


def load(op):
    wide = op.endswith("64")
    return ("ld.global.b64 %d1, [%l0]; ld.global.b64 %d2, [%l1];" if wide else
            "ld.global.b32 %w1, [%l0]; ld.global.b32 %w2, [%l1];")


def store(op, at=0):
    return ("" if op.endswith("64") else "cvt.u64.u32 %d3, %w3; ") + f"st.global.b64 [%l4+{at}], %d3;"


def by_registers(op):
    advance = " ".join(f"mul.wide.u32 %l5, %r2, {size}; add.u64 %l{i}, %l{i}, %l5;" for i, size in ((0, 8), (1, 8), (2, 4), (3, 4), (4, 8)))
    return (HEADER + "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r2, %r1, 64, %r0;\n" + advance + "\n" + load(op) +
            " ld.global.u32 %r3, [%l2]; ld.global.u32 %r4, [%l3];\n" + statement(op, "%r3", "%r4") + "\n" + store(op) + "\nret;\n}\n")


def by_constants(op):
    lines = [HEADER]
    for j, i in enumerate(range(0, len(NUMBERS) ** 2, STEP)):
        position, length = i // len(NUMBERS), i % len(NUMBERS)
        lines.append(load(op).replace("%l0]", f"%l0+{8 * i}]").replace("%l1]", f"%l1+{8 * i}]"))
        lines.append(f"mov.u32 %r3, {NUMBERS[position]}; mov.u32 %r4, {NUMBERS[length]}; " + statement(op, "%r3", "%r4") + " " +
                     store(op, 8 * j))
    return "\n".join(lines + ["ret;\n}\n"])


def main():
    here = os.environ.get("OUT", os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    n = len(NUMBERS)
    asked = [(op, False, by_registers(op)) for op in OPS]
    asked += [(op, True, by_constants(op)) for op in OPS if op.endswith("64")]
    if "--ptx" in sys.argv:
        for i, (_, _, ptx) in enumerate(asked):
            with open(os.path.join(here, f"bit_fields_{i}.ptx"), "w") as file:
                file.write(ptx)
        return
    import ctypes

    from cuda_driver import Driver

    device = Driver()
    arrays = [b"".join(struct.pack("<Q", A[i % len(A)]) for i in range(n * n)), b"".join(struct.pack("<Q", B[i % len(B)]) for i in range(n * n)),
              b"".join(struct.pack("<I", NUMBERS[i // n]) for i in range(n * n)), b"".join(struct.pack("<I", NUMBERS[i % n]) for i in range(n * n))]
    arrays = [device.memory(data + bytes(64 * 8)) for data in arrays]
    out = device.memory(bytes(8 * n * n + 64 * 8))
    with open(os.path.join(here, "bit_fields.jsonl"), "w") as file:
        file.write(json.dumps({"numbers": NUMBERS, "a": [f"{a:x}" for a in A], "b": [f"{b:x}" for b in B]}) + "\n")
        for op, constant, ptx in asked:
            device.call("cuMemsetD8_v2", out, ctypes.c_ubyte(0), ctypes.c_size_t(8 * n * n))
            count = n * n if not constant else len(range(0, n * n, STEP))
            device.launch(device.kernel(ptx), 1 if constant else (n * n + 63) // 64, 1 if constant else 64, arrays + [out])
            words = struct.unpack(f"<{count}Q", device.read(out, 8 * count))
            line = {"op": op, "ptx": ptx, "results": " ".join(f"{w:x}" for w in words)}
            if constant:
                line["constant"], line["step"] = True, STEP
            file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
