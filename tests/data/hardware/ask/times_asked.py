"""The launches whose times a GPU is asked: what the model of current hardware is fitted to and judged by.

    python3 tests/data/hardware/ask/times_asked.py > tests/data/hardware/times_asked.jsonl

A line is a launch: module, kernel, grid, block, dynamic shared memory; `args` in order, {"s32": v}, {"f32": v} or {"buffer": name};
`buffers` by name: type, count and what they hold (zeros; fill v; iota; mod m: i % m; spread: i * 2654435761 % count, a permutation of a power
of two); `before`: launches on the same buffers that have to run first.
"""
import json


def buffer(kind, count, **holds):
    return {"type": kind, "count": count} | (holds or {"zeros": True})


def launch(module, kernel, grid, block, arguments, buffers, shared=0, label="", before=()):
    triple = lambda e: ([e] if isinstance(e, int) else list(e)) + [1] * (2 if isinstance(e, int) else 3 - len(e))
    named = [a if isinstance(a, dict) else {"buffer": a} if isinstance(a, str) else {"s32": a} for a in arguments]
    return {"module": module, "kernel": kernel, "label": label, "grid": triple(grid), "block": triple(block), "shared": shared,
            "args": named, "buffers": buffers, "before": list(before)}


def square(kernel_file, kernels, widths, in_holds, tile=16, block=(16, 16)):
    """Kernels (in, out, width) on square matrices by tiles."""
    for width in widths:
        n = width * width
        for kernel in kernels:
            yield launch(kernel_file, kernel, (width // tile, width // tile), block, ["in", "out", width],
                         {"in": buffer("u32", n, **in_holds), "out": buffer("u32", n)}, label=f"width {width}")


def branching():
    module = "samples/branching/branching.ptx"
    for branches in (1, 4, 10):
        for work in ("data_bound", "compute_bound", "unequal"):
            for how in ("branch", "lookup", "reorder"):
                for each in square(module, [f"{how}_{work}"], [1024], {"mod": branches}):
                    yield each | {"label": f"{branches} branches"}
    for kernel in ("sum_in_place", "sum_reordered"):
        yield launch(module, kernel, 16384, 256, ["in", "out"], {"in": buffer("u32", 1 << 22, iota=True), "out": buffer("u32", 16384)})
    for kernel in ("branch_per_thread", "branch_per_warp"):
        yield launch(module, kernel, 16384, 256, ["in", "out"], {"in": buffer("f32", 1 << 22, fill=4), "out": buffer("f32", 1 << 22)})


def copies():
    module = "samples/global_copy/global_copy.ptx"
    yield from square(module, ["copy_cc", "copy_nc", "copy_cn", "copy_nn"], [512, 2048, 8192], {"iota": True})
    for n in (1 << 20, 1 << 24):
        row = {"in": buffer("u32", n, iota=True), "out": buffer("u32", n)}
        label = f"{n} elements"
        yield launch(module, "copy_swapped", n // 256, 256, ["in", "out", n], row, label=label)
        yield launch(module, "array_of_structures", n // 256, 256, ["in", "out", n],
                     {"in": buffer("u32", 3 * n, iota=True), "out": buffer("u32", 3 * n)}, label=label)
        yield launch(module, "structure_of_arrays", n // 256, 256, ["in", "in", "in", "a", "b", "c", n],
                     {"in": row["in"]} | {x: buffer("u32", n) for x in "abc"}, label=label)
    n = 1 << 22
    for bits in (8, 16, 32, 64):
        held = {"in": buffer(f"u{bits}", 32 * n if bits == 32 else n, iota=True), "out": buffer(f"u{bits}", n), "order": buffer("u32", n, spread=True)}
        for offset in (0, 1, 32):
            yield launch(module, f"offset_{bits}", n // 256, 256, ["out", "in", offset, n], held, label=f"offset {offset}")
        for stride in (1, 2, 8, 32) if bits == 32 else (1,):
            yield launch(module, f"strided_{bits}", n // 256, 256, ["out", "in", stride, n], held, label=f"stride {stride}")
        yield launch(module, f"random_{bits}", n // 256, 256, ["out", "in", "order", n], held)
    yield from square("samples/shared_copy/shared_copy.ptx", ["copy_uu", "copy_cu", "copy_uc", "copy_cc"], [256, 2048], {"iota": True})


def synchronisation():
    module, n = "samples/synchronisation/synchronisation.ptx", 1 << 22
    held = {"in": buffer("u32", n, iota=True), "out": buffer("u32", n)}
    for between in (2, 10, 100):
        yield launch(module, "block_barriers", n // 256, 256, ["in", "out", 100, between], held, label=f"every {between}")
    for kernel in ("grid_step", "grid_step_shared"):
        yield launch(module, kernel, n // 256, 256, ["in", "out", 0, 10], held)


def partitioning():
    module = "samples/partitioning/partitioning.ptx"
    for n, operations in ((1 << 16, 10), (1 << 22, 10), (1 << 22, 1000)):
        held = {"in": buffer("u32", n, iota=True), "out": buffer("u32", n)}
        for block in (32, 192, 1024):
            yield launch(module, "one_dimension", (n + block - 1) // block, block, ["in", "out", n, operations], held, label=f"{n}, {operations} operations")
        yield launch(module, "tiles", n // 1024, 256, ["in", "out", n, 1024, operations], held, label=f"{n}, {operations} operations")
        width = 256
        yield launch(module, "two_dimensions", (width // 8, n // width // 8), (8, 8), ["in", "out", width, n // width, operations], held,
                     label=f"{n}, {operations} operations")


def prefix_sums():
    for n in (1 << 18, 1 << 23):
        for kernel, tile in (("naive", 256), ("shared", 256), ("reordered", 256), ("two_elements", 512), ("padded", 512)):
            yield launch("samples/prefix_sum/prefix_sum.ptx", "prefix_" + kernel, n // tile, 256, ["in", "out", "sums", n],
                         {"in": buffer("u32", n, iota=True), "out": buffer("u32", n), "sums": buffer("u32", n // tile)}, label=f"{n} elements")


def ubench():
    for kernel in (1, 3, 5, 7, 9, 10, 11):
        width = 6144 if kernel in (1, 3, 9) else 1536
        held = {"input": buffer("u32", width * width, iota=True), "out": buffer("u32", width * width)}
        for block in ((192, 1), (32, 8), (8, 8), (4, 64)):
            yield launch("samples/ubench/ubench.ptx", f"ubench_{kernel}", (width // block[0], width // block[1]), block,
                         (["input"] if kernel in (5, 7) else []) + ["out", width], held, label=f"{block[0]} x {block[1]}")


def linear_algebra():
    module = "samples/linear_algebra/linear_algebra.ptx"
    for n in (512, 4096):
        held = {"m": buffer("f32", n * n, fill=1), "v": buffer("f32", n, fill=2), "out": buffer("f32", n * n)}
        yield launch(module, "matrix_vector", n // 64, 64, ["m", "v", "out", n], held, label=f"n {n}")
        yield launch(module, "matrix_sum", (n // 16, n // 16), (16, 16), ["m", "m", "out", n], held, label=f"n {n}")
    for n in (1 << 16, 1 << 24):
        held = {"a": buffer("f32", n, fill=1), "b": buffer("f32", n, fill=2), "out": buffer("f32", n)}
        yield launch(module, "dot_product", n // 256, 256, ["a", "b", "out", n], held, label=f"n {n}")
        yield launch(module, "vector_sum", n // 256, 256, ["a", "b", "out", n], held, label=f"n {n}")
    n = 1 << 24
    held = {"in": buffer("u8", n, fill=97), "out": buffer("u8", n)}
    for kernel, width in (("char", 1), ("2", 2), ("4", 4), ("8", 8)):
        yield launch("samples/caesar/caesar.ptx", "shift_" + kernel, n // width // 256, 256, ["in", "out", 3, n], held)


def transposes():
    for kernel, tile, block in (("1d", None, 256), ("2d", (8, 32), (8, 32)), ("shared", (32, 32), (32, 8)), ("padded", (32, 32), (32, 8))):
        for n in (512, 4096):
            grid = n * n // 256 if tile is None else (n // tile[0], n // tile[1])
            yield launch("samples/transpose/transpose.ptx", "transpose_" + kernel, grid, block, ["in", "out", n, n],
                         {"in": buffer("u32", n * n, iota=True), "out": buffer("u32", n * n)}, label=f"{n} x {n}")


def fmm():
    depth, fewest, most, seed = 3, 160, 230, 585
    points, boxes = 512 * most + 1, 585
    held = {x: buffer("f32", points) for x in "tx ty tz td sx sy sz sd".split()} | {"s": buffer("f32", 4 * points)}
    held |= {x: buffer("s32", boxes) for x in "tbptr tbn sbptr sbn".split()} | {"uptr": buffer("s32", boxes + 1), "ulist": buffer("s32", 22**3)}
    module, names = "samples/fmm_ulist/ulist.ptx", list(held)
    before = [{"kernel": "build_boxes", "grid": [1, 1, 1], "block": [1, 1, 1], "shared": 0,
               "args": [{"s32": v} for v in (depth, fewest, most, seed)] + [{"buffer": b} for b in names[9:]]},
              {"kernel": "fill_points", "grid": [boxes, 1, 1], "block": [64, 1, 1], "shared": 0,
               "args": [{"s32": v} for v in (depth, seed)] + [{"buffer": b} for b in names[:13]]}]
    for kernel in ("cuda", "cuda_rsqrt", "cuda_ujam", "cuda_pref", "cuda_shmem", "cuda_shmem_trans", "cuda_vecpack", "cuda_vecpack_shmem",
                   "cuda_vecpack_shmem_pref_ujam_rsqrt"):
        for block in (64, 256):
            yield launch(module, kernel, boxes, block, names, held, 16 * block if "shmem" in kernel else 0, f"{block} threads", before)


def others():
    bench = lambda name: f"bench/kernels/{name}.ptx"
    n = 1 << 22
    yield launch(bench("fma_loop"), "fma_loop", 4096, 256, ["out", {"f32": 0.5}, {"f32": 0.25}, 1000], {"out": buffer("f32", 1 << 20)})
    for blocks in (264, 4096):
        yield launch(bench("gather"), "gather", blocks, 256, ["in", "out", n], {"in": buffer("u32", n, iota=True), "out": buffer("u32", 1 << 20)}, label=f"{blocks} blocks")
        yield launch(bench("scatter"), "scatter", blocks, 256, ["out", n], {"out": buffer("u32", n)}, label=f"{blocks} blocks")
        yield launch(bench("histogram"), "histogram", blocks, 256, ["out"], {"out": buffer("u32", 256)}, label=f"{blocks} blocks")
    for m in (256, 1024):
        held = {x: buffer("f32", m * m, fill=1) for x in "abc"}
        yield launch(bench("matmul_tiled"), "matmul_tiled", (m // 16, m // 16), (16, 16), ["a", "b", "c", m], held, label=f"{m} x {m}")
    for bodies in (4096, 16384):
        held = {"src": buffer("f32", 4 * bodies, iota=True), "trg": buffer("f32", 4 * bodies, fill=1), "pot": buffer("f32", bodies)}
        yield launch(bench("nbody_ulist"), "nbody_ulist", bodies // 256, 256, ["src", "trg", "pot", bodies], held, label=f"{bodies} bodies")
    yield launch(bench("vec_add"), "vec_add", n // 256, 256, ["a", "b", "c", n], {x: buffer("f32", n, fill=1) for x in "abc"})
    module, loads = "samples/microbenchmark/scalar.ptx", {"src": buffer("f32", 24576000, fill=32)}
    for kernel in ("scalar_32b", "scalar_64b", "scalar_config0"):
        yield launch(module, kernel, 120, 256, [100, 256, "src"], loads)
    columns = {"m": buffer("u32", 4096 * 1024, iota=True), "sums": buffer("u32", 1024)}
    for kernel in ("_Z22column_sums_by_threadsPKiiiPi", "_Z19column_sums_in_bulkPKiiiPi"):
        yield launch("samples/async_copy/async_copy.ptx", kernel, 4, 64, ["m", 4096, 1024, "sums"], columns)


def kinds():
    """Of times.cu: what the samples lack."""
    def each(kernel, blocks, arguments, buffers, label, block=256):
        return launch("tests/data/hardware/times.ptx", kernel, blocks, block, arguments, buffers, label=label)

    for blocks in (264, 4096):
        n = 256 * blocks
        plain = {"in": buffer("f32", n, fill=1), "out": buffer("f32", n)}
        words = {"in": buffer("u32", n, iota=True), "out": buffer("u32", n)}
        label = f"{blocks} blocks"
        for terms in (4, 128):
            yield each("double_polynomial", blocks, ["in", "out", terms], {x: buffer("f64", n, fill=1) for x in ("in", "out")}, f"{label}, {terms} terms")
        yield each("double_quotients", blocks, ["a", "b", "out"], {x: buffer("f64", n, fill=3) for x in ("a", "b", "out")}, label)
        for kernel in ("fast_functions", "sines", "roots_and_quotients"):
            for times in (1, 32):
                yield each(kernel, blocks, ["in", "out", times], plain, f"{label}, {times} times")
        yield each("digits", blocks, ["in", "out", 10, 9], words, label)
        for mask in (0, 255, 65535):
            yield each("count_globally", blocks, ["counts", mask], {"counts": buffer("u32", 65536)}, f"{label}, mask {mask}")
        yield each("take_tickets", blocks, ["counter", "out", 15], {"counter": buffer("u32", 16), "out": buffer("u32", n)}, label)
        yield each("sum_by_shuffles", blocks, ["in", "out"], {"in": plain["in"], "out": buffer("f32", blocks)}, label)
        yield each("sparse_rows", blocks, ["columns", "values", "v", "out", 8],
                   {"columns": buffer("u32", 8 * n, mod=65521), "values": buffer("f32", 8 * n, fill=1), "v": buffer("f32", 65536, fill=2), "out": plain["out"]}, label)
        yield each("local_table", blocks, ["in", "out", 16], words, label)
        yield each("softmax", blocks, ["in", "out", 1024], {x: buffer("f32", 1024 * blocks, fill=1) for x in ("in", "out")}, label)
        yield each("scaled_sum", 264, ["x", "y", {"f32": 0.5}, 8 * n], {x: buffer("f32", 8 * n, fill=1) for x in "xy"}, f"{8 * n} elements")
        yield each("copy_of_four", blocks, ["in", "out"], {x: buffer("f32", 4 * n, fill=1) for x in ("in", "out")}, label)
        yield each("look_up", blocks, ["table", "out", 1023, 16], {"table": buffer("u32", 1024, spread=True), "out": words["out"]}, label)
        yield each("sort_blocks", blocks, ["keys"], {"keys": buffer("u32", 1024 * blocks, iota=True)}, label, 512)
        yield each("collatz", blocks, ["out", 200], {"out": words["out"]}, label)
        yield each("convolution", blocks, ["in", "out", n], plain, label)
        yield each("mandelbrot", blocks, ["out", 1024, 100], {"out": words["out"]}, label)
    for blocks in (1, 132):
        yield each("follow", blocks, ["next", "out", 64], {"next": buffer("u32", 1 << 20, spread=True), "out": buffer("u32", 128 * blocks)}, f"{blocks} blocks", 128)
    for width in (512, 4096):
        held = {x: buffer("f32", width * width, fill=1) for x in ("in", "out")}
        yield each("five_points", (width // 32, width // 8), ["in", "out", width, width], held, f"width {width}", (32, 8))
        yield each("product_by_warps", width // 8, ["m", "v", "out", width], {"m": held["in"], "v": buffer("f32", width, fill=1), "out": buffer("f32", width)},
                   f"n {width}")
    for n in (64, 256):
        yield each("seven_points", (n // 32, n // 8), ["in", "out", n], {x: buffer("f32", n**3, fill=1) for x in ("in", "out")}, f"n {n}", (32, 8))
    for n in (256, 1024):
        yield each("product_by_registers", (n // 64, n // 64), ["a", "b", "c", n], {x: buffer("f32", n * n, fill=1) for x in "abc"}, f"n {n}")


def main():
    for group in (branching, copies, synchronisation, partitioning, prefix_sums, ubench, linear_algebra, transposes, fmm, others, kinds):
        for each in group():
            print(json.dumps(each))


if __name__ == "__main__":
    main()
