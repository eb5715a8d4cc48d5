#!/usr/bin/env python3
"""Writes a launch file with a kernel of uBench in all block shapes of the paper, for a matrix of any of its widths.

    samples/ubench/shapes.py 192 ubench_1 > samples/ubench/shapes.toml
    warplens run samples/ubench/shapes.toml --l1 off --json off.json      # also: on, enlarged
"""
import sys

SIDES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)


def main():
    width, kernel = int(sys.argv[1]), sys.argv[2]
    loads = kernel in ("ubench_5", "ubench_7")
    print(f'module = "ubench.ptx"\ndevice = "gtx480"\nkernel = "{kernel}"')
    print("arg = [%s{ buffer = \"matrix\" }, { s32 = %d }]" % ('{ buffer = "input" }, ' if loads else "", width))
    for columns in SIDES:
        for rows in SIDES:
            if columns * rows <= 1024 and width % columns == 0 and width % rows == 0:
                print(f"\n[[launch]]\ngrid = [{width // columns}, {width // rows}, 1]\nblock = [{columns}, {rows}, 1]")
    for name in ("input", "matrix") if loads else ("matrix",):
        print(f'\n[buffer.{name}]\ntype = "s32"\ncount = {width * width}\nzeros = true')


if __name__ == "__main__":
    main()
