"""Asks a GPU of compute capability 9.0 what its profiler counts of loads and stores of matrices, asynchronous copies and products of warp groups.

    python3 tests/data/hardware/ask/counted_copies.py ./ask_counted_copies GROUP... >> tests/data/hardware/counted_copies.jsonl

needs ncu; ask/counted_copies.cpp says how to compile the program, and tests/hardware/counted_copies.cpp has the launches. A line per launch: its
`group` and `name`, and the `counters` that are not 0 (caches flushed before). Those of the first launch, `nothing`, come with every other.
"""
import csv
import io
import json
import re
import subprocess
import sys

COPIES = """l1tex__data_bank_reads.sum l1tex__data_bank_writes.sum l1tex__m_xbar2l1tex_read_sectors.sum l1tex__m_xbar2l1tex_read_bytes.sum
l1tex__m_l1tex2xbar_write_sectors.sum l1tex__m_l1tex2xbar_write_bytes.sum lts__t_sectors_srcunit_tex_op_read.sum
lts__t_sectors_srcunit_tex_op_write.sum lts__t_sectors_srcunit_tex_op_red.sum""".split()
METRICS = {
    "matrices": """l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum
l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum smsp__inst_executed_op_ldsm.sum""".split(),
    "cp.async": """smsp__inst_executed_op_ldgsts.sum l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum
lts__t_sectors_srcunit_tex_op_read.sum""".split(),
    "scattered": """l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum
l1tex__m_xbar2l1tex_read_sectors.sum lts__t_sectors_srcunit_tex_op_read.sum""".split(),
    "bulk": COPIES,
    "tensor": COPIES,
    "products": """l1tex__data_bank_reads.sum l1tex__data_pipe_lsu_wavefronts_mem_shared.sum sm__inst_executed_pipe_tensor_op_gmma.sum sm__pipe_tensor_cycles_active.sum
sm__ops_path_tensor_src_fp16.sum sm__ops_path_tensor_src_fp16_dst_fp16.sum sm__ops_path_tensor_src_fp16_dst_fp32.sum
sm__ops_path_tensor_src_bf16_dst_fp32.sum sm__ops_path_tensor_src_tf32_dst_fp32.sum sm__ops_path_tensor_src_fp8.sum sm__ops_path_tensor_src_int8.sum""".split(),
}


def launches(program):
    lines = subprocess.run([program, "--list"], check=True, capture_output=True, text=True).stdout.splitlines()
    return [re.fullmatch(r"(\S+) (\d+) (.*)", line).groups() for line in lines]


def known(metrics):
    """Those that ncu has on this chip."""
    answer = subprocess.run(["ncu", "--query-metrics", "--chips", "gh100"], check=True, capture_output=True, text=True).stdout
    names = set(line.split()[0] for line in answer.splitlines() if line.strip())
    return [m for m in metrics if m.rsplit(".", 1)[0] in names]


def profile(program, numbers, metrics):
    answer = subprocess.run(
        ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", "--metrics", ",".join(metrics), program] + numbers,
        check=True, capture_output=True, text=True)
    print(answer.stderr, file=sys.stderr)
    rows = list(csv.DictReader(io.StringIO(answer.stdout[answer.stdout.index('"ID"'):])))[1:]
    return [{m: float(row[m].replace(",", "")) for m in metrics if row.get(m)} for row in rows]


def main():
    program, groups = sys.argv[1], sys.argv[2:]
    for group in groups:
        asked = [(number, name) for of, number, name in launches(program) if of == group or name == "nothing"]
        counted = profile(program, [number for number, _ in asked], known(METRICS[group]))
        assert len(counted) == len(asked), (len(counted), len(asked))
        for (_, name), counters in zip(asked, counted):
            print(json.dumps({"group": group, "name": name, "counters": {m: int(v) for m, v in counters.items() if v}}), flush=True)


main()
