# SPDX-License-Identifier: Apache-2.0
"""Bad input is an exception of warplens.Error that names what is wrong, and never ends the process."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import warplens as wl
from conftest import SOURCE

F = np.float32


def refused(kind, pattern, function, *arguments, **options):
    with pytest.raises(kind, match=pattern) as caught:
        function(*arguments, **options)
    assert isinstance(caught.value, wl.Error)
    return str(caught.value)


@pytest.mark.parametrize("x, pattern", [
    (np.zeros(4), r"argument 0, parameter .* \(float\*\): expected an array of float32, found one of float64"),
    (np.zeros(4, np.int32), "expected an array of float32, found one of int32"),
    (np.zeros(4, ">f4"), "expected little-endian elements"),
    (np.zeros(8, F)[::2], "expected a contiguous array, found one with strides"),
    (np.zeros((4, 4), F).T, "expected a contiguous array"),
    ("text", "expected an array or a number, found an object of type str"),
    (object(), "found an object of type object"),
    (2.5, "expected an integer, found a float of Python"),
    (1 << 64, "expected an integer of 64 bits"),
    (np.array([None] * 4), "expected an array"),
])
def test_arrays_that_do_not_fit(kernels, x, pattern):
    refused(wl.ArgumentError, pattern, kernels.scale[1, 4], x, F(2), 4)


@pytest.mark.parametrize("value, pattern", [
    (np.float64(2), r"argument 1, parameter .* \(float\): expected float32, found float64"),
    (np.int32(2), "expected float32, found int32"),
    (np.zeros(4, F), "expected a number, found an array"),
    (None, "expected a number, found None"),
    (wl.zeros(4), "expected a number, found an array"),
    (b"12", "expected a number of 4 bytes, found 2 bytes"),
])
def test_scalars_that_do_not_fit(kernels, value, pattern):
    refused(wl.ArgumentError, pattern, kernels.scale[1, 4], np.zeros(4, F), value, 4)


@pytest.mark.parametrize("n", [1 << 32, -(1 << 31) - 1, np.int64(4), 4.0, 1 << 100])
def test_integers_that_do_not_fit(kernels, n):
    refused(wl.ArgumentError, "argument 2", kernels.scale[1, 4], np.zeros(4, F), F(2), n)


def test_structures_that_do_not_fit(kernels):
    y = np.zeros(8)
    refused(wl.ArgumentError, "argument 0.*expected a structure of 16 bytes", kernels.evaluate[1, 8], b"short", y)
    refused(wl.ArgumentError, "expected a structure of 16 bytes, found a number of Python", kernels.evaluate[1, 8], 1, y)
    refused(wl.ArgumentError, "expected a structure of 16 bytes", kernels.evaluate[1, 8], wl.zeros(4), y)


def test_wrong_count(kernels):
    text = refused(wl.ArgumentError, "has 3 parameters, found 2 arguments", kernels.scale[1, 4], np.zeros(4, F), F(2))
    assert "the parameters are: float*, float, int" in text
    refused(wl.ArgumentError, "found 1 argument$", kernels.nothing[1, 1], 1)


def test_read_only_arrays(kernels):
    x = np.ones(4, F)
    x.flags.writeable = False
    refused(wl.ArgumentError, "argument 0: the kernel has written to this array, which is read-only", kernels.scale[1, 4],
            x, F(2), 4)
    np.testing.assert_array_equal(x, [1, 1, 1, 1])
    c = np.zeros(4, F)
    kernels.add[1, 4](x, x, c, 4)  # const parameters may be read-only
    np.testing.assert_array_equal(c, [2, 2, 2, 2])


def test_arrays_that_overlap(kernels):
    x = np.zeros(8, F)
    text = refused(wl.ArgumentError, "arguments 0 and 2 overlap in memory", kernels.add[1, 4], x[:6], np.zeros(4, F), x[2:],
                   4)
    assert "DeviceArray" in text
    kernels.add[1, 4](x[:6], x[2:], np.zeros(4, F), 4)  # only read


def test_memory_of_other_devices(kernels):
    class Other:
        __cuda_array_interface__ = {"shape": (4,), "typestr": "<f4", "data": (0x1000, False), "version": 3}

    refused(wl.ArgumentError, "expected device memory of Warplens, found an object of type Other with memory at 0x1000",
            kernels.scale[1, 4], Other(), F(2), 4)


@pytest.mark.parametrize("grid, block", [(0, 1), (1, 0), (-1, 1), ((1, 2, 3, 4), 1), ("2", 1), (1.5, 1), ((), 1),
                                         (1 << 70, 1), (None, 1)])
def test_extents(kernels, grid, block):
    refused(wl.ArgumentError, "expected one to three positive integers", kernels.nothing[grid, block])


def test_extents_are_missing(kernels):
    refused(wl.ArgumentError, "needs a grid and a block", kernels.nothing)
    refused(wl.ArgumentError, r"expected kernel\[grid, block\]", lambda: kernels.nothing[4])


def test_what_the_device_does_not_allow(kernels):
    refused(wl.LaunchError, "allows 1024 in x", kernels.nothing[1, 4096])
    refused(wl.LaunchError, "shared", kernels.reverse[1, 4], np.zeros(4, np.int32), shared=1 << 20)


def test_options(kernels):
    text = refused(wl.ArgumentError, "no such option of a launch: 'devise'", kernels.nothing[1, 1], devise="h200")
    assert "did you mean 'device'?" in text
    refused(wl.InputError, "hint: .*h200|no such device", kernels.nothing[1, 1], device="h2000x")
    refused(wl.ArgumentError, "shared: expected a number of bytes, found 'much'", kernels.nothing[1, 1], shared="much")
    refused(wl.ArgumentError, "l1: expected", kernels.nothing[1, 1], l1="of")
    refused(wl.InputError, "no.* rule", kernels.nothing[1, 1], rules=["nosuch"])
    refused(wl.LaunchError, "nosuch", kernels.nothing[1, 1], analyzers=["nosuch"])
    refused(wl.InputError, "nosuch", kernels.nothing[1, 1], tools="nosuch")
    refused(wl.ArgumentError, "device: expected a name", kernels.nothing[1, 1], device=3)


def test_ptx_with_errors():
    with pytest.raises(wl.ParseError) as caught:
        wl.load_ptx(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ad.f32 %f1, %f2, %f3; ret; }\n",
                    name="k.ptx")
    text = str(caught.value)
    assert "k.ptx:4:" in text and "^" in text
    assert caught.value.diagnostics[0]["line"] == 4 and caught.value.diagnostics[0]["severity"] == "error"


def test_files():
    refused(wl.InputError, "nosuch.ptx", wl.load, "nosuch.ptx")
    refused(wl.InputError, "nosuch.h5", wl.Trace, "nosuch.h5")
    refused(wl.InputError, "nosuch.toml", wl.run, "nosuch.toml")
    refused(wl.InputError, "nosuch", wl.Device, "nosuch")
    refused(wl.InputError, "nosuch", wl.load_rule, "nosuch")


def test_no_such_kernel(kernels):
    with pytest.raises(AttributeError, match="scal"):
        kernels.scal
    refused(wl.InputError, "scal", lambda: kernels["scal"])
    assert not hasattr(kernels, "nothing_like_it")


def test_traps(kernels):
    x = np.zeros(4, F)
    with pytest.raises(wl.Trap) as caught:
        kernels.write_at[1, 1](x, 4)
    trap = caught.value
    assert trap.kind == "out_of_bounds"
    assert "argument 0" in str(trap), "the message names the memory"
    assert "kernels.ptx:" in str(trap) and "^" in str(trap)
    assert "stopped" in repr(trap.report) and "invalid __global__ write" in trap.report._repr_html_()


def test_step_limit(kernels):
    with pytest.raises(wl.Trap, match="step limit") as caught:
        kernels.count_for_ever[1, 1](np.zeros(1, np.uint64), max_steps=100_000)
    assert caught.value.kind == "step_limit"


def test_use_after_close(kernels):
    module = wl.load_ptx(".version 8.0\n.target sm_80\n.address_size 64\n.visible .global .u32 n;\n"
                         ".visible .entry k() { ret; }\n")
    launch, view = module.k[1, 1], module.variable("n", np.uint32)
    module.close()
    module.close()
    assert module.closed and "closed" in repr(module)
    refused(wl.ClosedError, "closed", launch)
    refused(wl.ClosedError, "closed", lambda: module["k"])
    refused(wl.ClosedError, "closed", module.variable, "n")
    assert view[0] == 0  # a view keeps its memory

    x = wl.zeros(4)
    view = x.numpy()
    x.free()
    assert "freed" in repr(x)
    refused(wl.ClosedError, "freed", x.numpy)
    refused(wl.ClosedError, "freed", kernels.scale[1, 4], x, 2.0, 4)
    view[:] = 3

    texture = wl.Texture(np.zeros((1, 4), F))
    texture.close()
    refused(wl.ClosedError, "closed", kernels.sample[1, 1], texture, np.zeros(1, F))


def test_memory_is_closed_while_a_launch_uses_it(kernels):
    with wl.Stream() as stream:
        for _ in range(20):
            x = wl.zeros(64 * 32, np.uint32)
            pending = kernels.work[64, 32](x, 200, stream=stream)
            x.free()
            try:
                pending.result()
            except wl.ClosedError:
                pass  # freed before the launch began


def test_arrays_that_are_too_large():
    refused(wl.Error, "memory|bytes", wl.zeros, 1 << 60, np.uint8)
    refused(wl.ArgumentError, "negative", wl.zeros, -1)
    refused(wl.ArgumentError, "objects", wl.zeros, 1, object)


def test_textures_that_do_not_fit(kernels):
    refused(wl.ArgumentError, "channels of float64", wl.Texture, np.zeros((2, 2)))
    refused(wl.ArgumentError, "one to three dimensions", wl.Texture, np.zeros((1, 1, 1, 1), F))
    refused(wl.ArgumentError, "last dimension is 4", wl.Texture, np.zeros((2, 2), F), channels=4)
    refused(wl.ArgumentError, "address: expected", wl.Texture, np.zeros((2, 2), F), address="wide")
    refused(wl.ArgumentError, "filter: expected", wl.Texture, np.zeros((2, 2), F), filter="cubic")
    refused(wl.InputError, "no texture", kernels.bind, "nosuch", wl.Texture(np.zeros((2, 2), F)))
    refused(wl.ArgumentError, "found a texture", kernels.scale[1, 4], np.zeros(4, F), wl.Texture(np.zeros((2, 2), F)), 4)


def run(script):
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)


PRELUDE = f"""
import os, signal, threading, time
import numpy as np, warplens as wl
kernels = wl.load({str(SOURCE / 'tests/python/kernels.ptx')!r})
"""


def test_fork_after_use():
    done = run(PRELUDE + """
