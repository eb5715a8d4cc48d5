#!/usr/bin/env python3
"""Writes the arrays that the samples' launch files expect, computed here without any GPU or emulator.

    samples/expectations.py        # rewrites the *.npy files of all samples
"""
import struct
from pathlib import Path

FOLDER = Path(__file__).parent


def write_npy(path, kind, values):
    """Writes a flat array in numpy's file format, version 1.0. `kind` is "f4", "i4" or "u4"."""
    header = "{'descr': '<%s', 'fortran_order': False, 'shape': (%d,), }" % (kind, len(values))
    header = header.ljust((10 + len(header) + 1 + 63) // 64 * 64 - 11) + "\n"  # data starts at a multiple of 64
    code = {"f4": "f", "i4": "i", "u4": "I"}[kind]
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack("<%d%s" % (len(values), code), *values))


def main():
    n = 20011  # every sum below is a whole number under 2^24, hence exact in 32-bit floating point
    write_npy(FOLDER / "vector_add/c.npy", "f4", [i + 2 * i for i in range(n)])
    write_npy(FOLDER / "saxpy/y.npy", "f4", [2 * i + 1 for i in range(n)])

    rows, columns = 128, 160
    matrix = list(range(rows * columns))
    write_npy(FOLDER / "transpose/transposed.npy", "i4",
              [matrix[row * columns + column] for column in range(columns) for row in range(rows)])

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


if __name__ == "__main__":
    main()
