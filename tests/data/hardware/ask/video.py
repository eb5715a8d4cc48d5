"""Asks a GPU what video instructions do with every kind of selector, merge and second operation: writes ../video.jsonl.

Needs CuPy. The first line of the file holds the inputs A, B and C; every other line a form: the instruction, its
operands, and what 12 threads got, all in hexadecimal. In form i (counted from 0) thread t has %r1 = A[t],
%r2 = B[t + i % 48] and %r3 = C[t + 5 * i % 48].
"""
import json
import os
import random
import tempfile

THREADS, TURN = 12, 48
TYPES = ("u32", "s32")
PARTS = ("", "", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1")
MERGES = (".b0", ".b1", ".b2", ".b3", ".h0", ".h1")
ORDERS = ("eq", "ne", "lt", "le", "gt", "ge")


def finishes(rng, sats=("", ".sat")):
    """(type of d, .sat, second operation, selector of d): without .sat, min or max the type of d does not matter."""
    for sat in sats:
        for second in ("", ".add", ".min", ".max") + MERGES:
            selector = second if second in MERGES else ""
            second = "" if selector else second
            matters = sat or second in (".min", ".max")
            for d in TYPES if matters else (rng.choice(TYPES),):
                yield d, sat, second, selector


def scalar(rng):
    def operands(selector, second):
        c = ", %r3" if selector or second else ""
        return f"%r0{selector}, %r1{rng.choice(PARTS)}, %r2{rng.choice(PARTS)}{c}"

    for op in ("vadd", "vsub", "vabsdiff", "vmin", "vmax"):
        for a in TYPES:
            for b in TYPES:
                for d, sat, second, selector in finishes(rng):
                    yield f"{op}.{d}.{a}.{b}{sat}{second}", operands(selector, second)
    for op in ("vshl", "vshr"):
        for a in TYPES:
            for mode in ("clamp", "wrap"):
                for d, sat, second, selector in finishes(rng):
                    yield f"{op}.{d}.{a}.u32{sat}.{mode}{second}", operands(selector, second)
    for order in ORDERS:
        for second in ("", ".add", ".min", ".max") + MERGES:
            selector = second if second in MERGES else ""
            for a in TYPES:
                b = rng.choice(TYPES)
                yield f"vset.{a}.{b}.{order}{'' if selector else second}", operands(selector, second)
    # Words throughout: nothing is small enough to hide an overflow.
    for op in ("vadd", "vsub", "vabsdiff", "vmin", "vmax"):
        for d in TYPES:
            for a in TYPES:
                for b in TYPES:
                    for end in (".min", ".max", ".sat.min"):
                        yield f"{op}.{d}.{a}.{b}{end}", "%r0, %r1, %r2, %r3"
                    yield f"{op}.{d}.{a}.{b}.sat", "%r0, %r1, %r2"
                    yield f"{op}.{d}.{a}.{b}.sat", f"%r0{rng.choice(MERGES)}, %r1, %r2, %r3"
        yield f"{op}.u32.u32.s32", "%r0, %r1, %r2, %r3"  # c, but no use for it
        yield f"{op}.s32.u32.s32", "%r0, 5, %r2"
        yield f"{op}.s32.s32.s32.sat.add", "%r0, %r1.h1, -70000, 0x80000003"


def multiply_add(rng):
    for a in TYPES:
        for b in TYPES:
            for sat in ("", ".sat"):
                for scale in ("", ".shr7", ".shr15"):
                    op = f"vmad.{rng.choice(TYPES)}.{a}.{b}"
                    for signs in (("", "", ""), ("-", "", ""), ("", "-", ""), ("", "", "-"), ("-", "-", "-")):
                        for parts in (("", ""), (rng.choice(MERGES), rng.choice(MERGES))):
                            yield (f"{op}{sat}{scale}",
                                   f"%r0, {signs[0]}%r1{parts[0]}, {signs[1]}%r2{parts[1]}, {signs[2]}%r3")
                    yield f"{op}.po{sat}{scale}", f"%r0, %r1{rng.choice(PARTS)}, %r2{rng.choice(PARTS)}, %r3"


def simd(rng):
    def operands(n):
        digits = [str(i) for i in range(2 * n)]
        letter = "h" if n == 2 else "b"
        written = [i for i in range(n) if rng.random() < 0.6]
        d = "." + letter + "".join(map(str, reversed(written))) if written else ""
        a, b = ("." + letter + "".join(rng.choice(digits) for _ in range(n)) if rng.random() < 0.7 else ""
                for _ in range(2))
        return f"%r0{d}, %r1{a}, %r2{b}, %r3"

    for n in (2, 4):
        for a in TYPES:
            for b in TYPES:
                for op in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"):
                    for d, end in (("u32", ".sat"), ("s32", ".sat"), (rng.choice(TYPES), ""), (rng.choice(TYPES), ".add")):
                        yield f"{op}{n}.{d}.{a}.{b}{end}", operands(n)
                        yield f"{op}{n}.{d}.{a}.{b}{end}", "%r0, %r1, %r2, %r3"
                for order in ORDERS:
                    yield f"vset{n}.{a}.{b}.{order}", operands(n)
                    yield f"vset{n}.{a}.{b}.{order}.add", operands(n)


def forms():
    rng = random.Random(9)
    return list(dict.fromkeys([*scalar(rng), *multiply_add(rng), *simd(rng)]))


def inputs():
    rng = random.Random(11)
    corners = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x80808080, 0x7F7F7F7F,
               0x80007FFF, 0x7FFF8000, 0xFFFF0000, 0xFFFFFF80, 0xFFFF8000, 0x80000001, 0xFFFFFFFE]
    a = corners[6:14] + [rng.getrandbits(32) for _ in range(THREADS - 8)]
    b = corners + [rng.randrange(41) for _ in range(14)] + [rng.getrandbits(32) for _ in range(TURN + THREADS - 34)]
    c = corners + [rng.getrandbits(32) for _ in range(TURN + THREADS - 20)]
    rng.shuffle(b)
    rng.shuffle(c)
    return a, b, c


