"""Asks a GPU of compute capability 9.0 what its matrix instructions answer: writes ../matrix.jsonl.

    python3 matrix.py              needs CuPy
    python3 matrix.py --print FILE writes the PTX to FILE instead, for ptxas to check; that needs no GPU
    python3 matrix.py --many FILES writes the answers themselves into three NumPy files, FILES0.npz and so on, to fit a model of the sums to

A line per form: `statement`, with fragments named d, a, b, c and e; `kinds` of elements and `counts` of registers of D, A, B and C; `hashes`, one
for each mode of the inputs: 64-bit FNV-1a over the words of D (of .f64 the low half first) of all tests of the mode, in the order test, register,
lane; a NaN of .f64 counts as 7ff8000000000000. What was in A, B, C and E follows from the form's name: words() below, and once more in
tests/hardware/matrix_test.cpp.
"""
import itertools
import json
import os
import sys

import numpy

MODES, TESTS = 12, 480  # test i has mode i % 12
SHAPES = {"f16": (5, 10, 15), "bf16": (8, 7, 127), "tf32": (8, 10, 127), "e4m3": (4, 3, 7), "e5m2": (5, 2, 15), "f32": (8, 23, 127),
          "f64": (11, 52, 1023)}  # bits of the exponent and of the fraction, bias
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "f32": 32, "f64": 64, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1, "s32": 32}


