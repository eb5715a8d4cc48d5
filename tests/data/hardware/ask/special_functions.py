"""Asks a GPU for the approximations of its special-function unit: every significand where tables and interpolation
show, samples of everything else. Needs CuPy and a CUDA GPU.

    python3 special_functions.py OUTPUT_FOLDER

Each array is one answer per input, as the bits of the result, kept as first differences in the narrowest type that
fits, after the first value and the shift that was taken off all of them. Inputs are given by `name`: `op@first+count*stride` are bits counted upwards,
`op@random` and `op@all16` are described in inputs_of().
"""
import io, lzma, multiprocessing, os, sys, tarfile

import numpy as np

UNARY = {  # PTX of one lane, by name: f32 -> f32
    "rcp": "rcp.approx.ftz.f32", "rsqrt": "rsqrt.approx.ftz.f32", "sqrt": "sqrt.approx.ftz.f32",
    "ex2": "ex2.approx.ftz.f32", "lg2": "lg2.approx.ftz.f32", "sin": "sin.approx.ftz.f32",
    "cos": "cos.approx.ftz.f32", "tanh": "tanh.approx.f32",
    "rcp_d": "rcp.approx.f32", "rsqrt_d": "rsqrt.approx.f32", "sqrt_d": "sqrt.approx.f32",
    "ex2_d": "ex2.approx.f32", "lg2_d": "lg2.approx.f32", "sin_d": "sin.approx.f32", "cos_d": "cos.approx.f32",
}
BINARY = {"div_approx": "div.approx.ftz.f32", "div_approx_d": "div.approx.f32", "div_full": "div.full.ftz.f32",
          "div_full_d": "div.full.f32"}
HALF = {"tanh_f16": "tanh.approx.f16", "ex2_f16": "ex2.approx.f16", "tanh_bf16": "tanh.approx.bf16",
        "ex2_bf16": "ex2.approx.ftz.bf16"}
DOUBLE = {"rcp_f64": "rcp.approx.ftz.f64", "rsqrt_f64": "rsqrt.approx.ftz.f64", "rsqrt_f64_d": "rsqrt.approx.f64"}
SAMPLES = 1 << 17
SOURCE = r"""
#define UNARY(name, op) extern "C" __global__ void ask_##name(const unsigned* a, unsigned* d, int n) { \
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned r; asm(op " %0, %1;" : "=r"(r) : "r"(a[i])); d[i] = r; } }
#define BINARY(name, op) extern "C" __global__ void ask_##name(const unsigned* a, const unsigned* b, unsigned* d, int n) { \
  int i = blockIdx.x * blockDim.x + threadIdx.x; \
  if (i < n) { unsigned r; asm(op " %0, %1, %2;" : "=r"(r) : "r"(a[i]), "r"(b[i])); d[i] = r; } }
#define HALF(name, op) extern "C" __global__ void ask_##name(const unsigned* a, unsigned* d, int n) { \
  int i = blockIdx.x * blockDim.x + threadIdx.x; \
  if (i < n) { unsigned short r; asm(op " %0, %1;" : "=h"(r) : "h"((unsigned short)a[i])); d[i] = r; } }
#define DOUBLE(name, op) extern "C" __global__ void ask_##name(const unsigned long long* a, unsigned long long* d, int n) { \
  int i = blockIdx.x * blockDim.x + threadIdx.x; \
  if (i < n) { unsigned long long r; asm(op " %0, %1;" : "=l"(r) : "l"(a[i])); d[i] = r; } }
"""


def bits(value):
    return int(np.float32(value).view(np.uint32))


