"""Asks a GPU for the approximations of its special-function unit: every significand where tables and interpolation
show, samples of everything else.

    python3 special_functions.py ask FOLDER                       needs CuPy and a CUDA GPU; writes 8 archives, 20 MB
    python3 special_functions.py digest FOLDER >../special_functions.txt    needs NumPy; hashes of those answers

An array of answers, one per input, is a member of an archive: the bits of the results as first differences, after the
first value and a shift that was taken off all of them (packed()), compressed. Its name says the function and the
inputs (inputs_of()): `rcp@3f800000+8388608*1` are bits counted upwards from 0x3f800000, 8388608 of them in steps of 1.

A line of the digest is the PTX instruction, the inputs and a hash for every 65536 answers, so that a difference is
located: 64-bit FNV-1a over whole results instead of bytes, every NaN taken for the greatest positive number.
"""
import io, lzma, multiprocessing, os, sys, tarfile

import numpy as np

UNARY = {  # f32 -> f32
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
PTX = UNARY | BINARY | HALF | DOUBLE
INFINITY = {"f32": 0x7F800000, "f64": 0x7FF0000000000000, "f16": 0x7C00, "bf16": 0x7F80}
SAMPLES = 1 << 17
BLOCK = 1 << 16
PARTS = 8
SOURCE = r"""
#define UNARY(name, op) extern "C" __global__ void ask_##name(const unsigned* a, unsigned* d, int n) { \
  int i = blockIdx.x * blockDim.x + threadIdx.x; \
  if (i < n) { unsigned r; asm(op " %0, %1;" : "=r"(r) : "r"(a[i])); d[i] = r; } }
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


def upper_words(seed):
    return (splitmix(SAMPLES, seed) >> np.uint64(32)).astype(np.uint32)


def inputs_of(name):
    """The inputs of an array of answers, one array per operand."""
    op, where = name.split("@")
    if where == "all16":
        return [np.arange(65536, dtype=np.uint32)]
    if where == "random":
        if op in DOUBLE:
            return [splitmix(SAMPLES, 1)]
        return [upper_words(1)] if op in UNARY else [upper_words(1), upper_words(2)]
    if where == "near":  # quotients of numbers in [1/16, 16), of either sign
        exponents = [np.uint32(0x3D800000) + ((p >> np.uint32(23) & np.uint32(7)) << np.uint32(23))
                     for p in (upper_words(3), upper_words(4))]
        return [(p & np.uint32(0x807FFFFF)) | e for p, e in zip((upper_words(3), upper_words(4)), exponents)]
    first, rest = where.split("+")
    count, stride = rest.split("*")
    width = np.uint64 if op in DOUBLE else np.uint32
    return [(int(first, 16) + np.arange(int(count), dtype=np.uint64) * np.uint64(int(stride))).astype(width)]


def wanted():
    """The names of all arrays."""
    def binade(op, low):
        return f"{op}@{bits(low):x}+{1 << 23}*1"

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
    shift = 32 if not (values & 0xFFFFFFFF).any() and values.any() else 0
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


def ask(folder):
    import cupy

    lines = [SOURCE]
    for macro, ops in (("UNARY", UNARY), ("BINARY", BINARY), ("HALF", HALF), ("DOUBLE", DOUBLE)):
        lines += [f'{macro}({name}, "{ptx}")' for name, ptx in ops.items()]
    module = cupy.RawModule(code="\n".join(lines))
    answers = []
    for name in wanted():
        op = name.split("@")[0]
        given = [cupy.asarray(a) for a in inputs_of(name)]
        count = given[0].size
        result = cupy.zeros(count, cupy.uint64 if op in DOUBLE else cupy.uint32)
        module.get_function("ask_" + op)(((count + 255) // 256,), (256,), (*given, result, np.int32(count)))
        answers.append((name, packed(cupy.asnumpy(result))))
    with multiprocessing.get_context("spawn").Pool() as pool:
        answers = pool.map(squeezed, answers, 1)
    sizes = [0] * PARTS
    tars = [tarfile.open(os.path.join(folder, f"special_functions_{i}.tar"), "w") for i in range(PARTS)]
    for name, data in sorted(answers, key=lambda a: -len(a[1])):
        i = sizes.index(min(sizes))
        sizes[i] += len(data)
        member = tarfile.TarInfo(name)
        member.size = len(data)
        tars[i].addfile(member, io.BytesIO(data))
    for tar in tars:
        tar.close()


def answers_in(folder):
    """All arrays of answers by name."""
    found = {}
    for file in os.listdir(folder):
        with tarfile.open(os.path.join(folder, file)) as tar:
            for member in tar.getmembers():
                found[member.name] = unpacked(lzma.decompress(tar.extractfile(member).read()))
    return found


def hashes(answer, infinity):
    """Of each block of answers."""
    greatest = np.uint64(infinity | infinity - 1)
    sign = np.uint64(2 ** infinity.bit_length())
    values = np.where(answer & ~sign > np.uint64(infinity), greatest, answer).reshape(-1, min(BLOCK, answer.size))
    state = np.full(len(values), 1469598103934665603, np.uint64)
    with np.errstate(over="ignore"):
        for column in np.ascontiguousarray(values.T):
            state = (state ^ column) * np.uint64(1099511628211)
    return state


def digest(folder):
    answers = answers_in(folder)
    for name in wanted():
        op, where = name.split("@")
        values = " ".join(f"{h:016x}" for h in hashes(answers[name], INFINITY[PTX[op].split(".")[-1]]))
        print(PTX[op], where, values)


if __name__ == "__main__":
    {"ask": ask, "digest": digest}[sys.argv[1]](sys.argv[2])
