"""Runs programs of tests/programs on a GPU and says whether their results are those that the tests expect: what the emulator is held
against is true of hardware, too. Writes nothing.

    python3 tests/data/hardware/ask/programs.py          needs CuPy; any GPU from compute capability 8.0 on
"""
import os

import cupy
import numpy

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../programs")
U32 = numpy.uint32


def kernels(name):
    module = cupy.RawModule(path=os.path.join(FOLDER, name + ".ptx"))
    return module.get_function


def scan():
    numbers = numpy.random.default_rng(3).integers(0, 1000, 100_003, dtype=U32)
    tiles = (len(numbers) + 511) // 512
    data, out, ticket, state = cupy.array(numbers), cupy.zeros(len(numbers), U32), cupy.zeros(1, U32), cupy.zeros(2 * tiles, U32)
    kernels("lookback_scan")("lookback_scan")((tiles,), (128,), (data, out, U32(len(numbers)), ticket, state))
    return numpy.array_equal(out.get(), numpy.cumsum(numbers, dtype=U32) - numbers)


def radix_sort():
    keys = numpy.random.default_rng(5).integers(0, 2**32, 20_011, dtype=U32)
    blocks, get = (len(keys) + 255) // 256, kernels("radix_sort")
    source, target, counts = cupy.array(keys), cupy.zeros(len(keys), U32), cupy.zeros(16 * blocks, U32)
    for shift in range(0, 32, 4):
        get("radix_count")((blocks,), (256,), (source, U32(len(keys)), U32(shift), counts))
        get("radix_scan")((1,), (256,), (counts, U32(16 * blocks)))
        get("radix_scatter")((blocks,), (256,), (source, target, U32(len(keys)), U32(shift), counts))
        source, target = target, source
    return numpy.array_equal(source.get(), numpy.sort(keys))


def spin_lock():
    blocks, threads = 5, 64
    lock, total, order = cupy.zeros(1, U32), cupy.zeros(4, U32), cupy.zeros(blocks * threads, U32)
    kernels("spin_lock")("spin_lock")((blocks,), (threads,), (lock, total, order))
    everyone = numpy.arange(blocks * threads, dtype=U32)
    return (total.get().tolist() == [int(everyone.sum()), 0, len(everyone), 0]
            and numpy.array_equal(numpy.sort(order.get()), everyone))


def work_stealing():
    numbers, blocks, words = 3000, 6, 2 + 2 * 1024
    queues = numpy.zeros(blocks * words, U32)
    queues[1], queues[3] = 1, numbers
    queue, left, primes = cupy.array(queues), cupy.full(1, numbers, U32), cupy.zeros(1, U32)
    seen, stolen = cupy.zeros(numbers, U32), cupy.zeros(1, U32)
    kernels("work_stealing")("work_stealing")((blocks,), (64,), (queue, left, primes, seen, stolen))
    return primes.get()[0] == 430 and (seen.get() == 1).all() and left.get()[0] == 0


def quicksort():
    threads, count = 96, 50
    values = numpy.random.default_rng(3).integers(0, 1000, 2 * threads * count, dtype=numpy.int32)
    data = cupy.array(values)
    kernels("quicksort")("quicksort")((2,), (threads,), (data, numpy.int32(count)))
    expected = values.copy().reshape(-1, count)
    for t, piece in enumerate(expected):
        piece[:count - t % 7].sort()
    return numpy.array_equal(data.get(), expected.ravel())


def grid_reduction():
    blocks, numbers = 70, (numpy.arange(50_000, dtype=numpy.int64) - 1001).astype(numpy.int32)
    module = cupy.RawModule(path=os.path.join(FOLDER, "grid_reduction.ptx"), enable_cooperative_groups=True)
    data, partial, out = cupy.array(numbers), cupy.full(blocks, 5, numpy.int32), cupy.zeros(blocks, numpy.int32)
    module.get_function("grid_reduction")((blocks,), (48,), (data, U32(len(numbers)), partial, out))
    return (out.get() == numbers.sum(dtype=numpy.int32)).all() and (partial.get() == 0).all()


def shapes():
    """The dispatcher, against a file that the emulator saved: shapes.npy, of 2 blocks of 64 threads and code 0, 1, 2, ... modulo 8."""
    threads, length = 128, 16
    code = (numpy.arange(threads * length) % 8).astype(numpy.uint8)
    out = cupy.zeros(threads, numpy.int32)
    kernels("shapes")("shapes")((2,), (64,), (out, cupy.array(code), numpy.int32(length)))
    return numpy.array_equal(out.get(), numpy.load(os.environ["SHAPES"]))


def blur():
    width, height = 64, 48
    texture = cupy.cuda.texture
    channel = texture.ChannelFormatDescriptor(8, 0, 0, 0, cupy.cuda.runtime.cudaChannelFormatKindUnsigned)
    array = texture.CUDAarray(channel, width, height)
    array.copy_from((numpy.arange(width * height) * 37 % 256).astype(numpy.uint8).reshape(height, width))
    clamp, runtime = cupy.cuda.runtime.cudaAddressModeClamp, cupy.cuda.runtime
    image = texture.TextureObject(texture.ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=array), texture.TextureDescriptor(
        (clamp, clamp), runtime.cudaFilterModeLinear, runtime.cudaReadModeNormalizedFloat))
    samples = os.path.join(FOLDER, "../../samples/texture_blur")
    out = cupy.zeros(width * height, numpy.float32)
    cupy.RawModule(path=os.path.join(samples, "blur.ptx")).get_function("blur")(
        (4, 6), (16, 8), (image, out, numpy.int32(width), numpy.int32(height)))
    return numpy.allclose(out.get(), numpy.load(os.path.join(samples, "blurred.npy")).ravel(), rtol=0, atol=1e-5)


for program in (scan, radix_sort, spin_lock, work_stealing, quicksort, grid_reduction, blur) + ((shapes,) if "SHAPES" in os.environ else ()):
    print(program.__name__, "as expected" if program() else "DIFFERENT", flush=True)
