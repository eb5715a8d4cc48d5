# SPDX-License-Identifier: Apache-2.0
"""Launches: arguments in and out, options, streams."""

import ctypes
import threading

import numpy as np
import pytest

import warplens as wl


def test_saxpy_in_and_out(saxpy):
    x, y = np.arange(1024, dtype=np.float32), np.ones(1024, np.float32)
    report = saxpy.saxpy[40, 256](np.int32(1024), np.float32(2), x, y, device="c1060")
    np.testing.assert_array_equal(y, 2 * np.arange(1024, dtype=np.float32) + 1)
    np.testing.assert_array_equal(x, np.arange(1024))
    assert report.name == "saxpy"
    assert report.kernel == "_Z5saxpyifPKfPf"
    assert report.device == "c1060"
    assert report.grid == (40, 1, 1) and report.block == (256, 1, 1)


def test_the_report_is_that_of_the_command_line(saxpy, samples, tmp_path):
    import json
    import subprocess
    import sys

    n = 20011
    x, y = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
    report = saxpy.saxpy[40, 128](n, 2.0, x, y, device="8800gtx")
    written = tmp_path / "r.json"
    subprocess.run([sys.executable, "-m", "warplens", "run", str(samples / "saxpy"), "--json", str(written)], check=True)
    theirs, ours = json.loads(written.read_text()), report.to_dict()
    assert ours["launches"][0]["metrics"] == theirs["launches"][0]["metrics"]
    assert [p["milliseconds"] for p in ours["launches"][0]["predictions"]] == [
        p["milliseconds"] for p in theirs["launches"][0]["predictions"]]


def test_numbers_of_python_take_the_type_of_the_parameter(kernels):
    x = np.arange(4, dtype=np.float32)
    kernels.scale[1, 4](x, 2, 4)
    np.testing.assert_array_equal(x, [0, 2, 4, 6])


def test_scalars_of_numpy_by_dtype(kernels):
    out = np.zeros(5)
    kernels.numbers[1, 1](np.int8(-3), np.uint16(65535), np.int64(-(1 << 40)), np.float64(0.5), np.bool_(True), out)
    np.testing.assert_array_equal(out, [-3, 65535, -(1 << 40), 0.5, 1])
    kernels.numbers[1, 1](-3, 65535, -(1 << 40), 0.5, True, out)
    np.testing.assert_array_equal(out, [-3, 65535, -(1 << 40), 0.5, 1])


class Line(ctypes.Structure):
    _fields_ = [("slope", ctypes.c_double), ("offset", ctypes.c_int)]


@pytest.mark.parametrize("line", [
    np.array((2.0, 1), dtype=np.dtype([("slope", "f8"), ("offset", "i4")], align=True)),
    np.array([(2.0, 1)], dtype=np.dtype([("slope", "f8"), ("offset", "i4")], align=True))[0],
    Line(2.0, 1),
    bytes(Line(2.0, 1)),
], ids=["array", "void", "ctypes", "bytes"])
def test_structures(kernels, line):
    y = np.zeros(8)
    kernels.evaluate[1, 8](line, y)
    np.testing.assert_array_equal(y, 2 * np.arange(8) + 1)


def test_grid_and_block_are_numbers_or_tuples(kernels):
    for grid, block in [(2, 4), ((2,), (4,)), ((1, 2), (2, 2)), ((1, 1, 2), [1, 2, 2]), (np.int64(2), np.int32(4))]:
        report = kernels.nothing[grid, block]()
        assert report.metrics["cta_launched"] == 2
        assert report.metrics["smsp__thread_inst_executed.sum"] == 8


def test_dynamic_shared_memory(kernels):
    x = np.arange(64, dtype=np.int32)
    kernels.reverse[1, 64](x, shared=256)
    np.testing.assert_array_equal(x, np.arange(64)[::-1])


def test_clusters(kernels):
    x = np.zeros(8, np.uint32)
    kernels.rank_in_cluster[8, 32](x, cluster=4, device="h200")
    np.testing.assert_array_equal(x, [0, 1, 2, 3] * 2)


def test_printed(kernels):
    assert kernels.say[1, 2](2).printed == "thread 0 of 2\nthread 1 of 2\n"


def test_variables_are_views(kernels):
    kernels.fill_table[1, 4](2.5)
    table = kernels.variable("table", np.float32)
    np.testing.assert_array_equal(table, [2.5] * 4)
    table[1] = 7
    np.testing.assert_array_equal(kernels.variable("table", np.float32), [2.5, 7, 2.5, 2.5])


def test_device_arrays_stay_between_launches(kernels):
    x = wl.array(np.arange(8, dtype=np.float32), name="x")
    view = x.numpy()
    for _ in range(3):
        kernels.scale[1, 8](x, 2.0, 8)
    np.testing.assert_array_equal(view, 8 * np.arange(8))
    kernels.scale[1, 8](view[4:], 0.5, 4)  # a part, without a copy
    np.testing.assert_array_equal(x, [0, 8, 16, 24, 16, 20, 24, 28])
    assert (len(x), x.nbytes, x.ndim, x.size) == (8, 32, 1, 8)
    x[0] = 5
    assert x[0] == 5