kernels.work[64, 32](np.zeros(2048, np.uint32), 10)
x, launch = wl.zeros(4), kernels.nothing[1, 1]
child = os.fork()
if child == 0:
    status = 0
    for use in (launch, lambda: kernels.say, lambda: wl.zeros(4), x.numpy, lambda: wl.load_ptx(".version 8.0\\n")):
        try:
            use()
            status = 1
        except wl.ForkError as e:
            assert "spawn" in str(e)
    os._exit(status)
assert os.waitpid(child, 0)[1] == 0
kernels.nothing[1, 1]()
print("fine")
""")
    assert done.stdout == "fine\n", done.stderr


def test_fork_before_use():
    done = run("""
import os, warplens as wl
child = os.fork()
wl.load_ptx(".version 8.0\\n.target sm_80\\n.address_size 64\\n.visible .entry k() { ret; }\\n").k[1, 1]()
if child == 0:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print("fine")
""")
    assert done.stdout == "fine\n", done.stderr


@pytest.mark.parametrize("how", ["", ", progress=lambda done, all: None", ", stream=wl.Stream()"],
                         ids=["plain", "progress", "stream"])
def test_keyboard_interrupt(how):
    done = run(PRELUDE + f"""
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
began = time.time()
try:
    result = kernels.count_for_ever[1, 1](np.zeros(1, np.uint64){how})
    result.result()
except KeyboardInterrupt:
    assert time.time() - began < 20
    kernels.nothing[1, 1]()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    print("interrupted")
""")
    assert done.stdout == "interrupted\n", done.stderr


def test_launches_do_not_hold_the_lock(kernels):
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.perf_counter()
    kernels.work[64, 256](np.zeros(64 * 256, np.uint32), 20000, analyze=False)
    end = time.perf_counter()
    done.set()
    thread.join()
    during = [t for t in ticks if begin < t < end]
    assert len(during) >= min(5, (end - begin) / 0.02)


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="needs SIGALRM")
def test_a_handler_of_the_user_stays(kernels):
    seen = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with pytest.raises(wl.Trap):  # the handler does not raise, and the launch has been stopped
            kernels.count_for_ever[1, 1](np.zeros(1, np.uint64))
        assert seen == [1]
        assert signal.getsignal(signal.SIGINT) is not before
        kernels.nothing[1, 1]()
    finally:
        signal.signal(signal.SIGINT, before)
