# SPDX-License-Identifier: Apache-2.0
"""Device memory that stays between launches, and textures of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from warplens import _core
from warplens._checks import checked, dtype_of, integer
from warplens._errors import ArgumentError, Error

Shape = int | Iterable[int]


class DeviceArray(_core.DeviceMemory, np.lib.mixins.NDArrayOperatorsMixin):
    """An array in device memory: kernels use it without copies, and its memory is the same in every launch.

    Device memory is memory of this process: ``numpy()`` is a view of it, not a copy. The array has C order. It has
    ``__cuda_array_interface__``, ``__dlpack__`` and ``__array__``. Operators and functions of numpy, such as ``x + 1`` and
    ``np.sum(x)``, compute on the host and return arrays of numpy; ``x += 1`` changes the device memory.

    >>> x = wl.zeros(1024, np.float32)
    >>> module.fill[4, 256](x, np.float32(3))
    >>> x.numpy()[:2]
    array([3., 3.], dtype=float32)
    """

    def __init__(self, shape: Shape, dtype: npt.DTypeLike = np.float32, name: str = "") -> None:
        """Memory of zeros. `name` is for reports and messages."""
        self._shape = _shape_of(shape)
        self._dtype = dtype_of(dtype)
        size = self.dtype.itemsize
        for n in self.shape:
            size *= n
        if size >= 1 << 63:
            raise ArgumentError(f"shape: {self.shape} has more than 2^63 bytes")
        try:
            layout = np.empty(0, self.dtype).data.format
        except (BufferError, ValueError):  # datetime64 and others that buffers cannot describe: bytes
            layout = f"{self.dtype.itemsize}x"
        super().__init__(size, checked("name", name, str, "a text"), layout, self.dtype.itemsize)

    @property
    def shape(self) -> tuple[int, ...]:
        """Elements of each dimension."""
        return self._shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of an element."""
        return self._dtype

    @property
    def size(self) -> int:
        """Elements."""
        return self.bytes // self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes."""
        return self.bytes

    @property
    def ndim(self) -> int:
        """Dimensions."""
        return len(self.shape)

    def numpy(self) -> npt.NDArray[Any]:
        """The memory as an array of numpy, without a copy. It remains valid after free()."""
        return np.frombuffer(self.view(), dtype=self.dtype).reshape(self.shape)

    def copy_from(self, values: npt.ArrayLike) -> DeviceArray:
        """Overwrites the elements; `values` has the same shape, or one that numpy can broadcast."""
        try:
            self.numpy()[...] = values
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"values: {error}") from None
        return self

    def free(self) -> None:
        """Gives the memory back as soon as no launch and no view uses it. Later uses raise ClosedError."""
        self.close()

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        values = self.numpy()
        if dtype is not None and np.dtype(dtype) != self.dtype:
            return values.astype(dtype)
        return values.copy() if copy else values

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": self.shape, "typestr": self.dtype.str, "descr": self.dtype.descr, "strides": None,
                "data": (self.address if self.bytes else 0, False), "version": 3, "stream": None}

    def __dlpack__(self, *, stream: Any = None, max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any:
        # The memory is memory of this process, so it is the CPU's for other libraries.
        if stream is not None:
            raise ArgumentError(f"stream: memory of the CPU has none, found {stream!r}")
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"the array is in memory of the CPU, not of the device {dl_device}")
        values = self.numpy().copy() if copy else self.numpy()
        options: dict[str, Any] = {} if max_version is None else {"max_version": max_version}
        try:
            return values.__dlpack__(**options)
        except TypeError:  # numpy before 2.1 knows no versions
            return values.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # kDLCPU

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        targets = options.get("out", ())
        if targets:
            options["out"] = tuple(_on_host(one) for one in targets)
        result = getattr(ufunc, method)(*map(_on_host, inputs), **options)
        return targets[0] if len(targets) == 1 else result

    # Arrays are distinct objects, although == compares elements.
    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        return bool(self.numpy())

    def __int__(self) -> int:
        return int(self.numpy())

    def __float__(self) -> float:
        return float(self.numpy())

    def __reduce__(self) -> Any:
        return array, (self.numpy().copy(), None, self.name)

    def copy(self) -> DeviceArray:
        """Another array with the same elements."""
        return array(self, name=self.name)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            of_numpy = ": use numpy()." + name if hasattr(np.ndarray, name) else ""
            raise AttributeError(f"a DeviceArray has no {name!r}{of_numpy}")

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without dimensions has no length")
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        return self.numpy()[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.numpy()[key] = value

    def __enter__(self) -> DeviceArray:
        return self

    def __exit__(self, *_: object) -> None:
        self.free()

    def __repr__(self) -> str:
        name = f", name={self.name!r}" if not self.closed and self.name else ""
        place = "freed" if self.closed else f"at 0x{self.address:x}"
        return f"<DeviceArray {self.shape} of {self.dtype} {place}{name}>"


def _on_host(value: Any) -> Any:
    return value.numpy() if isinstance(value, DeviceArray) else value


def _shape_of(shape: Any) -> tuple[int, ...]:
    try:
        extents = [shape] if hasattr(shape, "__index__") and np.ndim(shape) == 0 else list(shape)
        if isinstance(shape, str):
            raise TypeError
    except TypeError:
        raise ArgumentError(f"shape: expected a number, or one for each dimension, found {shape!r}") from None
    if any(hasattr(n, "__index__") and n < 0 for n in extents):
        raise ArgumentError(f"shape: {shape} has a negative number")
    return tuple(integer("shape", n, 0, 1 << 64) for n in extents)


def zeros(shape: Shape, dtype: npt.DTypeLike = np.float32, name: str = "") -> DeviceArray:
    """Device memory of zeros."""
    return DeviceArray(shape, dtype, name)


def array(values: npt.ArrayLike, dtype: npt.DTypeLike | None = None, name: str = "") -> DeviceArray:
    """A copy of `values` in device memory."""
    try:
        source = np.asarray(values, dtype=dtype)
    except (TypeError, ValueError) as error:
        if isinstance(error, Error):
            raise
        raise ArgumentError(f"values: {error}") from None
    return DeviceArray(source.shape, source.dtype, name).copy_from(source)


def from_dlpack(other: Any, name: str = "") -> DeviceArray:
    """A copy of an array of another library, which has ``__dlpack__`` and lies in memory of the CPU."""
    if not hasattr(other, "__dlpack__") or not hasattr(other, "__dlpack_device__"):
        raise ArgumentError(f"expected an object with __dlpack__, found one of type {type(other).__name__}\n"
                            "  hint: warplens.array() copies lists and arrays of numpy")
    kind = int(other.__dlpack_device__()[0])
    if kind not in _DLPACK_HOST:
        raise ArgumentError(f"expected an array in memory of the CPU, found one of a device of type {kind}")
    try:
        return array(np.from_dlpack(other), name=name)
    except (BufferError, RuntimeError) as error:
        if isinstance(error, Error):
            raise
        raise ArgumentError(str(error)) from None


#: Types of devices of DLPack: the CPU, and memory of the CPU that CUDA has pinned.
_DLPACK_HOST = (1, 3)
#: dtype -> type of a channel
_CHANNELS = {"uint8": "u8", "int8": "s8", "uint16": "u16", "int16": "s16", "uint32": "u32", "int32": "s32",
             "float16": "f16", "float32": "f32"}


class _TextureBase(_core.Texture):
    #: The texels; None: a sampler.
    array: DeviceArray | None

    def _make(self, kind: str, values: DeviceArray | npt.ArrayLike | None, channels: int, layered: bool, address: str,
              filter: str, normalized: bool, read_normalized: bool, border: Iterable[float], name: str) -> None:
        checked("name", name, str, "a text")
        checked("address", address, str, "a word")
        integer("channels", channels, 1, 4)
        if values is None and kind != "sampler":
            raise ArgumentError(f"a {kind} needs an array, found None")
        memory = values if isinstance(values, DeviceArray) or values is None else array(values, name=name)
        shape: list[int] = []
        channel = "f32"
        if memory is not None:
            if memory.dtype.name not in _CHANNELS:
                raise ArgumentError(f"a texture cannot have channels of {memory.dtype}: expected one of "
                                    + ", ".join(_CHANNELS))
            channel = _CHANNELS[memory.dtype.name]
            shape = list(memory.shape if channels == 1 else memory.shape[:-1])
            if channels != 1 and (not memory.shape or memory.shape[-1] != channels):
                raise ArgumentError(f"{channels} channels need an array whose last dimension is {channels}, "
                                    f"found shape {memory.shape}")
            if not 1 <= len(shape) <= 3:
                raise ArgumentError(f"a texture has one to three dimensions, found {len(shape)}")
            if layered and len(shape) == 1:
                raise ArgumentError("the first dimension of a layered texture are its layers, found only one dimension")
        if filter not in ("nearest", "linear"):
            raise ArgumentError(f'filter: expected "nearest" or "linear", found {filter!r}')
        try:
            colour = [float(part) for part in border]
        except (TypeError, ValueError):
            raise ArgumentError(f"border: expected up to four numbers, found {border!r}") from None
        if len(colour) > 4:
            raise ArgumentError(f"border: expected up to four numbers, found {len(colour)}")
        colour += [0.0] * (4 - len(colour))
        super().__init__(kind, memory, shape, channel, channels, layered, address, filter == "linear", normalized,
                         read_normalized, colour, name)
        self.array = memory
        self._kind, self._name = kind, name

    def __enter__(self) -> _TextureBase:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        of = f" of {self.array!r}" if self.array is not None else ""
        return f"<{self._kind} {self._name}{', closed' if self.closed else ''}{of}>"


class Texture(_TextureBase):
    """A texture: an argument of a kernel, or bound to a texture variable by ``module.bind()``.

    The array has shape ``(width,)``, ``(height, width)`` or ``(depth, height, width)``; with several channels they are
    the last dimension. Coordinates are in texels, or from 0 to 1 if `normalized`.
    """

    def __init__(self, values: DeviceArray | npt.ArrayLike, *, channels: int = 1, layered: bool = False,
                 address: str = "clamp", filter: str = "nearest", normalized: bool = False,
                 read_normalized: bool = False, border: Iterable[float] = (0, 0, 0, 0), name: str = "texture") -> None:
        self._make("texture", values, channels, layered, address, filter, normalized, read_normalized, border, name)


class Surface(_TextureBase):
    """A surface: kernels read and write its texels. Pass a DeviceArray to see what they have written."""

    def __init__(self, values: DeviceArray | npt.ArrayLike, *, channels: int = 1, layered: bool = False,
                 name: str = "surface") -> None:
        self._make("surface", values, channels, layered, "clamp", "nearest", False, False, (), name)


class Sampler(_TextureBase):
    """A sampler without texels, for PTX that separates the two."""

    def __init__(self, *, address: str = "clamp", filter: str = "nearest", normalized: bool = False,
                 border: Iterable[float] = (0, 0, 0, 0), name: str = "sampler") -> None:
        self._make("sampler", None, 1, False, address, filter, normalized, False, border, name)
