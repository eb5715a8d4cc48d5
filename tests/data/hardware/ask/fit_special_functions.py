"""Derives the tables of a GPU's special-function unit from its answers: writes special_tables.hpp to the standard output.

    python3 fit_special_functions.py FOLDER_OF_ANSWERS >emulator/isa/semantics/special_tables.hpp

The folder holds what special_functions.py brought. Needs NumPy. The unit splits the interval of a function into
segments; within one, with x the 17 bits of the argument that follow the segment's number, its result is

    floor((start * 2^a + slope * x + curve * square(x) + bias) / 2^k)

in integers, where square() drops the lower partial products. For each segment every answer gives two inequalities for
start, slope and curve. Least squares brings the last two to the nearest integer or so; then the candidates around them
are tried. The bias of a function is what the segments' constant parts have in common.
"""
import sys

import numpy as np

from special_functions import answers_in, inputs_of

DIGITS = 1 << 23
X = np.arange(1 << 17, dtype=np.int64)


def square(x):
    """x^2 / 2^19 without the partial products of bits i and j where i + j < 18."""
    high, low = x >> 9, x & 511
    return (high * high >> 1) + sum((high >> k & 1) * (low >> 9 - k) for k in range(1, 8))


def value_and_step(bits):
    """Positive floats as numbers, and the distance to the next one."""
    bits = bits.astype(np.int64)
    return bits.astype(np.uint32).view(np.float32).astype(np.float64), 2.0 ** ((bits >> 23) - 150)


def integers_of(bits, k):
    """The integers from which truncation to a float times 2^k makes these floats: from, and up to but without."""
    value, step = value_and_step(bits)
    return np.ceil(value * 2.0 ** k), np.ceil((value + step) * 2.0 ** k)