def registers(rows, columns, kind):
    """32-bit registers of a fragment (64-bit ones of f64)."""
    return max(1, rows * columns * BITS[kind] // 32 // (64 if kind == "f64" else 32))


def form(name, m, n, k, kinds, sparse=False, counts=None):
    """`kinds` of D, A, B, C."""
    d, a, b, c = kinds
    counts = counts or (registers(m, n, d), registers(m, k, a) // (2 if sparse else 1), registers(k, n, b), registers(m, n, c))
    return {"name": name, "k": k, "kinds": kinds, "sparse": sparse, "counts": counts}


def forms():
    for m, k, cd in itertools.product([16], [8, 16], ["f16", "f32"]):
        yield form(f"mma.sync.aligned.m16n8k{k}.row.col.{cd}.f16.f16.{cd}", m, 8, k, (cd, "f16", "f16", cd))
    for la, lb, d, c in itertools.product(["row", "col"], ["row", "col"], ["f16", "f32"], ["f16", "f32"]):
        if (d, c) != ("f16", "f32"):  # not a form
            size = {"f16": 4, "f32": 8}
            yield form(f"mma.sync.aligned.m8n8k4.{la}.{lb}.{d}.f16.f16.{c}", 8, 8, 4, (d, "f16", "f16", c), counts=(size[d], 2, 2, size[c]))
    for kind, ks in (("bf16", (8, 16)), ("tf32", (4, 8))):
        for k in ks:
            yield form(f"mma.sync.aligned.m16n8k{k}.row.col.f32.{kind}.{kind}.f32", 16, 8, k, ("f32", kind, kind, "f32"))
    for k, a, b, cd in itertools.product([16, 32], ["e4m3", "e5m2"], ["e4m3", "e5m2"], ["f16", "f32"]):
        if k == 32 or (a, b, cd) in (("e4m3", "e4m3", "f16"), ("e4m3", "e5m2", "f32")):
            yield form(f"mma.sync.aligned.m16n8k{k}.row.col.{cd}.{a}.{b}.{cd}", 16, 8, k, (cd, a, b, cd))
    for shape, (m, n, k) in {"m8n8k4": (8, 8, 4), "m16n8k4": (16, 8, 4), "m16n8k8": (16, 8, 8), "m16n8k16": (16, 8, 16)}.items():
        for rounding in [""] + ([".rz", ".rm", ".rp"] if shape == "m8n8k4" else []):
            yield form(f"mma.sync.aligned.{shape}.row.col{rounding}.f64.f64.f64.f64", m, n, k, ("f64",) * 4)
    for saturate in ("", ".satfinite"):
        for m, k, a, b in ((8, 16, "s8", "u8"), (16, 16, "u8", "s8"), (16, 32, "s8", "s8"), (16, 32, "u8", "u8"), (8, 32, "s4", "u4"),
                           (16, 32, "u4", "s4"), (16, 64, "s4", "s4"), (16, 64, "u4", "u4")):
            yield form(f"mma.sync.aligned.m{m}n8k{k}.row.col{saturate}.s32.{a}.{b}.s32", m, 8, k, ("s32", a, b, "s32"))
    for (m, k), op in itertools.product([(8, 128), (16, 128), (16, 256)], ["xor", "and"]):
        yield form(f"mma.sync.aligned.m{m}n8k{k}.row.col.s32.b1.b1.s32.{op}.popc", m, 8, k, ("s32", "b1", "b1", "s32"))
    for variant, selector in (("sp::ordered_metadata", 0), ("sp::ordered_metadata", 1), ("sp", 0), ("sp::ordered_metadata", 2), ("sp::ordered_metadata", 3)):
        for k, kinds, lanes in ((16, ("f16", "f16", "f16", "f16"), 4), (32, ("f32", "f16", "f16", "f32"), 2), (16, ("f32", "bf16", "bf16", "f32"), 4),
                                (32, ("f32", "bf16", "bf16", "f32"), 2), (8, ("f32", "tf32", "tf32", "f32"), 4), (16, ("f32", "tf32", "tf32", "f32"), 2),
                                (64, ("f32", "e4m3", "e5m2", "f32"), 1), (32, ("s32", "s8", "u8", "s32"), 2), (64, ("s32", "u8", "s8", "s32"), 1),
                                (64, ("s32", "s4", "u4", "s32"), 2), (128, ("s32", "u4", "s4", "s32"), 1)):
            if selector < lanes:
                d, a, b, c = kinds
                one = form(f"mma.{variant}.sync.aligned.m16n8k{k}.row.col.{d}.{a}.{b}.{c}", 16, 8, k, kinds, True)
                yield {**one, "selector": selector}
    # wmma multiplies fragments of unspecified places: what it sums is asked with the places of loads.
    for shape, d, c in itertools.product(["m16n16k16", "m32n8k16", "m8n32k16"], ["f16", "f32"], ["f16", "f32"]):
        size = {"f16": 4, "f32": 8}
        yield form(f"wmma.mma.sync.aligned.row.col.{shape}.{d}.{c}", 16, 16, 16, (d, "f16", "f16", c), counts=(size[d], 8, 8, size[c]))
    for la, lb in itertools.product(["row", "col"], ["row", "col"]):
        yield form(f"wmma.mma.sync.aligned.{la}.{lb}.m16n16k16.f32.f32", 16, 16, 16, ("f32", "f16", "f16", "f32"), counts=(8, 8, 8, 8))
        yield form(f"wmma.mma.sync.aligned.{la}.{lb}.m16n16k16.f32.bf16.bf16.f32", 16, 16, 16, ("f32", "bf16", "bf16", "f32"), counts=(8, 4, 4, 8))
        yield form(f"wmma.mma.sync.aligned.{la}.{lb}.m16n16k8.f32.tf32.tf32.f32", 16, 16, 8, ("f32", "tf32", "tf32", "f32"), counts=(8, 4, 4, 8))
        yield form(f"wmma.mma.sync.aligned.{la}.{lb}.m16n16k16.s32.s8.s8.s32", 16, 16, 16, ("s32", "s8", "s8", "s32"), counts=(8, 2, 2, 8))
    for shape, a, b in (("m32n8k16", 8, 2), ("m8n32k16", 2, 8)):
        yield form(f"wmma.mma.sync.aligned.row.col.{shape}.f32.bf16.bf16.f32", 16, 16, 16, ("f32", "bf16", "bf16", "f32"), counts=(8, a, b, 8))
        yield form(f"wmma.mma.sync.aligned.row.col.{shape}.s32.u8.u8.s32.satfinite", 16, 16, 16, ("s32", "u8", "u8", "s32"), counts=(8, a // 2, b // 2, 8))
    for la, lb, rounding in (("row", "col", ""), ("col", "row", ""), ("row", "col", ".rz")):
        yield form(f"wmma.mma.sync.aligned.{la}.{lb}.m8n8k4{rounding}.f64.f64.f64.f64", 8, 8, 4, ("f64",) * 4)
    yield form("wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32", 8, 8, 32, ("s32", "s4", "s4", "s32"))
    yield form("wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", 8, 8, 128, ("s32", "b1", "b1", "s32"))


def mixed(x):
    """Words of 32 bits to words that look random."""
    x = x.astype(numpy.uint32)
    x = (x ^ (x >> 16)) * numpy.uint32(0x85EBCA6B)
    x = (x ^ (x >> 13)) * numpy.uint32(0xC2B2AE35)
    return x ^ (x >> 16)


def seed_of(name):
    """FNV-1a of the name."""
    h = 2166136261
    for c in name.encode():
        h = ((h ^ c) * 16777619) & 0xFFFFFFFF
    return numpy.uint32(h)


def number(kind, mode, h, accumulator, of):
    """An element of `kind` from random words h; `of` is the type of A. The mode says what exponents there are."""
    e = mixed(h + numpy.uint32(0x5BD1E995)).astype(numpy.int64)
    bits, fraction_bits, bias = SHAPES[kind]
    most = 2**bits - (1 if kind == "e4m3" else 2)  # the largest exponent of a number
    low = 1 - SHAPES[of][2]
    if mode == 1:
        exponent = bias + 0 * e
    elif mode == 2:
        exponent = bias + e % 8 - 4 if accumulator else bias + e % 4 - 2
    elif mode == 3:
        exponent = bias + e % 24 - 18 if accumulator else bias + e % 12 - 6
    elif mode == 4:
        exponent = bias + e % 60 - 30 if accumulator else e % (most + 1)
    elif mode == 5:
        exponent = bias + 2 * low - 12 + e % 16 if accumulator else e % 2
    elif mode == 6:
        exponent = bias + e % 32 - 16 if accumulator else numpy.where(e % 4 == 0, bias + (e >> 8) % 20 - 10, 0)
    elif mode == 7:
        exponent = most - e % 4 if accumulator else most - e % 2
    elif mode == 10:  # powers of two: many sums lie in the middle between two halves
        exponent = bias - numpy.array([0, 1, 5, 6, 12, 13])[e % 6] if not accumulator else numpy.where(e % 2 == 0, 0, bias - e % 3)
    elif mode == 11:  # next to nothing
        exponent = 0 * e if accumulator else 1 + e % 2
    else:
        exponent = bias + e % 8 - 4 if accumulator else bias + e % 4 - 2
    exponent = numpy.clip(exponent, 0, most)
    wide = h.astype(numpy.uint64) * numpy.uint64(0x9E3779B97F4A7C15)
    fraction = (wide >> numpy.uint64(64 - fraction_bits)).astype(numpy.uint64)
    if (mode == 6 and not accumulator) or mode == 10:
        fraction = numpy.where((exponent == 0) | (mode == 10), 0, fraction)
    if mode == 11 and accumulator:
        fraction = 0 * fraction
    if mode == 8:  # few bits: many sums are exact, or ties
        fraction = fraction >> numpy.uint64(fraction_bits - 2) << numpy.uint64(fraction_bits - 2)
    if mode == 9:  # now and then infinity and NaN
        special = (e >> 8) % 61 < 2
        exponent = numpy.where(special, 2**bits - 1, exponent)
        fraction = numpy.where(special, ((e >> 8) % 61 == 1).astype(numpy.uint64) << numpy.uint64(fraction_bits - 1), fraction)
    sign = (h & numpy.uint32(1)).astype(numpy.uint64)
    value = (sign << numpy.uint64(bits + fraction_bits)) | (exponent.astype(numpy.uint64) << numpy.uint64(fraction_bits)) | fraction
    return value << numpy.uint64(13) if kind == "tf32" else value


def metadata(one, h):
    """Of sparse forms: which of four (of two for tf32) elements are kept."""
    pairs = numpy.array([4, 8, 9, 12, 13, 14], dtype=numpy.uint32)
    if one["kinds"][1] == "tf32":
        pairs = numpy.array([4, 14], dtype=numpy.uint32)
    word = numpy.zeros(h.shape, numpy.uint32)
    for i in range(8):
        word |= pairs[(mixed(h + numpy.uint32(i)) % numpy.uint32(len(pairs))).astype(int)] << numpy.uint32(4 * i)
    return word


def words(one, tests):
    """What A, B, C and E hold: arrays [test][register][lane]."""
    arrays = []
    of = one["kinds"][1]
    for operand, (kind, count) in enumerate(zip(one["kinds"][1:], one["counts"][1:])):
        wide = kind == "f64"
        total = numpy.zeros((tests, count, 32), numpy.uint64)
        for mode in range(MODES):
            raw = mode == 0 or kind not in SHAPES
            per = 1 if raw else (64 if wide else 32) // BITS[kind]
            number_of = numpy.arange(mode, tests, MODES, dtype=numpy.uint32).reshape(-1, 1, 1)
            start = seed_of(one["name"]) + number_of * numpy.uint32(0x9E3779B1) + numpy.uint32(operand * 0x85EBCA77 & 0xFFFFFFFF)
            for i in range(per):
                place = (numpy.arange(count * 32, dtype=numpy.uint32).reshape(1, count, 32) * numpy.uint32(8) + numpy.uint32(i)) * numpy.uint32(0x27D4EB2F)
                h = mixed(place + start)
                if not raw:
                    value = number(kind, mode, h, operand == 2, of)
                elif wide:
                    value = h.astype(numpy.uint64) | mixed(h + numpy.uint32(1)).astype(numpy.uint64) << numpy.uint64(32)
                elif kind == "s32" and mode % 2 == 1:  # next to the largest, the least
                    value = ((h & numpy.uint32(0x800000FF)) + numpy.uint32(0x7FFFFF00)).astype(numpy.uint64)
                else:
                    value = h.astype(numpy.uint64)
                total[mode::MODES] |= value << numpy.uint64(i * BITS[kind] if per > 1 else 0)
        arrays.append(total if wide else total.astype(numpy.uint32))
    place = numpy.arange(tests * 32, dtype=numpy.uint32).reshape(tests, 1, 32) * numpy.uint32(0x27D4EB2F)
    arrays.append(metadata(one, mixed(place + seed_of(one["name"]))))
    return arrays


def braces(letter, count, wide):
    return "{" + ", ".join(f"%{letter}{'w' if wide else ''}{i}" for i in range(count)) + "}"


def statement(one):
    wide = one["kinds"][0] == "f64"
    text = one["name"] + " " + ", ".join(braces(letter, n, wide) for letter, n in zip("dabc", one["counts"]))
    return text + (f", %e0, {one['selector']};" if one["sparse"] else ";")


def kernel(number, one):
    wide = one["kinds"][0] == "f64"
    kind, size, w = ("b64", 8, "w") if wide else ("b32", 4, "")
    text = f".visible .entry k{number}(.param .u64 pd, .param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pe) {{\n"
    text += ".reg .b32 %t, %c, %e0; .reg .b64 %p, %o; .reg .b32 %d<8>, %a<8>, %b<8>, %c<8>; .reg .b64 %dw<8>, %aw<8>, %bw<8>, %cw<8>;\n"
    text += "mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x;\n"
    for letter, count in list(zip("abc", one["counts"][1:])) + [("e", 1)]:
        bytes = 4 if letter == "e" else size
        text += f"ld.param.u64 %p, [p{letter}]; mad.wide.u32 %p, %t, {bytes}, %p; mad.wide.u32 %p, %c, {count * 32 * bytes}, %p;\n"
        for i in range(count):
            name = "%e0" if letter == "e" else f"%{letter}{w}{i}"
            text += f"ld.global.{'b32' if letter == 'e' else kind} {name}, [%p+{i * 32 * bytes}];\n"
    text += statement(one) + "\n"
    text += f"ld.param.u64 %p, [pd]; mad.wide.u32 %p, %t, {size}, %p; mad.wide.u32 %p, %c, {one['counts'][0] * 32 * size}, %p;\n"
    for i in range(one["counts"][0]):
        text += f"st.global.{kind} [%p+{i * 32 * size}], %d{w}{i};\n"
    return text + "ret;\n}\n"


HEADER = ".version 9.0\n.target sm_90a\n.address_size 64\n"


def answers(number, one, tests):
    import cupy

    path = f"/tmp/matrix{number}.ptx"  # CuPy keeps modules by path
    with open(path, "w") as file:
        file.write(HEADER + kernel(number, one))
    inputs = [cupy.array(w) for w in words(one, tests)]
    out = cupy.zeros((tests, one["counts"][0], 32), cupy.uint64 if one["kinds"][0] == "f64" else cupy.uint32)
    cupy.RawModule(path=path).get_function(f"k{number}")((tests,), (32,), (out, *inputs))
    return out.get()


def hashes(result):
    """By mode."""
    if result.dtype == numpy.uint64:
        nan = (result & numpy.uint64(0x7FFFFFFFFFFFFFFF)) > numpy.uint64(0x7FF0000000000000)
        result = numpy.where(nan, numpy.uint64(0x7FF8000000000000), result)
    found = []
    for mode in range(MODES):
        h = 0xCBF29CE484222325
        for byte in result[mode::MODES].tobytes():
            h = ((h ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
        found.append(f"{h:016x}")
    return found


def main():
    if sys.argv[1:2] == ["--print"]:
        with open(sys.argv[2], "w") as file:
            file.write(HEADER + "".join(kernel(i, one) for i, one in enumerate(forms())))
        return
    all = [answers(i, one, TESTS) for i, one in enumerate(forms())]
    if sys.argv[1:2] == ["--many"]:
        for part in range(3):
            numpy.savez_compressed(f"{sys.argv[2]}{part}.npz", **{str(i): all[i] for i in range(part, len(all), 3)})
        return
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "../matrix.jsonl"), "w") as file:
        for one, result in zip(forms(), all):
            file.write(json.dumps({"statement": statement(one), "kinds": one["kinds"], "counts": one["counts"], "hashes": hashes(result)}) + "\n")


if __name__ == "__main__":
    main()
