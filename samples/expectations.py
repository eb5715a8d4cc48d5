#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the expected results of the samples' launch files, computed without a GPU or the emulator.

    samples/expectations.py        # rewrites the *.npy files of all samples
"""
import struct
from pathlib import Path

FOLDER = Path(__file__).parent


def write_npy(path, kind, values):
    """Writes a flat array in numpy's file format, version 1.0. `kind` is "f4", "i4", "u4", "u2", "u1" or "i8"."""
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }" % ("|u1" if kind == "u1" else "<" + kind, len(values))
    header = header.ljust((10 + len(header) + 1 + 63) // 64 * 64 - 11) + "\n"  # data starts at a multiple of 64
    code = {"f4": "f", "i4": "i", "u4": "I", "u1": "B", "u2": "H", "i8": "q"}[kind]
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack("<%d%s" % (len(values), code), *values))


def main():
    n = 20011  # every sum below is an integer less than 2^24, hence exact in 32-bit floating point
    write_npy(FOLDER / "vector_add/c.npy", "f4", [i + 2 * i for i in range(n)])
    write_npy(FOLDER / "saxpy/y.npy", "f4", [2 * i + 1 for i in range(n)])

    rows, columns = 128, 160
    matrix = list(range(rows * columns))
    write_npy(FOLDER / "transpose/transposed.npy", "i4",
              [matrix[row * columns + column] for column in range(columns) for row in range(rows)])

    width = 72
    write_npy(FOLDER / "transpose_16/transposed.npy", "f4", [row * width + column for column in range(width) for row in range(width)])

    width, height = 64, 48
    pixel = lambda x, y: 37 * (min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1)) % 256
    weight = (1, 2, 1)
    write_npy(FOLDER / "texture_blur/blurred.npy", "f4",
              [sum(weight[i + 1] * weight[j + 1] * pixel(x + i, y + j) for i in (-1, 0, 1) for j in (-1, 0, 1)) / 16 / 255
               for y in range(height) for x in range(width)])

    rows, columns = 21, 1024
    write_npy(FOLDER / "async_copy/sums.npy", "i4",
              [sum(row * columns + column for row in range(rows)) for column in range(columns)])

    count, bins = 20000, 1024
    histogram = [0] * bins
    for value in range(count):
        histogram[(value * 2654435761 % 2**32 >> 16) % bins] += 1
    write_npy(FOLDER / "cluster_histogram/histogram.npy", "u4", histogram)

    branching()
    copies()
    linear_algebra()
    chains()
    blocks()
    dependent_loads()


def noise(count, below):
    """Pseudo-random integers from 0 to below - 1."""
    return [(i * 2654435761 % 2**32 >> 12) % below for i in range(count)]


def signed(x):
    """x as C's int."""
    return (x + 2**31) % 2**32 - 2**31


