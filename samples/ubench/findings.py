#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sweeps the kernels of uBench over the block shapes and L1 configurations of the paper, and writes the results into the
README in the same folder.

    samples/ubench/findings.py sweep FOLDER 192                    all kernels on a matrix of 192 x 192
    samples/ubench/findings.py sweep FOLDER 6144 64 ubench_10      only this kernel, and only blocks of 64 or more threads
    samples/ubench/findings.py sweep FOLDER 6144 64,192 ubench_5   only this kernel, and only blocks of 64 and 192 threads
    samples/ubench/findings.py page FOLDER                         writes the tables from the results of the sweeps

The program is build/bin/warplens, or the environment variable WARPLENS.
"""
import json
import math
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SIDES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
WIDTHS = (96, 192, 6144, 18432)
# In the order of their launches in sweep.toml.
KERNELS = ("ubench_1", "ubench_3", "ubench_6", "ubench_9", "ubench_5", "ubench_7", "ubench_10", "ubench_11")


def shapes(width, sizes):
    """Block shapes with at least that many threads; if several sizes are given, with exactly these sizes."""
    of = [int(size) for size in sizes.split(",")]
    chosen = lambda threads: threads in of if len(of) > 1 else of[0] <= threads <= 1024
    return [(x, y) for x in SIDES for y in SIDES if chosen(x * y) and width % x == 0 and width % y == 0]


def sweep(folder, width, sizes, kernels):
    warplens = os.environ.get("WARPLENS", str(HERE.parents[1] / "build/bin/warplens"))
    for kernel in kernels:
        index = KERNELS.index(kernel)
        values = {"buffer.matrix.count": width * width}
        if kernel in ("ubench_5", "ubench_7"):
            values |= {f"launch.{index}.arg.2.s32": width, "buffer.input.count": width * width}
        else:
            values |= {f"launch.{index}.arg.1.s32": width}
        subprocess.run([warplens, "sweep", str(HERE / "sweep.toml"), "--index", str(index), "--total", f"{width}x{width}",
                        *(f"--set={key}={value}" for key, value in values.items()),
                        "--block", ",".join(f"{x}x{y}" for x, y in shapes(width, sizes)), "--l1", "off,on,enlarged",
                        "--json", str(folder / f"{kernel}_{width}.json")], check=True, stdout=subprocess.DEVNULL)


class Times:
    """Predicted milliseconds of a kernel on a matrix, by block shape and L1 configuration."""

    def __init__(self, rows):
        self.by = {}
        for row in rows:
            x, y = (int(n) for n in row["settings"]["block"].split("x"))
            self.by.setdefault(row["settings"]["l1"], {})[x, y] = row["metrics"]["milliseconds"]

    def optimum(self, l1="on"):
        return min(self.by[l1].values())

    def of_size(self, threads, l1="on"):
        return [t for (x, y), t in self.by[l1].items() if x * y == threads]

    def loss(self, threads):
        """Time of the best shape of that size relative to the optimum, minus 1."""
        return min(self.of_size(threads)) / self.optimum() - 1

    def spread(self):
        """The largest ratio of the slowest to the fastest shape of the same size."""
        sizes = {x * y for x, y in self.by["on"]}
        return max(max(self.of_size(n)) / min(self.of_size(n)) for n in sizes)

    def ratio(self, l1, chosen):
        """Geometric mean of the ratio of the times with `l1` to the times with L1 on, over the chosen shapes."""
        ratios = [self.by[l1][s] / t for s, t in self.by["on"].items() if chosen(s)]
        return math.exp(sum(map(math.log, ratios)) / len(ratios))


def tables(folder):
    lines = ["| kernel | matrix | shapes | loss of 192 threads | slowest shape of a size / fastest | off / on, 32 threads wide | "
             "off / on, one wide | enlarged / on |", "| --- | --- | --- | --- | --- | --- | --- | --- |"]
    for kernel in sorted(KERNELS, key=lambda k: int(k.split("_")[1])):
        for width in WIDTHS:
            file = folder / f"{kernel}_{width}.json"
            if not file.exists():
                continue
            t = Times(json.loads(file.read_text())["sweep"])
            lines.append(f"| `{kernel}` | {width} | {len(t.by['on'])} | {100 * t.loss(192):.1f} % | {t.spread():.2f} | "
                         f"{t.ratio('off', lambda s: s[0] % 32 == 0):.2f} | {t.ratio('off', lambda s: s[0] == 1):.2f} | "
                         f"{t.ratio('enlarged', lambda s: True):.2f} |")
    return lines


def page(folder):
    readme = HERE / "README.md"
    begin, end = "<!-- findings: written by findings.py -->\n", "<!-- end of findings -->"
    before, rest = readme.read_text().split(begin)
    readme.write_text(before + begin + "\n".join(tables(folder)) + "\n" + rest[rest.index(end):])


def main():
    command, folder, *arguments = sys.argv[1:]
    folder = Path(folder)
    if command == "page":
        return page(folder)
    folder.mkdir(exist_ok=True)
    width, sizes, *kernels = arguments if len(arguments) > 1 else (*arguments, "1")
    sweep(folder, int(width), sizes, kernels or KERNELS)


if __name__ == "__main__":
    main()