def fit(x, low, high, signs):
    """All (slope, curve, least constant, greatest constant) with low <= constant + ... < high at all x."""
    terms = np.stack([np.ones(len(x)), signs[0] * x.astype(float), signs[1] * square(x).astype(float)], 1)
    middle = (low + high - 1) / 2
    some = slice(None, None, max(1, len(x) // 8192))

    def nearest(columns, values):
        return round(np.linalg.lstsq(terms[some, :columns], values[some], rcond=None)[0][-1])

    curve = nearest(3, middle)
    solutions = []
    for c in range(curve - 4, curve + 5):
        slope = nearest(2, middle - c * terms[:, 2])
        for s in range(slope - 2, slope + 3):
            rest = s * terms[:, 1] + c * terms[:, 2]
            least, greatest = (low - rest).max(), (high - 1 - rest).min()
            if least <= greatest:
                solutions.append((s, c, int(least), int(greatest)))
    return solutions


def table(name, segments, a, signs):
    """Fits all segments, each a tuple (x, low, high), and returns the bias and the rows (start, slope, curve)."""
    fits = [fit(*segment, signs) for segment in segments]
    assert all(len(f) == 1 for f in fits), f"{name}: {[len(f) for f in fits]} solutions"
    rows = [f[0] for f in fits]
    biases = set(range(1 << a))
    for _, _, least, greatest in rows:
        biases &= {constant % (1 << a) for constant in range(least, greatest + 1)}
    bias = min(biases)
    print(f"{name}: bias {sorted(biases)}", file=sys.stderr)
    return bias, [(greatest - bias >> a, slope, curve) for slope, curve, _, greatest in rows]


def significands(got, op, *firsts):
    """The answers for all significands of one or two binades, as 24-bit significands."""
    parts = [got[f"{op}@{first}+{DIGITS}*1"].astype(np.int64) for first in firsts]
    return np.concatenate([(p & DIGITS - 1) + DIGITS for p in parts])


def plain(digits, x_bits, k):
    """Segments of answers that are significands cut off after k further bits."""
    count = 1 << x_bits
    for i in range(0, len(digits), count):
        yield X[::1 << 17 - x_bits], digits[i:i + count] * 2.0 ** k, (digits[i:i + count] + 1) * 2.0 ** k


def reciprocal(got):
    digits = significands(got, "rcp", "3f800000")
    digits[0] = 2 * DIGITS  # 1/1: everything else is below 1
    return table("reciprocal", plain(digits, 16, 16), 14, (-1, 1))


def reciprocal_square_root(got):
    digits = significands(got, "rsqrt", "3f800000", "40000000")
    segments = list(plain(digits, 17, 16))
    segments[0] = [s[1:] for s in segments[0]]  # 1/sqrt(1) is exact, by a way of its own
    return table("reciprocal square root", segments, 14, (-1, 1))


def square_root(got):
    digits = significands(got, "sqrt", "3f800000", "40000000")
    return table("square root", plain(digits, 17, 17), 15, (1, -1))


def power_of_two(got):
    return table("power of two", plain(significands(got, "ex2", "3f800000"), 17, 16), 14, (1, 1))


def logarithm(got):
    """The fraction of lg2 in units of 2^-38, of which the last two bits are cut off."""
    above = integers_of(got[f"lg2@3f800000+{DIGITS}*1"], 36)
    below = integers_of(got[f"lg2@3f000000+{DIGITS}*1"] & 0x7FFFFFFF, 36)  # of -(result + 1)
    one = 2.0 ** 36
    low = np.maximum(above[0], one - below[1])
    high = np.minimum(above[1], one - below[0])
    segments = [(X, 4 * low[i:i + len(X)], 4 * high[i:i + len(X)]) for i in range(0, DIGITS, len(X))]
    segments[0] = [s[1:] for s in segments[0]]  # lg2(1) is exact
    return table("logarithm", segments, 12, (1, -1))


def sine(got):
    """sin of a quarter turn times f / 2^23. Arguments of sin and cos are first multiplied by 1/2pi, and cut off."""
    known = np.zeros(DIGITS, np.int64)
    for name, bits in got.items():
        op, where = name.split("@")
        if op not in ("sin", "cos") or not where.endswith(f"+{DIGITS}*1"):
            continue
        x = inputs_of(name)[0].view(np.float32).astype(np.float64)
        turns = x * float(np.float32(0.15915494))
        turns = (turns.view(np.int64) & ~0x1FFFFFFF).view(np.float64)
        fixed = (turns * 2.0 ** 25).astype(np.int64) + (DIGITS if op == "cos" else 0)
        f = np.where(fixed & DIGITS, ~fixed, fixed) & DIGITS - 1
        known[f] = bits.astype(np.int64) & 0x7FFFFFFF
    segments = []
    for i in range(0, DIGITS, len(X)):
        part = known[i:i + len(X)]
        x = X[part != 0]
        segments.append((x, *integers_of(part[x], 37)))
    return table("sine", segments, 11, (1, -1))


# For the exponents from 2^-8 to 2^2: how many segments the binade has, and the scale of what tanh interpolates.
TANH = [(1, 40), (1, 39), (1, 38), (2, 38), (2, 37), (4, 37), (4, 37), (4, 36), (8, 37), (16, 39), (8, 37)]


def hyperbolic_tangent(got):
    names = [n for n in got if n.startswith("tanh@")]
    x = np.concatenate([inputs_of(n)[0] for n in names]).astype(np.int64) & 0x7FFFFFFF
    bits = np.concatenate([got[n] for n in names]).astype(np.int64) & 0x7FFFFFFF
    segments = []
    for i, (count, k) in enumerate(TANH):
        width = DIGITS // count
        for first in range((119 + i) * DIGITS, (120 + i) * DIGITS, width):
            here = (x >= first) & (x < first + width)
            segments.append(((x[here] - first) * len(X) // width, *integers_of(bits[here], k)))
    return table("hyperbolic tangent", segments, 14, (1, -1))


HEADER = """\
// The tables of the special-function unit: made by tests/data/hardware/ask/fit_special_functions.py from the answers of
// an H200. How they are used: special_unit.hpp.
#pragma once

#include <cstdint>

namespace warplens::isa::WARPLENS_LEVEL {

// One row per segment of the interval: where the function starts in it, and its slope (the lower 17 bits) and curve.
// Both words count in units that go with the function; the bias is added before the result is cut off.
template <int count> struct SpecialTable {
  std::int32_t bias;
  alignas(64) std::uint32_t start[count];
  alignas(64) std::uint32_t shape[count];
};
// clang-format off

"""


def printed(name, what, bias, rows):
    count = 1 << (len(rows) - 1).bit_length()
    assert all(0 <= start < 1 << 31 and slope < 1 << 17 and curve < 1 << 15 for start, slope, curve in rows)
    rows += [(0, 0, 0)] * (count - len(rows))

    def lines(values):
        texts = [f"{v:#010x}" for v in values]
        return ",\n     ".join(", ".join(texts[i:i + 8]) for i in range(0, count, 8))

    print(f"// {what}\ninline constexpr SpecialTable<{count}> {name} = {{\n    {bias:#x},")
    print(f"    {{{lines([start for start, _, _ in rows])}}},")
    print(f"    {{{lines([slope | curve << 17 for _, slope, curve in rows])}}}}};\n")


def main():
    got = answers_in(sys.argv[1])
    print(HEADER, end="")
    printed("kReciprocal", "1/x in [1, 2).", *reciprocal(got))
    printed("kReciprocalRoot", "1/sqrt(x) in [1, 2) and [2, 4).", *reciprocal_square_root(got))
    printed("kRoot", "sqrt(x) in [1, 2) and [2, 4).", *square_root(got))
    printed("kPower", "2^x in [0, 1).", *power_of_two(got))
    printed("kLogarithm", "lg2(x) in [1, 2).", *logarithm(got))
    printed("kSine", "sin(x) in the first quarter of a turn.", *sine(got))
    printed("kTangent", "tanh(x) in [2^-8, 8): 1, 1, 1, 2, 2, 4, 4, 4, 8, 16, 8 segments for the powers of two.",
            *hyperbolic_tangent(got))
    print("} // namespace warplens::isa::WARPLENS_LEVEL")


if __name__ == "__main__":
    main()
