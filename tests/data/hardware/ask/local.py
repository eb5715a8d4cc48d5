"""Asks a GPU what its first level of caches does with local memory: runs the kernels of local.ptx, writes local.jsonl beside it.

    python3 tests/data/hardware/ask/local.py tests/data/hardware/local.jsonl        needs CuPy and ncu

Each launch is profiled by ncu, which empties the caches before. The first line of the answer is the device; each further line a launch: `kernel`,
`grid` and `block` (one number each), `args` after the first, which is an array of 32-bit words, as wide as the kernel needs, and `counters`.
`beside_global` takes one more array. The profiler repeats a launch to count all; where a launch fills the multiprocessors several times, its
lookups were then counted with a first level that held what the time before had left, so there go by what the second level was asked for.
"""
import csv
import io
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
WORDS = 1 << 20  # of an array

METRICS = [f"l1tex__t_{what}_pipe_lsu_mem_{space}_op_{op}{end}.sum" for space in ("local", "global") for op in ("ld", "st")
           for what, end in (("requests", ""), ("sectors", ""), ("sectors", "_lookup_hit"), ("sectors", "_lookup_miss"))]
METRICS += ["lts__t_sectors_srcunit_tex_op_read.sum", "l1tex__m_l1tex2xbar_write_sectors_mem_lg_op_st.sum"]


def launches():
    """kernel, blocks, threads, arguments after the first."""
    for words in (8, 64, 512, 1024, 1280, 1536, 1664, 1792, 1920, 2048):
        yield "spill", 1, 32, [words, 2]
    for words in (64, 128, 192, 208, 224, 240, 256):
        yield "spill", 1, 256, [words, 2]
    for words in (16, 32, 48, 56, 64, 80):
        yield "spill", 1, 1024, [words, 2]
    for blocks, threads, words in ((132, 32, 64), (264, 1024, 16), (264, 1024, 48)):
        yield "spill", blocks, threads, [words, 2]
    for words in (8, 512, 1024, 2048):
        yield "rewrite", 1, 32, [words, 4]
    for blocks, threads, words in ((1, 32, 64), (264, 1024, 16), (528, 1024, 16), (1056, 1024, 16), (4224, 32, 16), (8448, 32, 16)):
        yield "reuse", blocks, threads, [words]
    for lines in (1, 256, 1024, 1536, 1792, 2048, 4096):
        yield "beside_global", 1, 32, [64, lines, None]
    for words, stride in ((64, 1), (64, 8), (512, 1), (512, 0)):
        yield "scattered", 1, 32, [words, stride]
    yield "widths", 1, 32, [256]
    for lines in (8, 256):
        yield "global_stores", 1, 32, [lines]


def run():
    import cupy

    module = cupy.RawModule(path=os.path.join(HERE, "../local.ptx"))
    for kernel, blocks, threads, args in launches():
        out, more = cupy.zeros(WORDS, cupy.uint32), cupy.zeros(WORDS, cupy.uint32)
        values = [more if a is None else cupy.uint32(a) for a in args]
        cupy.cuda.runtime.deviceSynchronize()
        cupy.cuda.runtime.profilerStart()
        module.get_function(kernel)((blocks,), (threads,), (out, *values))
        cupy.cuda.runtime.deviceSynchronize()
        cupy.cuda.runtime.profilerStop()


def device():
    import cupy

    return cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()


def main():
    if sys.argv[1] == "--run":
        return run()
    command = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", "--profile-from-start", "off", "--metrics",
               ",".join(METRICS), sys.executable, os.path.abspath(__file__), "--run"]
    out = subprocess.run(command, capture_output=True, text=True)
    table = list(csv.reader(io.StringIO("\n".join(line for line in out.stdout.splitlines() if line.startswith('"')))))
    if len(table) < 3:
        sys.exit(out.stdout[-3000:] + out.stderr[-3000:])
    rows = [dict(zip(table[0], row)) for row in table[2:]]
    asked = list(launches())
    assert [row["Kernel Name"].split("(")[0] for row in rows] == [kernel for kernel, *_ in asked]
    number = lambda text: int(float(text.replace(",", "")))
    with open(sys.argv[1], "w") as answers:
        answers.write(json.dumps({"device": device()}) + "\n")
        for (kernel, blocks, threads, args), row in zip(asked, rows):
            counters = {m: number(row[m]) for m in METRICS if row.get(m, "") not in ("", "n/a")}
            answers.write(json.dumps({"kernel": kernel, "grid": blocks, "block": threads, "args": args, "counters": counters}) + "\n")


if __name__ == "__main__":
    main()
