"""What textures.py needs of the CUDA driver, through ctypes: no CUDA toolkit and no Python package.

    device = Driver(); array = device.texture({...}, data); handle = device.texture_object(array, {...})
"""
import ctypes
from ctypes import POINTER, Structure, Union, byref, c_char_p, c_float, c_int, c_size_t, c_uint, c_ulonglong, c_void_p

FORMATS = {  # name: number in the driver, bits of a component
    "u8": (0x01, 8), "u16": (0x02, 16), "u32": (0x03, 32), "s8": (0x08, 8), "s16": (0x09, 16), "s32": (0x0A, 32),
    "f16": (0x10, 16), "f32": (0x20, 32), "unorm8": (0xC0, 8), "unorm16": (0xC3, 16), "snorm8": (0xC6, 8), "snorm16": (0xC9, 16)}
ADDRESS = {"wrap": 0, "clamp": 1, "mirror": 2, "border": 3}
FILTER = {"point": 0, "linear": 1}
LAYERED, SURFACE, CUBEMAP, GATHER, DEPTH = 1, 2, 4, 8, 16  # CUDA_ARRAY3D_…
INTEGER, NORMALIZED, SRGB, NO_TRILINEAR, SEAMLESS = 0x01, 0x02, 0x10, 0x20, 0x40  # CU_TRSF_…


class ArrayDescription(Structure):
    _fields_ = [("width", c_size_t), ("height", c_size_t), ("depth", c_size_t), ("format", c_int), ("channels", c_uint),
                ("flags", c_uint)]


class Place(Structure):  # one side of a copy
    _fields_ = [("x", c_size_t), ("y", c_size_t), ("z", c_size_t), ("level", c_size_t), ("kind", c_int), ("host", c_void_p),
                ("device", c_ulonglong), ("array", c_void_p), ("reserved", c_void_p), ("pitch", c_size_t), ("height", c_size_t)]


class Copy(Structure):
    _fields_ = [("source", Place), ("target", Place), ("width", c_size_t), ("height", c_size_t), ("depth", c_size_t)]


class Linear(Structure):
    _fields_ = [("address", c_ulonglong), ("format", c_int), ("channels", c_uint), ("size", c_size_t)]


class Pitched(Structure):
    _fields_ = [("address", c_ulonglong), ("format", c_int), ("channels", c_uint), ("width", c_size_t), ("height", c_size_t),
                ("pitch", c_size_t)]


class AnyResource(Union):
    _fields_ = [("array", c_void_p), ("linear", Linear), ("pitched", Pitched), ("reserved", c_int * 32)]


class Resource(Structure):
    _fields_ = [("kind", c_int), ("of", AnyResource), ("flags", c_uint)]


class Sampler(Structure):
    _fields_ = [("address", c_int * 3), ("filter", c_int), ("flags", c_uint), ("anisotropy", c_uint), ("mip_filter", c_int),
                ("bias", c_float), ("low", c_float), ("high", c_float), ("border", c_float * 4), ("reserved", c_int * 12)]


class DriverError(Exception):
    pass


def extents(texture, level):
    """Width, height and depth of a level as memory; layers and faces count as depth."""
    w, h, d = (max(1, e >> level) for e in (texture["size"] + [1, 1])[:3])
    layers = texture.get("layers", 1)
    if "cube" in texture["kind"]:
        layers *= 6
    return w, h, d * layers


