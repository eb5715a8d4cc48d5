# SPDX-License-Identifier: Apache-2.0
"""Arguments as users write them: what is accepted, what is refused, and what the messages advise."""

import array
import copy
import ctypes
import pickle
import re

import numpy as np
import pytest

import warplens as wl

F = np.float32


def refused(pattern, function, *arguments, **options):
    with pytest.raises(wl.ArgumentError, match=pattern) as caught:
        function(*arguments, **options)
    return str(caught.value)


def doubled(kernels, x, n=4):
    kernels.scale[1, 4](x, 2.0, n)
    return x


def test_arrays_without_dimensions_are_memory_for_pointers(kernels):
    x = np.array(3, F)
    assert doubled(kernels, x, 1) == 6
    counter = np.zeros((), np.int32)
    kernels.increment[1, 1](counter, 1)  # the name of this kernel has no types
    assert counter == 1
    np.testing.assert_array_equal(doubled(kernels, np.ones(4, F), np.array(4, np.int32)), [2] * 4)  # a number
    out = np.zeros((), np.uint64)
    kernels.pointer_bits[1, 1](np.uint64(7), out)
    assert out == 7


@pytest.mark.parametrize("make", [lambda: array.array("f", [1] * 4), lambda: (ctypes.c_float * 4)(1, 1, 1, 1),
                                  lambda: memoryview(np.ones(4, F)), lambda: np.full(2, 1 + 1j, np.complex64),
                                  lambda: np.asfortranarray(np.ones((1, 4), F)),
                                  lambda: np.ones(4, F).view([("x", F), ("y", F)])],
                         ids=["array", "ctypes", "memoryview", "complex", "fortran", "structure"])
def test_other_arrays(kernels, make):
    x = make()
    np.testing.assert_array_equal(np.frombuffer(doubled(kernels, x), F), [2] * 4)


def test_elements_that_buffers_cannot_describe_are_bytes(kernels):
    days = np.array([0, 1], "M8[D]")
    kernels.increment[1, 1](days, 1)
    assert str(days[0]) == "1970-01-02"
    x = wl.array(days)
    kernels.increment[1, 1](x, 1)
    assert str(x[0]) == "1970-01-03"


@pytest.mark.parametrize("x, pattern, hint", [
    ([1.0, 2.0], "found an object of type list", r"numpy.array\(x, numpy.float32\)"),
    (type("Series", (), {"__array__": lambda self: np.ones(4, F)})(), "found an object of type Series", "numpy.asarray"),
    (np.zeros(4, "U1"), "expected an array of float32, found one of characters of 4 bytes", ""),
    (np.zeros(4, "S4"), "expected an array of float32, found one of characters", ""),
    (b"1234", "expected an array of float32, found one of uint8", ""),
    (np.uint32(5), "expected an array or an address, found uint32", ""),
    (F(5), "expected an array or an address, found float32", ""),
    (ctypes.pointer(ctypes.c_float(3)), "expected device memory, found a pointer of ctypes", "pass the array itself"),
])
def test_memory_that_does_not_fit(kernels, x, pattern, hint):
    text = refused(pattern, kernels.scale[1, 4], x, 2.0, 4)
    assert re.search(hint, text)


def test_bytes_are_arrays_that_are_only_read(kernels):
    with pytest.raises(wl.ArgumentError, match="read-only"):
        kernels.increment[1, 1](np.frombuffer(bytes(8), np.int32), 2)


@pytest.mark.parametrize("value, pattern", [
    (np.complex64(2), "expected float32, found complex64"),
    (10**400, "an integer that no float can hold"),
    (np.array([2], F), r"x.item\(\)"),
    (np.str_("2"), "expected float32, found characters"),
    (2j, "expected a number, found an object of type complex"),
])
def test_numbers_that_do_not_fit(kernels, value, pattern):
    refused(pattern, kernels.scale[1, 4], np.ones(4, F), value, 4)


def test_numbers_of_kernels_without_types_are_checked(kernels):
    refused("argument 1.*found float32", kernels.increment[1, 1], np.zeros(1, np.int32), F(1))