def branching():
    folder, width, tile = FOLDER / "branching", 32, 16
    elements = noise(width * width, 10)
    write_npy(folder / "in.npy", "i4", elements)

    def at(row, column):
        return elements[row * width + column]

    def convolved(row, column):
        corner = row // tile * tile, column // tile * tile
        near = [at(corner[0] + (row + j) % tile, corner[1] + (column + i) % tile) for j in (-1, 0, 1) for i in (-1, 0, 1)]
        return sum(near) * (at(row, column) + 1)

    def chain(x, weight, rounds):
        for _ in range(rounds):
            x = signed(x * 3 + weight)
        return x

    places = [(row, column) for row in range(width) for column in range(width)]
    write_npy(folder / "data_bound.npy", "i4", [convolved(*p) for p in places])
    write_npy(folder / "compute_bound.npy", "i4", [chain(e, e + 1, 64) for e in elements])
    write_npy(folder / "unequal.npy", "i4", [chain(e, e + 1, 64 * (e + 1)) for e in elements])
    write_npy(folder / "per_thread.npy", "f4", [(9.0, 5.0)[i % 2] for i in range(1024)])
    write_npy(folder / "per_warp.npy", "f4", [(9.0, 5.0)[i // 32 % 2] for i in range(1024)])
    write_npy(folder / "sums.npy", "i4", [sum(elements[i:i + 256]) for i in range(0, len(elements), 256)])


def copies():
    """Copies of 48 x 48 matrices in tiles of 16 x 16, and of arrays of 5000 elements."""
    width, tile, n = 48, 16, 5000
    turned = [row // tile * tile * width + column % tile * width + column // tile * tile + row % tile
              for row in range(width) for column in range(width)]
    write_npy(FOLDER / "global_copy/turned.npy", "f4", turned)
    write_npy(FOLDER / "shared_copy/turned.npy", "f4", turned)
    for folder in ("global_copy", "shared_copy"):
        write_npy(FOLDER / folder / "same.npy", "f4", range(width * width))
    order = sorted(range(n), key=lambda i: (i * 2654435761 % 2**32, i))
    write_npy(FOLDER / "global_copy/order.npy", "i4", order)
    for bits, kind, wrap in ((8, "u1", 256), (16, "u2", 2**16), (32, "i4", 2**32), (64, "i8", 2**64)):
        name = lambda what: FOLDER / ("global_copy/%s_%d.npy" % (what, bits))
        write_npy(name("in"), kind, [i % wrap for i in range(n)])
        write_npy(name("offset"), kind, [i % wrap if i >= 5 else 0 for i in range(n)])
        write_npy(name("strided"), kind, [3 * i % wrap for i in range(n // 3)])
        write_npy(name("random"), kind, [i % wrap for i in order])
    write_npy(FOLDER / "global_copy/scattered_8.npy", "u1", [i if i < 256 else 0 for i in range(n)])
    for shift, name in ((1, "a"), (2, "b"), (3, "c")):
        write_npy(FOLDER / ("global_copy/%s.npy" % name), "i4", [i + shift for i in range(n)])
    write_npy(FOLDER / "global_copy/triples.npy", "i4", [i + i % 3 + 1 for i in range(3 * n)])
    text = [ord("a") + x for x in noise(n, 20)]
    write_npy(FOLDER / "caesar/text.npy", "u1", text)
    write_npy(FOLDER / "caesar/shifted.npy", "u1", [x + 3 for x in text])


def linear_algebra():
    folder, n = FOLDER / "linear_algebra", 200
    write_npy(folder / "product.npy", "f4", [float(sum((row * n + i) % 7 * (i % 5) for i in range(n))) for row in range(n)])
    write_npy(folder / "matrix.npy", "f4", [float(i % 7) for i in range(n * n)])
    write_npy(folder / "vector.npy", "f4", [float(i % 5) for i in range(n)])
    write_npy(folder / "vector_sum.npy", "f4", [2.0 * (i % 5) for i in range(n)])
    write_npy(folder / "matrix_sum.npy", "f4", [2.0 * (i % 7) for i in range(n * n)])
    write_npy(folder / "dot.npy", "f4", [float(sum(i % 5 * (i % 5) for i in range(b, min(b + 64, n)))) for b in range(0, n, 64)])


def chains():
    def chain(x, operations):
        for i in range(operations):
            x = signed(x * 3 + i)
        return x

    hundred = [chain(x, 100) for x in range(1024)]
    write_npy(FOLDER / "synchronisation/hundred.npy", "i4", hundred)
    write_npy(FOLDER / "partitioning/hundred.npy", "i4", hundred)
    prefixes = lambda tile: [sum(range(i // tile * tile, i)) for i in range(2048)]
    write_npy(FOLDER / "prefix_sum/prefixes_256.npy", "i4", prefixes(256))
    write_npy(FOLDER / "prefix_sum/prefixes_512.npy", "i4", prefixes(512))
    write_npy(FOLDER / "prefix_sum/sums_256.npy", "i4", [sum(range(i, i + 256)) for i in range(0, 2048, 256)])
    write_npy(FOLDER / "prefix_sum/sums_512.npy", "i4", [sum(range(i, i + 512)) for i in range(0, 2048, 512)])


def blocks():
    """uBench on a matrix of 96 x 96, blocks 16 wide and 12 high."""
    folder, width, block = FOLDER / "ubench", 96, (16, 12)
    value = lambda i: i % 11
    size = block[0] * block[1]
    write_npy(folder / "input.npy", "i4", [value(i) for i in range(width * width)])
    write_npy(folder / "ubench_5.npy", "i4", [7 + sum(value(j) for j in range(i // size * size, i // size * size + size))
                                              for i in range(width * width)])
    write_npy(folder / "ubench_1.npy", "i4", [7] * (width * width))
    row_start = lambda i: i - i % width % block[0]
    write_npy(folder / "ubench_7.npy", "i4", [sum(value(row_start(i) + j) for j in range(block[0]))
                                              for i in range(width * width)])
    write_npy(folder / "ubench_9.npy", "i4", [7 if i % width % block[0] == 0 and i // width % block[1] == 0 else 0
                                              for i in range(width * width)])
    loaded = 7
    for i in range(1000):
        loaded = signed(loaded * 5 + i)
    write_npy(folder / "ubench_10.npy", "i4", [loaded] * (width * width))


def dependent_loads():
    """The result of thread 0 of microbenchmark/variants.cu after 100 iterations; a tolerance of 0.01 is sufficient."""
    def turned(a, b, times):
        for _ in range(times):
            a += b * 0.0625
            b += a * -0.0625
        return a, b

    def result(scalar, step):
        a, b, index, index3 = 0.5, 0.25, 0, 0
        for _ in range(100):
            a, b = turned(a, b, 4)
            for _ in range(4):
                index += step
                if not scalar:
                    a, b, index3 = a + step, b + step, index3 + step
                a, b = turned(a, b, 4)
        return [a + b + index + index3]

    write_npy(FOLDER / "microbenchmark/scalar.npy", "f4", result(True, 32))
    write_npy(FOLDER / "microbenchmark/vector.npy", "f4", result(False, 2))


if __name__ == "__main__":
    main()
