#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the launches whose times the papers print, and writes measured_times.jsonl beside this file.

    tests/data/papers/count_measured_times.py build/bin/warplens

measured_times.csv has the times. The kernels are those of samples/, at the sizes of the papers. A paper's grid that is
too large to be emulated in seconds is emulated in part: counts are per warp, and all blocks of these kernels do the same
work, so only the number of blocks and the bytes of the arguments are set to those of the paper.
"""
import csv
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = os.path.join(HERE, "..", "..", "..", "samples")


def run(program, text, device):
    """The launches of a launch file, with their statistics."""
    with tempfile.TemporaryDirectory() as folder:
        launch, report = os.path.join(folder, "launch.toml"), os.path.join(folder, "report.json")
        with open(launch, "w") as out:
            out.write(text)
        subprocess.run([program, "run", launch, "--device", device, "--json", report], check=True,
                       stdout=subprocess.DEVNULL)
        with open(report) as text:
            return json.load(text)["launches"]


def launches_of(sample, file, kernels):
    """A sample's launch file with only these kernels, and those that make its data."""
    with open(os.path.join(SAMPLES, sample, file)) as text:
        head, *parts = text.read().split("[[launch]]\n")
    last, buffers = parts[-1].split("\n[buffer.", 1)
    parts[-1] = last + "\n"
    wanted = [p for p in parts if p.split('"')[1 if not p.startswith("module") else 3] in kernels]
    text = head + "".join("[[launch]]\n" + p for p in wanted) + "\n[buffer." + buffers
    for key in ("module", "expect"):
        text = text.replace(f'{key} = "', f'{key} = "{os.path.join(SAMPLES, sample)}/')
    return text


def one(sample, kernel, grid, block, arguments, buffers):
    """A launch file of one launch; buffers are name: (type, count)."""
    text = f'module = "{os.path.join(SAMPLES, sample, sample)}.ptx"\nkernel = "{kernel}"\n'
    text += f"grid = {list(grid)}\nblock = {list(block)}\n"
    text += "arg = [" + ", ".join("{ " + (f's32 = {a}' if isinstance(a, int) else f'buffer = "{a}"') + " }"
                                  for a in arguments) + "]\n"
    for name, (kind, count) in buffers.items():
        text += f'[buffer.{name}]\ntype = "{kind}"\ncount = {count}\niota = [0, 1]\n'
    return text


FMM = ("build_boxes", "fill_points", "cuda", "cuda_tight", "cuda_rsqrt", "cuda_pref", "cuda_ujam", "cuda_vecpack",
       "cuda_shmem", "cuda_vecpack_shmem")
MICRO = ("scalar_config0", "scalar_32b", "scalar_64b", "scalar_128b", "scalar_32b_merging", "scalar_64b_merging",
         "vector_own", "vector_overlapping", "vector_same")
PART = 1024  # blocks that are emulated of a large grid


def prefix(kernel, n):
    each = 512 if kernel in ("prefix_two_elements", "prefix_padded") else 256
    blocks = min(PART, n // each)
    text = one("prefix_sum", kernel, (blocks,), (256,), ("in", "out", "sums", blocks * each),
               {"in": ("s32", blocks * each), "out": ("s32", blocks * each), "sums": ("s32", blocks)})
    return text, n // each, 4 * (2 * n + n // each)


def structures(kernel, n):
    blocks = PART
    m = blocks * 256
    if kernel == "array_of_structures":
        arguments, buffers = ("in", "out", m), {"in": ("s32", 3 * m), "out": ("s32", 3 * m)}
    else:
        names = ("a", "b", "c", "a_out", "b_out", "c_out")
        arguments, buffers = (*names, m), {name: ("s32", m) for name in names}
    return one("global_copy", kernel, (blocks,), (256,), arguments, buffers), n // 256, 24 * n


def transpose(kernel, n):
    grid, block = {"transpose_1d": ((n * n // 256,), (256,)), "transpose_2d": ((n // 8, n // 32), (8, 32))}.get(
        kernel, ((n // 32, n // 32), (32, 8)))
    return one("transpose", kernel, grid, block, ("in", "out", n, n),
               {"in": ("s32", n * n), "out": ("s32", n * n)}), None, None


def linear(kernel, n):
    if kernel == "matrix_vector":  # the first rows
        rows = 4 * 64
        text = one("linear_algebra", kernel, (4,), (64,), ("m", "v", "out", n),
                   {"m": ("f32", rows * n), "v": ("f32", n), "out": ("f32", n)})
        return text, n // 64, 4 * (n * n + 2 * n)
    if kernel == "matrix_sum":
        side = 512
        text = one("linear_algebra", kernel, (side // 16, side // 16), (16, 16), ("m", "n", "out", side),
                   {name: ("f32", side * side) for name in ("m", "n", "out")})
        return text, (-(-n // 16)) ** 2, 12 * n * n
    m = PART * 64
    text = one("linear_algebra", kernel, (PART,), (64,), ("v", "w", "out", m),
               {name: ("f32", m) for name in ("v", "w", "out")})
    return text, -(-n // 64), 12 * n if kernel == "vector_sum" else 8 * n + 4 * (-(-n // 64))


SIZED = {"prefix_sum": prefix, "global_copy": structures, "transpose": transpose, "linear_algebra": linear}


def main():
    program = os.path.abspath(sys.argv[1])
    with open(os.path.join(HERE, "measured_times.csv")) as text:
        rows = list(csv.DictReader(line for line in text if not line.startswith("#")))
    counted, lines = {}, []
    for row in rows:
        sample, kernel, size, device = row["sample"], row["kernel"], row["size"], row["device"]
        key = (sample, kernel, size, device)
        if sample in SIZED:
            text, blocks, data = SIZED[sample](kernel, int(size))
            launch, = run(program, text, device)
            if blocks:
                launch["statistics"] |= {"blocks": blocks, "argument_bytes": data}
            counted[key] = launch["statistics"]
        elif key not in counted:
            file, kernels = ("launch.toml", MICRO) if sample == "microbenchmark" else (f"suite_{size}.toml", FMM)
            for launch in run(program, launches_of(sample, file, kernels), device):
                counted[(sample, launch["kernel"], size, device)] = launch["statistics"]
        statistics = {k: float(f"{v:.6g}") for k, v in counted[key].items() if v is not None}
        lines.append(json.dumps({k: row[k] for k in ("paper", "table", "device", "sample", "kernel", "size")}
                                | {"milliseconds": float(row["milliseconds"]), "statistics": statistics}))
        print(row["table"], kernel, size, flush=True)
    with open(os.path.join(HERE, "measured_times.jsonl"), "w") as out:
        out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