def test_structures_need_the_layout_of_c(kernels):
    fields = [("slope", "f8"), ("offset", "i4")]
    text = refused("expected a structure of 16 bytes, found a structure of 12 bytes", kernels.evaluate[1, 4],
                   np.array((2, 1), fields), np.zeros(4))
    assert "align=True" in text
    refused("expected a structure of 16 bytes, found an object of type tuple", kernels.evaluate[1, 4], (2.0, 1), np.zeros(4))


class Other:
    def __init__(self, interface):
        self.__cuda_array_interface__ = interface


@pytest.mark.parametrize("change, pattern", [
    ({"data": None}, "'data'"), ({"data": ("x", False)}, "'data'"), ({"typestr": 3}, "'typestr'"),
    ({"typestr": ""}, "'typestr'"), ({"shape": None}, "'shape'"), ({"typestr": ">f4"}, "expected little-endian"),
    ({"strides": (4, 8)}, "expected a contiguous array"), ({"mask": 1}, "one with a mask"),
    ({"typestr": "<f8"}, "expected an array of float32"),
])
def test_interfaces_of_other_libraries_that_do_not_fit(kernels, change, pattern):
    x = wl.zeros((2, 4))
    refused(pattern, kernels.scale[1, 8], Other({**x.__cuda_array_interface__, **change}), 2.0, 8)
    refused("'__cuda_array_interface__'", kernels.scale[1, 8], Other(3), 2.0, 8)


def test_interfaces_of_other_libraries(kernels):
    x = wl.array(np.ones((2, 4), F))
    kernels.scale[1, 8](Other({**x.__cuda_array_interface__, "strides": (16, 4)}), 2.0, 8)
    assert (x == 2).all()
    kernels.scale[1, 8](Other(wl.zeros(0).__cuda_array_interface__), 2.0, 0)


def test_grids_are_also_arrays_of_numpy(kernels):
    report = kernels.nothing[np.array([2, 3]), np.array(32)]()
    assert report.grid == (2, 3, 1) and report.block == (32, 1, 1)
    refused("expected one to three positive integers", kernels.nothing["12", 1])
    text = refused(r"expected kernel\[grid, block\]", lambda: kernels.nothing[1, 1, None, 0])
    assert "shared=" in text
    assert repr(kernels.nothing[2, 32]) == "<launch of nothing: grid 2, block 32>"


@pytest.mark.parametrize("options, pattern", [
    ({"trace": 3}, "trace: expected the name of a file"), ({"progress": 3}, "progress: expected a function"),
    ({"stream": 3}, "stream: expected a warplens.Stream"), ({"rules": 3}, "rules: expected one or a list"),
    ({"models": ["dasgupta"]}, "models: expected functions"), ({"analyzers": [int]}, "analyzers: expected a name"),
    ({"tools": 3}, "tools: expected names"), ({"merged": [print]}, "no such option of a launch: 'merged'"),
    ({"max_steps": -1}, "max_steps: expected a positive integer, or 0"), ({"x": 1}, "the arguments of the kernel have no names"),
])
def test_options_that_do_not_fit(kernels, options, pattern):
    refused(pattern, kernels.nothing[1, 1], **options)


def test_options_that_are_none_or_one_or_several(kernels):
    kernels.nothing[1, 1](rules=None, analyzers=None, models=None, tools=["memcheck", "racecheck"])
    assert "rule.1.2.transactions" in kernels.nothing[1, 1](rules="1.2").metrics


def test_device_arrays_compute_on_the_host():
    x = wl.array(np.arange(4, dtype=F), name="x")
    view = x.numpy()
    assert ((x == view).all(), (x + 1)[3], np.sum(x), float(wl.array(3.0))) == (True, 4, 6, 3)
    x += 1
    assert isinstance(x, wl.DeviceArray) and view[0] == 1
    with pytest.raises(AttributeError, match=r"use numpy\(\).sum"):
        x.sum()
    with pytest.raises(AttributeError):
        x.shape = (2, 2)
    for other in (copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x.copy()):
        assert other.address != x.address and other.name == "x" and (other == x).all()
    assert x in {x}