def kernel(all_forms, first):
    lines = [".version 8.3", ".target sm_90", ".address_size 64",
             ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)", "{",
             ".reg .b32 %r<8>; .reg .b64 %l<6>;",
             "ld.param.u64 %l1, [a]; ld.param.u64 %l2, [b]; ld.param.u64 %l3, [c]; ld.param.u64 %l4, [d];",
             "mov.u32 %r4, %tid.x; mul.wide.u32 %l5, %r4, 4;",
             "add.u64 %l1, %l1, %l5; add.u64 %l2, %l2, %l5; add.u64 %l3, %l3, %l5; add.u64 %l4, %l4, %l5;"]
    for i, (op, operands) in enumerate(all_forms, first):
        lines.append(f"ld.global.u32 %r1, [%l1]; ld.global.u32 %r2, [%l2+{4 * (i % TURN)}]; "
                     f"ld.global.u32 %r3, [%l3+{4 * (5 * i % TURN)}];")
        lines.append(f"{op} {operands};")
        lines.append(f"st.global.u32 [%l4+{4 * THREADS * (i - first)}], %r0;")
    return "\n".join(lines + ["ret;", "}"])


def main():
    import cupy
    import numpy
    here = os.environ.get("OUT", os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    todo = forms()
    words = inputs()
    buffers = [cupy.array(numpy.array(some, dtype=numpy.uint32)) for some in words]
    with open(os.path.join(here, "video.jsonl"), "w") as file:
        file.write(json.dumps({name: " ".join(f"{word:x}" for word in some) for name, some in zip("abc", words)}) + "\n")
        for start in range(0, len(todo), 200):
            some = todo[start:start + 200]
            path = os.path.join(tempfile.gettempdir(), f"video{start}.ptx")  # CuPy keeps modules by path
            open(path, "w").write(kernel(some, start))
            out = cupy.zeros(THREADS * len(some), dtype=cupy.uint32)
            cupy.RawModule(path=path).get_function("k")((1,), (THREADS,), (*buffers, out))
            for (op, operands), row in zip(some, out.get().reshape(-1, THREADS)):
                file.write(json.dumps({"op": op, "operands": operands, "result": " ".join(f"{int(x):x}" for x in row)}) + "\n")


if __name__ == "__main__":
    main()
