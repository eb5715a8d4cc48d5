"""Asks a GPU for the times and counters of the launches of times_asked.jsonl; writes times.jsonl beside it.

    python3 tests/data/hardware/ask/times.py tests/data/hardware/times.jsonl        needs CuPy and ncu

A second argument asks from that launch on, counted from 0, and adds the answers to the file.

Each launch is profiled by ncu as it does by default: caches flushed before, clocks at their base. A line of the answer has the launch's module,
kernel and label, and `counters`.
"""
import csv
import io
import json
import os
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../..")
ASKED = os.path.join(ROOT, "tests/data/hardware/times_asked.jsonl")

METRICS = """gpu__time_duration.sum gpc__cycles_elapsed.max sm__cycles_active.avg smsp__inst_executed.sum smsp__issue_active.sum
smsp__thread_inst_executed.sum l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum l1tex__t_requests_pipe_lsu_mem_global_op_st.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum l1tex__data_pipe_lsu_wavefronts.sum l1tex__data_pipe_lsu_wavefronts_mem_shared.sum
lts__t_sectors_op_read.sum lts__t_sectors_op_write.sum lts__t_sectors_lookup_hit.sum lts__t_sectors_lookup_miss.sum
lts__t_sectors_srcunit_tex.sum lts__t_sectors_srcunit_tex_lookup_hit.sum dram__bytes_read.sum dram__bytes_write.sum
sm__warps_active.avg.pct_of_peak_sustained_active sm__maximum_warps_per_active_cycle_pct launch__registers_per_thread
launch__waves_per_multiprocessor sm__inst_executed_pipe_alu.sum sm__inst_executed_pipe_fma.sum sm__inst_executed_pipe_xu.sum
sm__inst_executed_pipe_lsu.sum sm__inst_executed_pipe_fp64.sum smsp__average_warp_latency_issue_stalled_long_scoreboard.ratio""".split()


def asked():
    with open(ASKED) as lines:
        return [json.loads(line) for line in lines]


def fill(cupy, b):
    kind = {"s": "i", "u": "u", "f": "f"}[b["type"][0]] + str(int(b["type"][1:]) // 8)
    if b.get("iota"):
        return cupy.arange(b["count"], dtype=cupy.uint64).astype(kind)
    if "mod" in b:
        return (cupy.arange(b["count"], dtype=cupy.uint64) % b["mod"]).astype(kind)
    if b.get("spread"):
        return (cupy.arange(b["count"], dtype=cupy.uint64) * 2654435761 % b["count"]).astype(kind)
    return cupy.full(b["count"], b.get("fill", 0), kind)


def run(only):
    """The launches with numbers in `only`, in order, between cudaProfilerStart and cudaProfilerStop."""
    import cupy

    modules = {}
    for number, one in enumerate(asked()):
        if number not in only:
            continue
        buffers = {name: fill(cupy, b) for name, b in one["buffers"].items()}
        module = modules.setdefault(one["module"], cupy.RawModule(path=os.path.join(ROOT, one["module"])))

        def start(what):
            value = lambda a: buffers[a["buffer"]] if "buffer" in a else cupy.int32(a["s32"]) if "s32" in a else cupy.float32(a["f32"])
            function = module.get_function(what["kernel"])
            if what["shared"] > 48 * 1024:
                function.max_dynamic_shared_size_bytes = what["shared"]
            function(tuple(what["grid"]), tuple(what["block"]), tuple(value(a) for a in what["args"]), shared_mem=what["shared"])

        for before in one["before"]:
            start(before)
        cupy.cuda.runtime.deviceSynchronize()
        cupy.cuda.runtime.profilerStart()
        start(one)
        cupy.cuda.runtime.deviceSynchronize()
        cupy.cuda.runtime.profilerStop()


def profile(numbers):
    command = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--profile-from-start", "off", "--metrics", ",".join(METRICS), sys.executable,
               os.path.abspath(__file__), "--run", ",".join(map(str, numbers))]
    out = subprocess.run(command, capture_output=True, text=True)
    lines = [line for line in out.stdout.splitlines() if line.startswith('"')]
    if not lines:
        sys.exit(out.stdout[-3000:] + out.stderr[-3000:])
    table = list(csv.reader(io.StringIO("\n".join(lines))))
    return [dict(zip(table[0], row)) for row in table[2:]]


def main():
    if sys.argv[1] == "--run":
        return run({int(n) for n in sys.argv[2].split(",")})
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    launches = asked()[first:]
    rows = profile(range(first, first + len(launches)))
    if len(rows) != len(launches):
        print(f"{len(rows)} answers to {len(launches)} launches", file=sys.stderr)
    with open(sys.argv[1], "a" if first else "w") as answers:
        for one, row in zip(launches, rows):
            assert one["kernel"] == row["Kernel Name"].split("(")[0] or one["kernel"].startswith("_Z"), (one["kernel"], row["Kernel Name"])
            number = lambda text: float(text.replace(",", ""))
            counters = {m: number(row[m]) for m in METRICS if row.get(m, "") not in ("", "n/a")}
            answers.write(json.dumps({k: one[k] for k in ("module", "kernel", "label")} | {"counters": counters}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