@pytest.mark.parametrize("make, pattern", [
    (lambda: wl.zeros(3.5), "shape: expected a number"), (lambda: wl.zeros(None), "shape: expected a number"),
    (lambda: wl.zeros("3"), "shape: expected a number"), (lambda: wl.zeros((2, -1)), "negative"),
    (lambda: wl.zeros(3, "nosuch"), "dtype: data type 'nosuch'"), (lambda: wl.zeros(3, "V0"), "have no bytes"),
    (lambda: wl.array([[1], [1, 2]]), "values: "), (lambda: wl.zeros(3, name=3), "name: expected a text"),
    (lambda: wl.zeros(3).copy_from(np.zeros(7)), "values: could not broadcast"),
    (lambda: wl.from_dlpack([1, 2]), "expected an object with __dlpack__"),
    (lambda: wl.zeros(3).__dlpack__(stream=1), "stream: "),
])
def test_device_arrays_that_cannot_be(make, pattern):
    refused(pattern, make)


def test_dlpack():
    class Remote:
        __dlpack__ = None

        def __dlpack_device__(self):
            return (2, 0)  # kDLCUDA

    refused("found one of a device of type 2", wl.from_dlpack, Remote())
    x = wl.array(np.arange(3, dtype=F))
    assert "dltensor" in repr(x.__dlpack__(max_version=(1, 0), copy=True, dl_device=(1, 0)))
    with pytest.raises(BufferError):
        x.__dlpack__(dl_device=(2, 0))


@pytest.mark.parametrize("make, pattern", [
    (lambda: wl.Texture(None), "a texture needs an array, found None"),
    (lambda: wl.Surface(None), "a surface needs an array, found None"),
    (lambda: wl.Texture(np.zeros((1, 4), F), channels=0), "channels: expected an integer from 1 to 4"),
    (lambda: wl.Texture(np.zeros((1, 4), F), address=3), "address: expected a word"),
    (lambda: wl.Texture(np.zeros((1, 4), F), border="red"), "border: expected up to four numbers"),
    (lambda: wl.Texture(np.zeros((1, 4), F), border=range(5)), "border: expected up to four numbers"),
    (lambda: wl.Texture(np.zeros(4, F), layered=True), "layers"),
])
def test_textures_that_cannot_be(make, pattern):
    refused(pattern, make)


def test_textures_have_a_text_and_an_end(kernels):
    with wl.Texture(np.zeros((1, 4), F), name="colours") as texture:
        assert repr(texture).startswith("<texture colours of <DeviceArray (1, 4)")
    assert "closed" in repr(texture) and texture.closed


def test_modules_are_collections_of_kernels(kernels, saxpy):
    assert "scale" in kernels and "scal" not in kernels and 3 not in kernels
    assert [kernel.source_name for kernel in saxpy] == ["saxpy"] and len(saxpy) == 1
    assert kernels._Z5scalePffi.name == "_Z5scalePffi"
    refused("kernel: expected the name", lambda: kernels[0])
    refused("dtype: variable 'table' has 16 bytes", kernels.variable, "table", "V3")
    refused("name: expected", kernels.variable, 3)
    refused("text: expected PTX", wl.load_ptx, None)
    refused("file: expected the name of a file", wl.load, None)
    with pytest.raises(wl.InputError, match="not UTF-8"):
        wl.load("/nosuch/\udcff.ptx")
    saxpy.close()
    assert not hasattr(saxpy, "_repr_html_")  # as notebooks ask


def test_instances_of_templates():
    module = wl.load_ptx(".version 8.0\n.target sm_80\n.address_size 64\n" + "".join(
        f".visible .entry _Z5scaleI{t}EvPT_(.param .u64 x) {{ ret; }}\n" for t in "fd"))
    with pytest.raises(AttributeError, match=r"instances of this template: scale<float>, scale<double>"):
        module.scale
    assert "scale" not in module and "scale<float>" in module
    assert module["scale<double>"].source_name == "scale<double>"
