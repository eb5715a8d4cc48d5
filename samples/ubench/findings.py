#!/usr/bin/env python3
"""Sweeps the kernels of uBench over the block shapes and L1 configurations of the paper, and writes what comes out into
the README beside it.

    samples/ubench/findings.py sweep FOLDER 192                    all kernels on a matrix of 192 x 192
    samples/ubench/findings.py sweep FOLDER 6144 64 ubench_10      only blocks of 64 threads or more, and this kernel
    samples/ubench/findings.py sweep FOLDER 6144 64,192 ubench_5   only blocks of 64 and of 192 threads
    samples/ubench/findings.py page FOLDER                         the tables, from what was swept

The program is build/bin/warplens, or WARPLENS of the environment.
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
# In the order of sweep.toml.
KERNELS = ("ubench_1", "ubench_3", "ubench_6", "ubench_9", "ubench_5", "ubench_7", "ubench_10", "ubench_11")


def shapes(width, sizes):
    """Those of at least so many threads, or where several sizes are given, of these."""
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
    """Predicted milliseconds of a kernel on a matrix: by shape and L1 configuration."""

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
        """Of the best shape of that size, over the optimum."""
        return min(self.of_size(threads)) / self.optimum() - 1

    def spread(self):
        """The slowest shape over the fastest of the same size: its largest value."""
        sizes = {x * y for x, y in self.by["on"]}
        return max(max(self.of_size(n)) / min(self.of_size(n)) for n in sizes)

    def ratio(self, l1, chosen):
        """Geometric mean of the times with `l1` over those with the first level on, of the shapes chosen."""
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