def test_device_arrays_for_other_libraries(kernels):
    x = wl.array(np.arange(6, dtype=np.int32).reshape(2, 3))
    np.testing.assert_array_equal(np.from_dlpack(x), [[0, 1, 2], [3, 4, 5]])
    interface = x.__cuda_array_interface__
    assert interface["shape"] == (2, 3) and interface["typestr"] == "<i4" and interface["data"] == (x.address, False)

    class Other:  # as arrays of CuPy and Numba are
        __cuda_array_interface__ = interface

    kernels.increment[1, 6](Other(), 6)
    np.testing.assert_array_equal(x.numpy().ravel(), np.arange(6) + 1)
    np.testing.assert_array_equal(wl.from_dlpack(np.arange(3.0)).numpy(), [0, 1, 2])


def test_the_same_array_twice_is_one_array(kernels):
    x = np.arange(4, dtype=np.float32)
    kernels.add[1, 4](x, x, x, 4)
    np.testing.assert_array_equal(x, 2 * np.arange(4))


def test_textures(kernels):
    out = np.zeros(6, np.float32)
    texels = np.arange(4, dtype=np.float32).reshape(1, 4)
    kernels.sample[1, 6](wl.Texture(texels), out)
    np.testing.assert_array_equal(out, [0, 1, 2, 3, 3, 3])
    kernels.sample[1, 6](wl.Texture(texels, address="border", border=(9, 0, 0, 0)), out)
    np.testing.assert_array_equal(out, [0, 1, 2, 3, 9, 9])


def test_surfaces(kernels):
    image = wl.zeros((2, 4))
    kernels.draw[2, 4](wl.Surface(image))
    np.testing.assert_array_equal(image, [[0, 1, 2, 3]] * 2)


def test_streams_keep_the_order(kernels):
    with wl.Stream() as stream:
        x = wl.array(np.ones(32, np.float32))
        pending = [kernels.scale[1, 32](x, 2.0, 32, stream=stream) for _ in range(5)]
        reports = [p.result() for p in pending]
        stream.synchronize()
    assert x[0] == 32
    assert all(p.done() for p in pending)
    assert reports[0].metrics["cta_launched"] == 1


def test_errors_of_a_stream_are_those_of_its_launch(kernels):
    with wl.Stream() as stream:
        pending = kernels.write_at[1, 1](np.zeros(1, np.float32), 1 << 30, stream=stream)
        stream.synchronize()
        with pytest.raises(wl.Trap):
            pending.result()


def test_threads_launch_at_the_same_time(kernels):
    results = {}

    def launch(factor):
        x = np.arange(4096, dtype=np.float32)
        for _ in range(5):
            kernels.scale[16, 256](x, float(factor), 4096)
        results[factor] = x

    threads = [threading.Thread(target=launch, args=(f,)) for f in (1, 2, 3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for factor, x in results.items():
        np.testing.assert_array_equal(x, np.arange(4096) * factor ** 5)


def test_progress(kernels):
    calls = []
    kernels.work[64, 32](np.zeros(64 * 32, np.uint32), 3000, progress=lambda done, all: calls.append((done, all)))
    assert calls and calls[-1] == (64, 64)
    assert calls == sorted(calls)


def test_errors_of_progress_stop_the_launch(kernels):
    def fail(done, all):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        kernels.count_for_ever[1, 1](np.zeros(1, np.uint64), progress=fail)
    kernels.nothing[1, 1]()  # later launches run


def test_tools(kernels):
    report = kernels.write_at[1, 1](np.zeros(1, np.float32), 0, tools="memcheck")
    assert report.tool_errors == 0 and report.messages == []
    report = kernels.write_at[1, 1](np.zeros(1, np.float32), 1, tools="memcheck")  # is no trap with tools
    assert report.tool_errors == 1
    assert "Invalid __global__ write of size 4 bytes" in report.messages[0]


def test_without_analysis(kernels):
    x = np.ones(4, np.float32)
    report = kernels.scale[1, 4](x, 3.0, 4, analyze=False)
    assert x[0] == 3
    assert "not analysed" in repr(report)


def test_launch_files(samples):
    result = wl.run(samples / "saxpy", {"grid": 20}, device="gtx480")
    assert result.mismatches == []
    assert result.reports[0].grid == (20, 1, 1) and result.reports[0].device == "gtx480"
    assert result.buffers["y"].dtype == np.float32 and result.buffers["y"][3] == 7


def test_kernels_of_a_module(kernels, saxpy):
    assert [k.source_name for k in saxpy.kernels] == ["saxpy"]
    assert saxpy["_Z5saxpyifPKfPf"].name == saxpy.saxpy.name
    assert [p["source_type"] for p in saxpy.saxpy.parameters] == ["int", "float", "float const*", "float*"]
    assert "scale" in dir(kernels)
    assert "saxpy(int, float, float const*, float*)" in repr(saxpy.saxpy)
    assert all(k["blocked_by"] == "" for k in kernels.summary())


def test_linking():
    head = ".version 8.0\n.target sm_80\n.address_size 64\n"
    one = head + ".extern .global .u32 n;\n.visible .entry k(.param .u64 p) { .reg .u64 %d; .reg .u32 %r;\n" \
                 "ld.param.u64 %d, [p]; ld.global.u32 %r, [n]; st.global.u32 [%d], %r; ret; }\n"
    two = head + ".visible .global .u32 n = 42;\n"
    out = np.zeros(1, np.uint32)
    wl.load_ptx(one, two).k[1, 1](out)
    assert out[0] == 42


def test_python_m_warplens_is_the_command_line():
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-m", "warplens", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"warplens {wl.__version__}\n"
