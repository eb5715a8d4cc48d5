"""Asks a GPU of compute capability 9.0 where wmma.load puts the elements of a matrix, and what matrix loads and stores cost in shared and global
memory: writes ../fragments.jsonl.

    python3 fragments.py              needs CuPy; and ncu for the costs
    python3 fragments.py --print FILE writes the PTX to FILE instead, for ptxas to check; that needs no GPU

A line per load of a fragment: `load`, its words; `registers`; and what each bit of the number of the `lane`, of the `register` and of the `place`
of an element in a register (from the low bits up) adds to its row and column. Then a line per access: `access`, the statement; `stride` in bytes from the
address of one lane to that of the next (of wmma: from one row to the next); `counters`.
"""
import csv
import io
import itertools
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
HEADER = ".version 9.0\n.target sm_90a\n.address_size 64\n"
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1, "s32": 32}
METRICS = """smsp__inst_executed.sum l1tex__data_pipe_lsu_wavefronts_mem_shared.sum l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum
l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum
l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum smsp__inst_executed_op_ldsm.sum smsp__inst_executed_op_shared_ld.sum
smsp__inst_executed_op_shared_st.sum l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
l1tex__t_requests_pipe_lsu_mem_global_op_st.sum l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum""".split()


def loads():
    """Matrix, layout, shape, type, registers; rows and columns of the matrix."""
    for (m, n, k), layout in itertools.product([(16, 16, 16), (32, 8, 16), (8, 32, 16)], ["row", "col"]):
        for kind in ("f16", "bf16", "s8"):
            a, b = (m * k, k * n)
            per = 32 // BITS[kind]
            count = lambda size: 8 if kind == "f16" else max(1, size // 32 // per)
            yield "a", layout, f"m{m}n{n}k{k}", kind, count(a), m, k
            yield "b", layout, f"m{m}n{n}k{k}", kind, count(b), k, n
        for kind, count in (("f16", 4), ("f32", 8), ("s32", 8)):
            yield "c", layout, f"m{m}n{n}k{k}", kind, count, m, n
    for layout in ("row", "col"):
        yield "a", layout, "m16n16k8", "tf32", 4, 16, 8
        yield "b", layout, "m16n16k8", "tf32", 4, 8, 16
        yield "c", layout, "m16n16k8", "f32", 8, 16, 16
        yield "a", layout, "m8n8k4", "f64", 1, 8, 4
        yield "b", layout, "m8n8k4", "f64", 1, 4, 8
        yield "c", layout, "m8n8k4", "f64", 2, 8, 8
        yield "c", layout, "m8n8k32", "s32", 2, 8, 8
        yield "c", layout, "m8n8k128", "s32", 2, 8, 8
    for k, kind in ((32, "s4"), (128, "b1")):
        yield "a", "row", f"m8n8k{k}", kind, 1, 8, k
        yield "b", "col", f"m8n8k{k}", kind, 1, k, 8


def words(load):
    return f"wmma.load.{load[0]}.sync.aligned.{load[1]}.{load[2]}.global.{load[3]}"


def braces(count):
    return "{" + ", ".join(f"%r{i}" for i in range(count)) + "}"


def load_kernel(number, load):
    wide = load[3] == "f64"
    kind, size, stride = ("b64", 8) if wide else ("b32", 4), 0, load[6] if load[1] == "row" else load[5]
    kind, size = kind
    text = f".visible .entry load{number}(.param .u64 out, .param .u64 in) {{\n.reg .b32 %t; .reg .b64 %p; .reg .{kind} %r<8>;\n"
    text += f"ld.param.u64 %p, [in];\n{words(load)} {braces(load[4])}, [%p], {stride};\n"
    text += f"ld.param.u64 %p, [out]; mov.u32 %t, %tid.x; mad.wide.u32 %p, %t, {size}, %p;\n"
    return text + "".join(f"st.global.{kind} [%p+{i * 32 * size}], %r{i};\n" for i in range(load[4])) + "ret;\n}\n"


def accesses():
    for num, strides in ((1, (16, 32, 64, 80, 128, 144, 0)), (2, (16, 32, 64, 80, 128, 144, 0)), (4, (16, 32, 48, 64, 80, 112, 128, 144, 256, 272, 0))):
        for stride in strides:
            for trans in ("", ".trans"):
                yield f"ldmatrix.sync.aligned.m8n8.x{num}{trans}.shared.b16 {braces(num)}, [%s];", stride
                yield f"stmatrix.sync.aligned.m8n8.x{num}{trans}.shared.b16 [%s], {braces(num)};", stride
    for space, pointer in (("shared", "%z"), ("global", "%g")):
        for stride in (32, 48, 64, 128, 256):
            for layout in ("row", "col"):
                yield f"wmma.load.a.sync.aligned.{layout}.m16n16k16.{space}.f16 {braces(8)}, [{pointer}], {stride // 2};", stride
                yield f"wmma.load.b.sync.aligned.{layout}.m16n16k16.{space}.f16 {braces(8)}, [{pointer}], {stride // 2};", stride
                yield f"wmma.load.a.sync.aligned.{layout}.m16n16k16.{space}.s8 {braces(2)}, [{pointer}], {stride};", stride
        for stride in (64, 80, 96, 128):
            yield f"wmma.load.c.sync.aligned.row.m16n16k16.{space}.f32 {braces(8)}, [{pointer}], {stride // 4};", stride
            yield f"wmma.store.d.sync.aligned.row.m16n16k16.{space}.f32 [{pointer}], {braces(8)}, {stride // 4};", stride
            yield f"wmma.store.d.sync.aligned.col.m16n16k16.{space}.f32 [{pointer}], {braces(8)}, {stride // 4};", stride
            yield f"wmma.store.d.sync.aligned.row.m16n16k16.{space}.f16 [{pointer}], {braces(4)}, {stride // 2};", stride


def access_kernel(number, access):
    statement, stride = access
    text = f".visible .entry access{number}(.param .u64 out) {{\n.reg .b32 %t, %s, %z; .reg .b64 %p, %g; .reg .b32 %r<8>; .shared .align 16 .b8 s[16384];\n"
    text += f"ld.param.u64 %g, [out]; mov.u32 %t, %tid.x; mov.u32 %z, s; mad.lo.u32 %s, %t, {stride}, %z; mad.wide.u32 %p, %t, 4, %g;\n"
    if "load" not in statement and "ldm" not in statement:  # the rest of the kernel reads no shared memory
        return text + "".join(f"add.u32 %r{i}, %t, {i};\n" for i in range(8)) + statement + "\nret;\n}\n"
    text += statement + "\n"
    used = sum(f"%r{i}" in statement for i in range(8))
    text += "".join(f"xor.b32 %r0, %r0, %r{i};\n" for i in range(1, used))
    return text + "st.global.b32 [%p+8192], %r0;\nret;\n}\n"


def text():
    return HEADER + "".join(load_kernel(i, l) for i, l in enumerate(loads())) + "".join(access_kernel(i, a) for i, a in enumerate(accesses()))


def places(module, number, load):
    """Each bit of an element's place is asked by itself: elements hold that bit."""
    import cupy
    import numpy

    rows, columns, bits = load[5], load[6], BITS[load[3]]
    place = numpy.arange(rows * columns).reshape(rows, columns)
    stored = place.ravel() if load[1] == "row" else place.T.ravel()
    per = max(1, 32 // bits)
    found = numpy.zeros((load[4], 32, per), int)
    for bit in range(10):
        values = (stored >> bit & 1).astype(numpy.uint8)
        flat = numpy.zeros((len(values), bits), numpy.uint8)
        flat[:, 0] = values
        memory = cupy.array(numpy.packbits(flat.ravel(), bitorder="little"))
        out = cupy.zeros((load[4], 32), cupy.uint64 if bits == 64 else cupy.uint32)
        module.get_function(f"load{number}")((1,), (32,), (out, memory))
        for i in range(per):
            found[:, :, i] |= (out.get() >> (i * bits) & 1).astype(int) << bit
    return found


def steps(found, load):
    """Rows and columns that each bit adds; they add up to the place of every element."""
    import numpy

    columns = load[6]
    split = lambda place: [int(place) // columns, int(place) % columns]
    answer = {"registers": load[4], "register": [], "lane": [], "place": []}
    rows = numpy.zeros(found.shape, int)
    across = numpy.zeros(found.shape, int)
    for axis, name in enumerate(["register", "lane", "place"]):
        for bit in range(found.shape[axis].bit_length() - 1):
            at = [0, 0, 0]
            at[axis] = 1 << bit
            step = split(found[tuple(at)])
            answer[name].append(step)
            has = (numpy.arange(found.shape[axis]) >> bit & 1).reshape([-1 if a == axis else 1 for a in range(3)])
            rows += has * step[0]
            across += has * step[1]
    assert (rows * columns + across == found).all(), words(load)
    return answer


def run_accesses(module):
    import cupy

    memory = cupy.zeros(1 << 16, cupy.uint8)
    cupy.cuda.runtime.deviceSynchronize()
    cupy.cuda.runtime.profilerStart()
    for i, _ in enumerate(accesses()):
        module.get_function(f"access{i}")((1,), (32,), (memory,))
    cupy.cuda.runtime.deviceSynchronize()
    cupy.cuda.runtime.profilerStop()


def profile():
    command = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--profile-from-start", "off", "--metrics", ",".join(METRICS), sys.executable,
               os.path.abspath(__file__), "--run"]
    out = subprocess.run(command, capture_output=True, text=True)
    lines = [line for line in out.stdout.splitlines() if line.startswith('"')]
    if not lines:
        print(out.stdout[-2000:] + out.stderr[-2000:], file=sys.stderr)
        return []
    table = list(csv.reader(io.StringIO("\n".join(lines))))
    return [dict(zip(table[0], row)) for row in table[2:]]


def main():
    if sys.argv[1:2] == ["--print"]:
        with open(sys.argv[2], "w") as file:
            file.write(text())
        return
    import cupy

    path = "/tmp/fragments.ptx"
    with open(path, "w") as file:
        file.write(text())
    module = cupy.RawModule(path=path)
    if sys.argv[1:2] == ["--run"]:
        return run_accesses(module)
    with open(os.path.join(HERE, "../fragments.jsonl"), "w") as file:
        for i, load in enumerate(loads()):
            file.write(json.dumps({"load": words(load)} | steps(places(module, i, load), load)) + "\n")
        file.flush()
        number = lambda value: int(float(value.replace(",", "")))
        for (statement, stride), row in zip(accesses(), profile()):
            counters = {m: number(row[m]) for m in METRICS if row.get(m, "") not in ("", "n/a")}
            file.write(json.dumps({"access": statement, "stride": stride, "counters": counters}) + "\n")


if __name__ == "__main__":
    main()