def splitmix(count, seed):
    """64-bit pseudo-random numbers, the same everywhere."""
    with np.errstate(over="ignore"):
        z = (np.arange(1, count + 1, dtype=np.uint64) + np.uint64(seed)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def inputs_of(name):
    """The inputs of an answer, one array per operand."""
    op, where = name.split("@")
    if where == "all16":
        return [np.arange(65536, dtype=np.uint32)]
    if where == "random":
        if op in DOUBLE:
            return [splitmix(SAMPLES, 1)]
        a = (splitmix(SAMPLES, 1) >> np.uint64(32)).astype(np.uint32)
        return [a] if op in UNARY else [a, (splitmix(SAMPLES, 2) >> np.uint64(32)).astype(np.uint32)]
    if where == "near":  # quotients of numbers in [1/16, 16), of either sign
        parts = [(splitmix(SAMPLES, s) >> np.uint64(32)).astype(np.uint32) for s in (3, 4)]
        return [(p & np.uint32(0x807FFFFF)) | (np.uint32(0x3D800000) + ((p >> np.uint32(23) & np.uint32(7)) << np.uint32(23)))
                for p in parts]
    first, rest = where.split("+")
    count, stride = rest.split("*")
    width = np.uint64 if op in DOUBLE else np.uint32
    return [(int(first, 16) + np.arange(int(count), dtype=np.uint64) * np.uint64(int(stride))).astype(width)]


def wanted():
    full = 1 << 23

    def binade(op, low, count=full, stride=1):
        return f"{op}@{bits(low):x}+{count}*{stride}"

    names = [binade("rcp", 1), binade("rsqrt", 1), binade("rsqrt", 2), binade("sqrt", 1), binade("sqrt", 2),
             binade("ex2", 1), binade("ex2", .5), binade("ex2", -1), binade("lg2", 1), binade("lg2", .5)]
    names += [binade(op, 2.0 ** e) for op in ("sin", "cos") for e in (-3, -2, -1, 0, 1, 2)]
    names += [binade("tanh", 2.0 ** e) for e in (-3, -2, -1, 0, 1, 2, 3)]
    for op in UNARY:  # everything at a stride, both signs
        names.append(f"{op}@0+{1 << 18}*8191")
        names.append(f"{op}@80000000+{1 << 18}*8191")
        names.append(f"{op}@random")
    names += [f"{op}@{kind}" for op in BINARY for kind in ("near", "random")]
    names += [f"{op}@all16" for op in HALF]
    names += [f"{op}@random" for op in DOUBLE]
    names += [f"rcp_f64@3ff0000000000000+{1 << 20}*{1 << 32}", f"rsqrt_f64@3ff0000000000000+{1 << 21}*{1 << 32}"]
    names += [f"rsqrt_f64_d@3ff0000000000000+{1 << 17}*{(1 << 36) + 123457}"]
    return names


def packed(answer):
    values = answer.astype(np.int64)
    shift = 32 if (values & 0xFFFFFFFF).any() == False and values.any() else 0
    values >>= shift
    steps = np.diff(values)
    kind = next(k for k in (np.int8, np.int16, np.int32, np.int64)
                if steps.min() >= np.iinfo(k).min and steps.max() <= np.iinfo(k).max)
    return np.int64(values[0]).tobytes() + bytes([np.dtype(kind).itemsize, shift]) + steps.astype(kind).tobytes()


def unpacked(data):
    first = np.frombuffer(data[:8], np.int64)
    steps = np.frombuffer(data[10:], f"i{data[8]}").astype(np.int64)
    return np.concatenate([first, first + np.cumsum(steps)]).astype(np.uint64) << np.uint64(data[9])


def squeezed(item):
    return item[0], lzma.compress(item[1], preset=2)


def main():
    import cupy

    lines = [SOURCE]
    for macro, ops in (("UNARY", UNARY), ("BINARY", BINARY), ("HALF", HALF), ("DOUBLE", DOUBLE)):
        lines += [f'{macro}({name}, "{ptx}")' for name, ptx in ops.items()]
    module = cupy.RawModule(code="\n".join(lines))
    answers = []
    for name in wanted():
        op = name.split("@")[0]
        given = [cupy.asarray(a) for a in inputs_of(name)]
        result = cupy.zeros(given[0].size, cupy.uint64 if op in DOUBLE else cupy.uint32)
        module.get_function("ask_" + op)(((given[0].size + 255) // 256,), (256,), (*given, result, np.int32(given[0].size)))
        answers.append((name, packed(cupy.asnumpy(result))))
    with multiprocessing.get_context("spawn").Pool() as pool:
        answers = pool.map(squeezed, answers, 1)
    parts = 8
    sizes = [0] * parts
    tars = [tarfile.open(os.path.join(sys.argv[1], f"special_functions_{i}.tar"), "w") for i in range(parts)]
    for name, data in sorted(answers, key=lambda a: -len(a[1])):
        i = sizes.index(min(sizes))
        sizes[i] += len(data)
        member = tarfile.TarInfo(name)
        member.size = len(data)
        tars[i].addfile(member, io.BytesIO(data))
    for tar in tars:
        tar.close()
    print(sum(sizes), sizes)


if __name__ == "__main__":
    main()
