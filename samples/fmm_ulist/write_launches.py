#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the launch files of this folder and the expected potentials, computed here in double precision.

    samples/fmm_ulist/write_launches.py

launch.toml: one kernel at the paper's size (select others with --set). suite_N.toml: all kernels at the paper's size,
N threads per block. small.toml: all kernels on eight boxes; each result is checked.
"""
import math
import re
import struct
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parent))
from expectations import write_npy

ARRAYS = "tx ty tz td sx sy sz sd s tbptr tbn sbptr sbn uptr ulist".split()


def single(x):
    """x as a 32-bit floating-point number."""
    return struct.unpack("f", struct.pack("f", x))[0]


def hash32(a, b):
    """The same function as in ulist.cu."""
    mask = 0xFFFFFFFF
    h = (a * 0x9E3779B1 & mask) ^ ((b + 0x7F4A7C15 & mask) * 0x85EBCA6B & mask)
    h = (h ^ h >> 16) * 0x85EBCA6B & mask
    h = (h ^ h >> 13) * 0xC2B2AE35 & mask
    return h ^ h >> 16


class Octree:
    """The boxes of build_boxes and the points of fill_points."""

    def __init__(self, depth, fewest, most, seed):
        self.depth, self.fewest, self.most, self.seed = depth, fewest, most, seed
        self.side = 1 << depth
        self.inner = sum(8**level for level in range(depth))
        self.boxes = self.inner + 8**depth
        self.neighbours = (3 * self.side - 2) ** 3
        self.points = 8**depth * most + 1  # `pref` loads one point past the last

    def potentials(self):
        targets, sources = ([self.leaf(box, kind) for box in range(self.inner, self.boxes)] for kind in (0, 1))
        result = []
        for at, points in enumerate(targets):
            near = [p for n in self.touching(at) for p in sources[n]]
            for x, y, z in points:
                result.append(sum(d / math.dist((x, y, z), (sx, sy, sz)) for sx, sy, sz, d in near) / (4 * math.pi))
        return result + [0] * (self.points - len(result))

    def count(self, box, kind):
        return self.fewest + hash32(self.seed, 2 * box + kind) % (self.most - self.fewest + 1)

    def leaf(self, box, kind):
        """The targets (kind 0: x, y, z) or sources (kind 1: x, y, z, density) of a box."""
        first = sum(self.count(b, kind) for b in range(self.inner, box))
        corner = self.place(box - self.inner)
        point = lambda i: tuple(
            single(single(corner[axis] + single((hash32(self.seed + 1 + 3 * kind + axis, i) >> 8) / 2**24)) / self.side)
            for axis in range(3))
        density = lambda i: ((hash32(self.seed + 7, i) >> 8) / 2**24,) if kind else ()
        return [point(i) + density(i) for i in range(first, first + self.count(box, kind))]

    def place(self, at):
        return at % self.side, at // self.side % self.side, at // self.side**2

    def touching(self, at):
        x, y, z = self.place(at)
        near = lambda c: range(max(c - 1, 0), min(c + 1, self.side - 1) + 1)
        return [(k * self.side + j) * self.side + i for k in near(z) for j in near(y) for i in near(x)]


def buffers(names):
    return ", ".join('{ buffer = "%s" }' % name for name in names)


def launch(kernel, grid, block, arguments, more=""):
    return f'''
[[launch]]
kernel = "{kernel}"
grid = [{grid}, 1, 1]
block = [{block}, 1, 1]
{more}arg = [{arguments}]
'''


def launch_file(title, tree, kernels, block, expected=None):
    """`kernels`: the kernel for each buffer that receives potentials."""
    text = f'# {title}\nmodule = "ulist.ptx"\ndevice = "c1060"\n'
    numbers = lambda *values: ", ".join("{ s32 = %d }" % v for v in values) + ", "
    made = ARRAYS[:3] + [next(iter(kernels))] + ARRAYS[4:]
    text += launch("build_boxes", 1, 1, numbers(tree.depth, tree.fewest, tree.most, tree.seed) + buffers(ARRAYS[9:]))
    text += launch("fill_points", tree.boxes, 64, numbers(tree.depth, tree.seed) + buffers(made[:13]))
    for result, kernel in kernels.items():
        text += launch(kernel, tree.boxes, block, buffers([result if a == "td" else a for a in ARRAYS]),
                       shared_memory(kernel, block))
    count = dict.fromkeys(ARRAYS, tree.points) | {"s": 4 * tree.points, "uptr": tree.boxes + 1, "ulist": tree.neighbours}
    count |= dict.fromkeys(ARRAYS[9:13], tree.boxes)
    for name in [a for a in ARRAYS if a != "td"] + list(kernels):
        kind = "s32" if name in ARRAYS[9:] else "f32"
        text += f'\n[buffer.{name}]\ntype = "{kind}"\ncount = {count.get(name, tree.points)}\nzeros = true\n'
        if name in kernels and expected:
            text += f'expect = "{expected}"\ntolerance = 1e-3\n'
    return text


def suite(tree, kernels, block):
    """All kernels on the same points; each overwrites the potentials of the one before."""
    text = launch_file(f"All kernels on the data of the thesis, {block} threads per block.", tree, {"td": kernels[0]}, block)
    kernel_at = text.index(f'\n[[launch]]\nkernel = "{kernels[0]}"')
    buffers_at = text.index("\n[buffer.")
    start = f'grid = [{tree.boxes}, 1, 1]\nblock = [{block}, 1, 1]\narg = [{buffers(ARRAYS)}]\n'
    text = text[:kernel_at].replace('device = "c1060"\n', 'device = "c1060"\n' + start) + "".join(
        f'\n[[launch]]\nkernel = "{k}"\n' + shared_memory(k, block) for k in kernels) + text[buffers_at:]
    return text


def shared_memory(kernel, block):
    return f"shared = {16 * block}\n" if "shmem" in kernel else ""


def kernels_of(ptx):
    names = re.findall(r"\.entry (\w+)", ptx)
    return [n for n in names if n.startswith("cuda")]


def main():
    paper = Octree(depth=3, fewest=160, most=230, seed=585)
    (FOLDER / "launch.toml").write_text(launch_file(
        "The data of the thesis: 585 boxes, up to 230 points each; 64 threads per block.", paper, {"td": "cuda"}, 64))
    small = Octree(depth=1, fewest=0, most=150, seed=9)
    write_npy(FOLDER / "small.npy", "f4", small.potentials())
    kernels = kernels_of((FOLDER / "ulist.ptx").read_text())
    for block in (64, 128, 192, 256):
        (FOLDER / f"suite_{block}.toml").write_text(suite(paper, kernels, block))
    (FOLDER / "small.toml").write_text(launch_file(
        "All kernels on eight boxes of up to 150 points, 64 threads per block; each result is checked.", small,
        {"td_" + k: k for k in kernels}, 64, "small.npy"))


if __name__ == "__main__":
    main()
