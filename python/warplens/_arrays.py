# SPDX-License-Identifier: Apache-2.0
"""Device memory that stays between launches, and textures of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from warplens import _core
from warplens._errors import ArgumentError

Shape = int | Iterable[int]


class DeviceArray(_core.DeviceMemory):
    """An array in device memory: kernels use it without copies, and its memory is the same in every launch.

    Device memory is memory of this process: ``numpy()`` is a view of it, not a copy. The array has C order. It has
    ``__cuda_array_interface__``, ``__dlpack__`` and ``__array__``.

    >>> x = wl.zeros(1024, np.float32)
    >>> module.fill[4, 256](x, np.float32(3))
    >>> x.numpy()[:2]
    array([3., 3.], dtype=float32)
    """

    #: Elements of each dimension.
    shape: tuple[int, ...]
    #: The type of an element.
    dtype: np.dtype[Any]

    def __init__(self, shape: Shape, dtype: npt.DTypeLike = np.float32, name: str = "") -> None:
        """Memory of zeros. `name` is for reports and messages."""
        self.shape = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(int(n) for n in shape)
        self.dtype = np.dtype(dtype)
        if self.dtype.hasobject:
            raise ArgumentError(f"dtype: {self.dtype} contains objects of Python")
        if any(n < 0 for n in self.shape):
            raise ArgumentError(f"shape: {self.shape} has a negative number")
        size = self.dtype.itemsize
        for n in self.shape:
            size *= n
        if size >= 1 << 63:
            raise ArgumentError(f"shape: {self.shape} has more than 2^63 bytes")
        layout = np.empty(0, self.dtype).data.format
        super().__init__(size, name, layout, self.dtype.itemsize)

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
        self.numpy()[...] = values
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

    def __dlpack__(self, **options: Any) -> Any:
        # The memory is memory of this process, so it is the CPU's for other libraries.
        return self.numpy().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # kDLCPU

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


def zeros(shape: Shape, dtype: npt.DTypeLike = np.float32, name: str = "") -> DeviceArray:
    """Device memory of zeros."""
    return DeviceArray(shape, dtype, name)


def array(values: npt.ArrayLike, dtype: npt.DTypeLike | None = None, name: str = "") -> DeviceArray:
    """A copy of `values` in device memory."""
    source = np.asarray(values, dtype=dtype)
    return DeviceArray(source.shape, source.dtype, name).copy_from(source)


def from_dlpack(other: Any, name: str = "") -> DeviceArray:
    """A copy of an array of another library, which has ``__dlpack__`` and lies in memory of the CPU."""
    return array(np.from_dlpack(other), name=name)


#: dtype -> type of a channel
_CHANNELS = {"uint8": "u8", "int8": "s8", "uint16": "u16", "int16": "s16", "uint32": "u32", "int32": "s32",
             "float16": "f16", "float32": "f32"}


class _TextureBase(_core.Texture):
    #: The texels; None: a sampler.
    array: DeviceArray | None

    def _make(self, kind: str, values: DeviceArray | npt.ArrayLike | None, channels: int, layered: bool, address: str,
              filter: str, normalized: bool, read_normalized: bool, border: Iterable[float], name: str) -> None:
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
        if filter not in ("nearest", "linear"):
            raise ArgumentError(f'filter: expected "nearest" or "linear", found {filter!r}')
        colour = [*border, 0.0, 0.0, 0.0, 0.0][:4]
        super().__init__(kind, memory, shape, channel, channels, layered, address, filter == "linear", normalized,
                         read_normalized, colour, name)
        self.array = memory


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