class Driver:
    def __init__(self):
        self.lib = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, context = c_int(), c_void_p()
        self.call("cuDeviceGet", byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.modules = {}

    def call(self, name, *arguments):
        status = getattr(self.lib, name)(*arguments)
        if status != 0:
            raise DriverError(f"{name} {status}")

    def kernel(self, ptx):
        if ptx not in self.modules:
            module, function, log = c_void_p(), c_void_p(), ctypes.create_string_buffer(2000)
            options = (c_int * 2)(5, 6)  # CU_JIT_ERROR_LOG_BUFFER and its size
            values = (c_void_p * 2)(ctypes.addressof(log), 2000)
            status = self.lib.cuModuleLoadDataEx(byref(module), c_char_p(ptx.encode()), 2, options, values)
            if status != 0:
                raise DriverError(f"cuModuleLoadDataEx {status} {log.value.decode()[:200]}")
            self.call("cuModuleGetFunction", byref(function), module, c_char_p(b"k"))
            self.modules[ptx] = function
        return self.modules[ptx]

    def memory(self, data):
        address = c_ulonglong()
        self.call("cuMemAlloc_v2", byref(address), c_size_t(max(len(data), 16)))
        self.call("cuMemcpyHtoD_v2", address, data, c_size_t(len(data)))
        return address

    def read(self, address, size):
        data = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", data, address, c_size_t(size))
        return data.raw

    def texture(self, texture, levels):
        """The array that holds `levels`, the bytes of each level."""
        number, bits = FORMATS[texture["format"]]
        channels = texture["channels"]
        flags = 0
        kind = texture["kind"]
        if kind in ("a1d", "a2d", "acube"):
            flags |= LAYERED
        if "cube" in kind:
            flags |= CUBEMAP
        for name, flag in (("surface", SURFACE), ("gather", GATHER), ("depth", DEPTH)):
            if texture.get(name):
                flags |= flag
        w, h, d = extents(texture, 0)
        if number >= 0xC0:
            number += {1: 0, 2: 1, 4: 2}[channels]
        if kind == "linear":
            return self.memory(levels[0])
        if kind == "pitch":
            row, pitch = w * channels * bits // 8, 512
            return self.memory(b"".join(levels[0][y * row:(y + 1) * row].ljust(pitch, b"\xee") for y in range(h)))
        shape = ArrayDescription(w, 0 if kind in ("1d", "a1d") else h, 0 if kind in ("1d", "2d") else d, number, channels, flags)
        array = c_void_p()
        if len(levels) == 1:
            self.call("cuArray3DCreate_v2", byref(array), byref(shape))
            self.copy(texture, array, 0, levels[0], True)
            return array
        self.call("cuMipmappedArrayCreate", byref(array), byref(shape), c_uint(len(levels)))
        for i, data in enumerate(levels):
            level = c_void_p()
            self.call("cuMipmappedArrayGetLevel", byref(level), array, c_uint(i))
            self.copy(texture, level, i, data, True)
        return array

    def copy(self, texture, array, level, data, to_device):
        w, h, d = extents(texture, level)
        row = w * texture["channels"] * FORMATS[texture["format"]][1] // 8
        host = ctypes.create_string_buffer(data, len(data))
        memory = Place(kind=1, host=ctypes.addressof(host), pitch=row, height=h)
        place = Place(kind=3, array=array.value)
        copy = Copy(memory if to_device else place, place if to_device else memory, row, h, d)
        self.call("cuMemcpy3D_v2", byref(copy))
        return host.raw

    def resource(self, texture, array, levels):
        number, bits = FORMATS[texture["format"]]
        w, h, _ = extents(texture, 0)
        resource = Resource(kind=0 if levels == 1 else 1)
        if texture["kind"] == "linear":
            resource.kind = 2
            resource.of.linear = Linear(array.value, number, texture["channels"], w * texture["channels"] * bits // 8)
        elif texture["kind"] == "pitch":
            resource.kind = 3
            resource.of.pitched = Pitched(array.value, number, texture["channels"], w, h, 512)
        else:
            resource.of.array = array.value
        return resource

    def texture_object(self, texture, array, levels, sampler):
        flags = INTEGER if sampler.get("read", "element") == "element" else 0
        for name, flag in (("normalized", NORMALIZED), ("srgb", SRGB), ("trilinear_off", NO_TRILINEAR), ("seamless", SEAMLESS)):
            if sampler.get(name):
                flags |= flag
        modes = sampler.get("address", "clamp")
        modes = [modes] * 3 if isinstance(modes, str) else modes
        low, high = sampler.get("lod", [0, 0])
        state = Sampler((c_int * 3)(*(ADDRESS[m] for m in modes)), FILTER[sampler.get("filter", "point")], flags,
                        sampler.get("anisotropy", 0), FILTER[sampler.get("mip", "point")], sampler.get("bias", 0), low, high,
                        (c_float * 4)(*sampler.get("border", [0, 0, 0, 0])))
        handle = c_ulonglong()
        resource = self.resource(texture, array, levels)
        self.call("cuTexObjectCreate", byref(handle), byref(resource), byref(state), None)
        return handle

    def surface_object(self, texture, array, levels):
        handle = c_ulonglong()
        resource = self.resource(texture, array, levels)
        self.call("cuSurfObjectCreate", byref(handle), byref(resource))
        return handle

    def launch(self, kernel, blocks, threads, arguments):
        pointers = (c_void_p * len(arguments))(*(ctypes.addressof(a) for a in arguments))
        self.call("cuLaunchKernel", kernel, blocks, 1, 1, threads, 1, 1, 0, None, pointers, None)
        self.call("cuCtxSynchronize")
