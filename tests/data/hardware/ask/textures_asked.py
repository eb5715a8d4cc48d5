"""The questions of textures.py: sets of inputs, and what is done with them."""
import struct

NAN, INF = float("nan"), float("inf")
ALL = ["d0", "d1", "d2", "d3"]
SPECIAL = [NAN, INF, -INF, 0.0, -0.0, 1e-40, -1e-40, 1e-6, -1e-6, 1e5, -1e5, 3e9, -3e9, 1e20, -1e20, 16777217.0]


def bits(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def word(x):
    return bits(x) if isinstance(x, float) else x & 0xFFFFFFFF


def near(x, steps):
    """The floats around x, in steps of the last place (x positive)."""
    return struct.unpack("<f", struct.pack("<I", bits(x) + steps))[0]


class Random:
    def __init__(self, seed):
        self.state = seed

    def next(self):  # xorshift
        s = self.state
        s = (s ^ s << 13) & 0xFFFFFFFF
        s ^= s >> 17
        self.state = (s ^ s << 5) & 0xFFFFFFFF
        return self.state

    def between(self, low, high):
        return struct.unpack("<f", struct.pack("<f", low + (high - low) * (self.next() / 2**32)))[0]

    def signed_power(self, low, high):
        x = 2 ** self.between(low, high)
        return -x if self.next() & 1 else x


def columns(rows):
    """Rows of up to 12 values as columns of words by register; a multiple of 32 rows."""
    rows = rows + [rows[-1]] * (-len(rows) % 32)
    width = max(len(r) for r in rows)
    padded = [list(r) + [0] * (width - len(r)) for r in rows]
    return {f"a{c}": [word(r[c]) for r in padded] for c in range(width)}


def coordinates(low, high, quarters, seed):
    """Three coordinates, an array index, a level of detail."""
    r, rows = Random(seed), []
    for i in range(quarters):  # along each axis, then along the diagonal
        x = low + (high - low) * i / quarters
        rows.append([x, 1.375 if i % 2 else 0.3, 0.7, i % 5 - 1, 0.5])
        rows.append([0.6, x, 1.1, 1, 0.0])
        rows.append([x, x, x, 2, 1.0])
    for i, s in enumerate(SPECIAL):
        rows.append([s, 0.5, 0.5, 0, 0.0])
        rows.append([0.5, s, SPECIAL[-i], 1, s])
    while len(rows) < 256:
        rows.append([r.between(low, high), r.between(low, high), r.between(low, high), r.next() % 4, r.between(-1, 4)])
    return columns(rows)


def weights(seed):
    """One coordinate, where weights of linear filtering change: multiples of 1/512 and 1/256 and their neighbours."""
    r, rows = Random(seed), []
    for j in range(96):
        for step in (-1, 0, 1):
            rows.append([near(2.5 + (2 * j + 1) / 512, step)])
            rows.append([near(1.5 + j / 256 * 2.65625, step)])
    for j in range(32):
        rows += [[near(0.5 + (2 * j + 1) / 512, s)] for s in (-1, 0, 1)]
    while len(rows) < 1024:
        rows.append([r.between(0, 8)])
    return columns(rows)


def edges(width):
    rows = []
    for j in range(1, width + 1):
        rows += [[near(j / width, s)] for s in (-2, -1, 0, 1, 2)]
    return columns(rows)


def whole(seed):
    r, rows = Random(seed), []
    for i in range(-3, 13):
        rows += [[i, 1, 1, i, 0.0], [1, i, 2, 1, 1.0], [2, 1, i, 0, 2.0]]
    for i in (0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 100000, -100000, 16777217):
        rows += [[i, 0, 0, i, 0.0], [0, i, i, 0, 0.0]]
    while len(rows) < 96:
        rows.append([r.next() % 8, r.next() % 6, r.next() % 4, r.next() % 3, float(r.next() % 3)])
    return columns(rows)


def levels(seed):
    r, rows = Random(seed), []
    rows += [[0.5, 0.5, 0.5, 0, -1 + i / 32] for i in range(192)]
    for j in range(24):  # where a fraction of 8 bits may be rounded
        rows += [[0.5, 0.5, 0.5, 1, near(1 + (2 * j + 1) / 512, s)] for s in (-1, 0, 1)]
        rows += [[0.5, 0.5, 0.5, 1, near(0.5 + j / 256, s)] for s in (-1, 0, 1)]
    rows += [[0.25, 0.5, 0.75, 0, s] for s in SPECIAL]
    while len(rows) < 512:
        rows.append([r.between(0, 1), r.between(0, 1), r.between(0, 1), r.next() % 3, r.between(-1, 5)])
    return columns(rows)


def gradients(seed):
    r, rows = Random(seed), []
    zero = [0.0] * 6
    for i in range(32):
        g = 2 ** (-7 + i / 4)
        for axis in range(6):
            d = list(zero)
            d[axis] = g if i % 2 else -g
            rows.append([0.5, 0.5, 0.5, 0, 0, 0] + d)
    for s in SPECIAL:
        rows.append([0.5, 0.5, 0.5, 0, 0, 0, s, 0.1, 0.1, 0.1, 0.1, 0.1])
        rows.append([0.5, 0.5, 0.5, 0, 0, 0, 0.1, 0.1, 0.1, s, s, s])
    while len(rows) < 512:
        rows.append([0.5, 0.5, 0.5, 0, 0, 0] + [r.signed_power(-7, 0) for _ in range(6)])
    return columns(rows)


def directions(seed):
    r, rows = Random(seed), []
    unit = (-1.0, 0.0, 1.0)
    rows += [[x, y, z, 0, 0.0] for x in unit for y in unit for z in unit]
    rows += [[x, y, z, 1, 1.0] for x in (-0.0, 2.0) for y in (-0.0, 2.0) for z in (-0.0, -2.0)]
    for s in SPECIAL:
        rows += [[s, 0.5, 0.25, 0, 0.0], [0.5, s, 0.25, 1, 0.0], [0.25, 0.5, s, 0, 0.0], [s, s, 1.0, 0, 0.0]]
    for i in range(48):  # along and across an edge
        rows.append([1.0, 0.9 + i / 240, 0.3, 0, 0.0])
        rows.append([0.98 + i / 1200, -1.0, 0.999, 1, 0.0])
    while len(rows) < 512:
        rows.append([r.between(-1, 1), r.between(-1, 1), r.between(-1, 1), r.next() % 3, r.between(-1, 3)])
    return columns(rows)


def numbers(seed):
    """Byte offset, row, slice and layer within a surface, and beyond in the last quarter; four words of data."""
    r, rows = Random(seed), []
    values = [0.0, 1.0, -1.0, 0.5, 2.0, -2.0, NAN, INF, 0.001, 1 / 255, 0.99, 254.5 / 255, 3.0, -0.5, 1e9, -INF]
    for i in range(64):
        x, y, z = (i % 8, i // 8 % 6, i // 48) if i < 48 else (r.next() % 24 - 8, r.next() % 12 - 3, r.next() % 8 - 2)
        rows.append([x, y, z, r.next() % 2 if i < 48 else r.next() % 5 - 1] +
                    [values[(i + k) % 16] if i % 2 else r.next() for k in range(4)])
    return columns(rows)


def sets():
    return {"elements": coordinates(-4, 12, 32, 1), "unit": coordinates(-2, 3, 40, 2), "few": columns([[r.between(-1, 9) for _ in range(3)]
            + [1, 0.5] for r in [Random(3)] for _ in range(32)]), "weights": weights(4), "units": columns([[r.between(0, 1)] * 3
            for r in [Random(5)] for _ in range(512)]), "edges3": edges(3), "edges37": edges(37), "edges64": edges(64), "edges100": edges(100),
            "whole": whole(6), "levels": levels(7), "gradients": gradients(8), "directions": directions(9), "numbers": numbers(10)}


SIZES = {"1d": [8], "2d": [8, 6], "3d": [8, 6, 4], "a1d": [8], "a2d": [8, 6], "cube": [4, 4], "acube": [4, 4], "linear": [8], "pitch": [8, 6]}
FLOAT = {"1d": "{%a0}", "2d": "{%a0, %a1}", "3d": "{%a0, %a1, %a2, %a3}", "a1d": "{%a3, %a0}", "a2d": "{%a3, %a0, %a1, %a1}",
         "cube": "{%a0, %a1, %a2, %a2}", "acube": "{%a3, %a0, %a1, %a2}"}
D4 = "{%d0, %d1, %d2, %d3}"
H4 = "{%h0, %h1, %h2, %h3}"
WIDEN = " ".join(f"cvt.u32.u16 %d{i}, %h{i};" for i in range(4))
DTYPE = {"u": "u32", "s": "s32", "f": "f32"}


def texture(kind, format="f32", channels=1, **more):
    result = {"kind": kind, "size": SIZES[kind], "format": format, "channels": channels}
    if kind in ("a1d", "a2d"):
        result["layers"] = 3
    if kind == "acube":
        result["layers"] = 2
    return result | more


def tex(geom, dtype="f32", ctype="f32", mode="", tail="", object="%t"):
    geom = {"linear": "1d", "pitch": "2d"}.get(geom, geom)
    what = f"tex{mode}.{geom}"
    if dtype == "f16":
        return f"{what}.v4.f16.{ctype} {H4}, [{object}, {FLOAT[geom]}]{tail}; {WIDEN}"
    if dtype == "f16x2":
        return f"{what}.v2.f16x2.{ctype} {{%d0, %d1}}, [{object}, {FLOAT[geom]}]{tail};"
    return f"{what}.v4.{dtype}.{ctype} {D4}, [{object}, {FLOAT[geom]}]{tail};"


def ask(group, texture, sampler, do, inputs, keep=("d0",), **more):
    result = {"group": group, "texture": texture}
    if sampler is not None:
        result["sampler"] = sampler
    return result | {"do": do, "in": inputs, "keep": list(keep)} | more


def where(normalized):
    return "unit" if normalized else "elements"


def filtering():
    for width in (8, 37, 100, 3, 1000, 20000):
        t = texture("1d", size=[width], content="step")
        yield ask("weights", t, {"filter": "linear"}, tex("1d"), "weights")
        yield ask("weights", t, {"filter": "linear", "normalized": True}, tex("1d"), "units")
    for axis in (1, 2):
        t = texture("3d", size=[1, 37, 1] if axis == 1 else [1, 1, 37], content="index")
        yield ask("weights", t, {"filter": "linear", "normalized": True}, tex("3d"), "units")
    for width in (3, 37, 64, 100):
        t = texture("1d", size=[width], content="index")
        for address in ("clamp", "wrap", "mirror"):
            yield ask("edges", t, {"normalized": True, "address": address}, tex("1d"), f"edges{width}")
    for kind in ("1d", "2d", "3d", "a2d"):
        for what in ("mix", "unit", "wild"):
            yield ask("values", texture(kind, content=what), {"filter": "linear"}, tex(kind), "elements")
        yield ask("values", texture(kind, "f16"), {"filter": "linear"}, tex(kind), "elements")
    yield ask("values", texture("1d", content="unit"), {"filter": "linear"}, tex("1d"), "weights")
    yield ask("values", texture("1d", "f16", content="wild"), {"filter": "linear"}, tex("1d"), "weights")
    yield ask("values", texture("2d", channels=4), {"filter": "linear"}, tex("2d"), "elements", ALL)
    for format in ("u8", "s8", "u16", "s16"):
        for kind, inputs in (("1d", "weights"), ("2d", "elements"), ("3d", "elements")):
            yield ask("values", texture(kind, format), {"filter": "linear", "read": "normalized_float"}, tex(kind), inputs)


def addressing():
    for kind in ("1d", "2d", "3d", "a1d", "a2d"):
        for address in ("clamp", "wrap", "mirror", "border"):
            for normalized in (False, True):
                for filter in ("point", "linear"):
                    s = {"address": address, "normalized": normalized, "filter": filter}
                    yield ask("address", texture(kind, content="index"), s, tex(kind), where(normalized))
    mixed = {"address": ["wrap", "mirror", "border"], "normalized": True}
    for kind in ("2d", "3d"):
        for filter in ("point", "linear"):
            yield ask("address", texture(kind, content="index"), mixed | {"filter": filter}, tex(kind), "unit")
    border = {"address": "border", "border": [0.25, 2.0, -3.0, 300.0]}
    for format in ("u8", "s8", "u16", "s32", "u32", "f16", "f32"):
        for filter in ("point", "linear"):
            if filter == "linear" and format[0] != "f":
                s = border | {"filter": filter, "read": "normalized_float"}
                if format[1:] == "32":
                    continue
                yield ask("border", texture("2d", format, 4), s, tex("2d"), "few", ALL)
            else:
                yield ask("border", texture("2d", format, 4), border | {"filter": filter}, tex("2d", DTYPE[format[0]]), "few", ALL)


def formats():
    for format in ("u8", "s8", "u16", "s16", "u32", "s32", "f16", "f32", "unorm8", "snorm8", "unorm16", "snorm16"):
        for channels in (1, 2, 4):
            t = texture("2d", format, channels, content="wild")
            norm = "norm" in format
            yield ask("format", t, {}, tex("2d", "f32" if norm else DTYPE[format[0]]), "few", ALL)
            if format in ("u8", "s8", "u16", "s16"):
                yield ask("format", t, {"read": "normalized_float"}, tex("2d"), "few", ALL)
                if channels != 2:
                    yield ask("srgb", t, {"read": "normalized_float", "srgb": True}, tex("2d"), "few", ALL)
    for format, read in (("u8", "normalized_float"), ("u8", "element"), ("s16", "element"), ("u16", "normalized_float"),
                         ("f16", "element"), ("f32", "element"), ("s32", "element"), ("u32", "element")):
        for dtype in ("u32", "s32", "f32", "f16", "f16x2"):
            keep = ALL if dtype != "f16x2" else ["d0", "d1"]
            yield ask("dtype", texture("2d", format, 4), {"read": read}, tex("2d", dtype), "few", keep)
    yield ask("dtype", texture("2d", "f32", 4, content="wild"), {}, tex("2d", "f16"), "elements", ["d0", "d1"])
    srgb = {"read": "normalized_float", "srgb": True, "filter": "linear"}
    yield ask("srgb", texture("1d", "u8", 4, size=[64], content="index"), srgb, tex("1d"), "weights", ["d0", "d3"])
    yield ask("linear 8 bit", texture("1d", "u8", 4, size=[64], content="index"), srgb | {"srgb": False}, tex("1d"), "weights", ["d0", "d3"])


def integers():
    """Coordinates of type .s32."""
    for kind in ("1d", "2d", "3d", "a1d", "a2d", "linear", "pitch"):
        for address in ("clamp", "wrap", "mirror", "border"):
            for more in ({}, {"filter": "linear"}, {"normalized": True}):
                t = texture(kind, content="index")
                yield ask("whole", t, {"address": address} | more, tex(kind, ctype="s32"), "whole")
    for kind in ("linear", "pitch"):
        for filter in ("point", "linear"):
            yield ask("memory", texture(kind), {"filter": filter}, tex(kind), "elements")
        yield ask("memory", texture(kind, "u8", 4), {"read": "normalized_float"}, tex(kind, ctype="s32"), "whole", ALL)


def mipmaps():
    mip = {"normalized": True, "lod": [0, 10], "mip": "linear"}
    sized = {"1d": [32], "2d": [32, 16], "3d": [16, 16, 16], "a1d": [32], "a2d": [32, 16], "cube": [16, 16], "acube": [16, 16]}
    for kind, size in sized.items():
        t = texture(kind, size=size, levels=4, content="level")
        for filter in ("point", "linear"):
            yield ask("level", t, mip | {"mip": filter}, tex(kind, mode=".level", tail=", %a4"), "levels")
            yield ask("level", t, mip | {"mip": filter, "bias": 0.7, "lod": [0.3, 2.2]}, tex(kind, mode=".level", tail=", %a4"), "levels")
    for kind in ("1d", "2d", "3d", "cube"):
        t = texture(kind, size=sized[kind], levels=4)
        for filter, inner in (("point", "linear"), ("linear", "point"), ("linear", "linear")):
            for off in (False, True):
                s = mip | {"mip": filter, "filter": inner, "trilinear_off": off}
                yield ask("trilinear", t, s, tex(kind, mode=".level", tail=", %a4"), "levels")
    t = texture("2d", size=[32, 16], levels=4, content="level")
    for s in ({"normalized": True}, mip | {"bias": -1.5}, mip | {"lod": [2, 1]}, mip | {"lod": [-3, 1.4]}, mip | {"normalized": False}):
        yield ask("level", t, s, tex("2d", mode=".level", tail=", %a4"), "levels")
        yield ask("base", t, s, tex("2d", mode=".base"), "levels")
        yield ask("base", t, s, tex("2d"), "levels")
    yield ask("level", texture("2d", size=[32, 16], content="index"), mip, tex("2d", mode=".level", tail=", %a4"), "levels")
    t = texture("2d", size=[32, 16], levels=4, content="index")
    for ctype, inputs in (("s32", "whole"), ("f32", "levels")):
        for filter in ("point", "linear"):
            yield ask("level", t, mip | {"mip": filter}, tex("2d", ctype=ctype, mode=".level", tail=", %a4"), inputs)
    scale = {"1d": ("{%a6}", "{%a9}"), "2d": ("{%a6, %a7}", "{%a9, %a10}"), "3d": ("{%a6, %a7, %a8, %a8}", "{%a9, %a10, %a11, %a11}")}
    scale |= {"a1d": scale["1d"], "a2d": scale["2d"], "cube": scale["3d"], "acube": scale["3d"]}
    for kind, (dx, dy) in scale.items():
        size = [128] * len(sized[kind])
        if kind == "3d":
            size = [32, 32, 32]
        t = texture(kind, size=size, levels=6, content="level")
        for s in (mip, mip | {"mip": "point"}, mip | {"anisotropy": 8, "filter": "linear"}):
            yield ask("gradient", t, s, tex(kind, mode=".grad", tail=f", {dx}, {dy}"), "gradients")
    t = texture("2d", size=[128, 16], levels=5, content="level")
    yield ask("gradient", t, mip, tex("2d", mode=".grad", tail=", {%a6, %a7}, {%a9, %a10}"), "gradients")


def extras():
    for kind, e in (("1d", ["{3}", "{%a3}"]), ("2d", ["{3, -2}", "{%a3, %a3}"]), ("3d", ["{-8, 7, 1, 0}"]), ("a1d", ["{-1}"]), ("a2d", ["{2, -5}"])):
        for offset in e:
            for s in ({}, {"address": "wrap", "normalized": True, "filter": "linear"}, {"address": "border"}):
                yield ask("offset", texture(kind, content="index"), s, tex(kind, tail=", " + offset), where("normalized" in s))
    yield ask("offset", texture("2d", content="index"), {}, tex("2d", ctype="s32", tail=", {1, -2}"), "whole")
    yield ask("offset", texture("2d", content="index"), {}, tex("2d", tail=", {9, -10}"), "few")
    for kind in ("1d", "2d", "a1d", "a2d", "cube", "acube"):
        for depth in (False, True):
            for filter in ("point", "linear"):
                t = texture(kind, content="unit", depth=depth) if depth else texture(kind, content="unit")
                inputs = "directions" if "cube" in kind else "few"
                yield ask("compare", t, {"filter": filter}, tex(kind, tail=", 0f3FC00000"), inputs, ALL)
    for kind in ("2d", "a2d", "cube", "acube"):
        for comp in "rgba":
            gather = kind in ("2d", "a2d")
            t = texture(kind, channels=4, content="index") | ({"gather": True} if gather else {})
            do = f"tld4.{comp}.{kind}.v4.f32.f32 {D4}, [%t, {FLOAT[kind]}];"
            yield ask("gather", t, {"filter": "linear"}, do, "elements" if gather else "directions", ALL)
            if comp == "r" and gather:
                for s in ({"address": "wrap", "normalized": True}, {"address": "mirror", "normalized": True}, {"address": "border"}, {}):
                    yield ask("gather", t, s, do, where("normalized" in s), ALL)
                yield ask("gather", t, {}, do.replace("];", "], {1, -2};"), "elements", ALL)
                yield ask("gather", t, {}, do.replace("];", "], 0f41200000;"), "elements", ALL)
    gathered = texture("2d", channels=1, content="index", gather=True)
    yield ask("gather", gathered, {}, f"tld4.g.2d.v4.f32.f32 {D4}, [%t, {FLOAT['2d']}];", "few", ALL)
    yield ask("gather", texture("1d", size=[64], content="index"), {}, f"tld4.r.2d.v4.f32.f32 {D4}, [%t, {FLOAT['2d']}];", "few", ALL)
    for format in ("u8", "s16"):
        do = f"tld4.b.2d.v4.{DTYPE[format[0]]}.f32 {D4}, [%t, {FLOAT['2d']}];"
        yield ask("gather", texture("2d", format, 4, gather=True), {}, do, "few", ALL)
        yield ask("gather", texture("2d", format, 4, gather=True), {"read": "normalized_float"}, do.replace(DTYPE[format[0]], "f32", 1), "few", ALL)
    resident = tex("2d").replace(D4, "{%d0, %d1, %d2, _}|%p0") + " selp.b32 %d3, 1, 0, %p0;"
    yield ask("resident", texture("2d"), {"address": "border"}, resident, "few", ALL)
    for kind in ("cube", "acube"):
        for filter in ("point", "linear"):
            for s in ({}, {"seamless": True}, {"address": "wrap"}, {"address": "border"}, {"normalized": True, "address": "mirror"}):
                yield ask("cube", texture(kind, content="index"), s | {"filter": filter}, tex(kind), "directions")
    wrong = (("1d", "2d"), ("2d", "1d"), ("2d", "3d"), ("3d", "2d"), ("2d", "a2d"), ("a2d", "2d"), ("a1d", "1d"), ("cube", "2d"), ("2d", "cube"))
    for kind, geom in wrong:
        yield ask("other geometry", texture(kind, content="index"), {}, tex(geom), "few")


def queries():
    s = {"filter": "linear", "normalized": True, "address": ["wrap", "mirror", "border"], "mip": "linear", "lod": [0, 9]}
    names = ("width", "height", "depth", "channel_data_type", "channel_order", "normalized_coords", "array_size", "num_mipmap_levels",
             "num_samples", "force_unnormalized_coords", "filter_mode", "addr_mode_0", "addr_mode_1", "addr_mode_2")
    some = [texture("2d", "u8", 4, size=[37, 21]), texture("3d", size=[16, 8, 4], levels=3), texture("a2d", "f16", 2), texture("cube"),
            texture("1d", "s16"), texture("linear", "s32"), texture("a1d", "u16", 4), texture("acube", channels=2), texture("pitch")]
    for t in some:
        for name in names:
            yield ask("query", t, s if "pitch" not in t["kind"] and "linear" not in t["kind"] else {}, f"txq.{name}.b32 %d0, [%t];", "few")
    for name in ("width", "height", "depth"):
        yield ask("query", texture("3d", size=[16, 8, 4], levels=3), s, f"and.b32 %r0, %r0, 3; txq.level.{name}.b32 %d0, [%t], %r0;", "few")
    for t in some:
        if t["kind"] not in ("linear", "pitch") and "levels" not in t:
            for name in ("width", "height", "depth", "channel_data_type", "channel_order", "array_size", "memory_layout"):
                yield ask("query", t | {"surface": True}, None, f"suq.{name}.b32 %d0, [%t];", "few")
    for what in ("texref", "samplerref", "surfref"):
        for t, sampler in ((texture("2d"), {}), (texture("2d", surface=True), None)):
            yield ask("query", t, sampler, f"istypep.{what} %p0, %t; selp.b32 %d0, 1, 0, %p0;", "few")


PLACES = {"1d": "{%a0}", "2d": "{%a0, %a1}", "3d": "{%a0, %a1, %a2, %a2}", "a1d": "{%a3, %a0}", "a2d": "{%a3, %a0, %a1, %a1}"}


def surfaces():
    scale = "mul.lo.u32 %a0, %a0, {};"
    for kind, place in PLACES.items():
        for mode in ("clamp", "zero"):
            t = texture(kind, "u8", 4, surface=True)
            yield ask("load", t, None, f"{scale.format(4)} suld.b.{kind}.b32.{mode} %d0, [%t, {place}];", "numbers")
            yield ask("load", t, None, f"suld.b.{kind}.b32.{mode} %d0, [%t, {place}];", "numbers")  # any byte
            yield ask("store", t, None, f"{scale.format(4)} sust.b.{kind}.b32.{mode} [%t, {place}], %a4;", "numbers", after=True)
    for format, size in (("u8", 1), ("u16", 2), ("u32", 4), ("f32", 4), ("f16", 2)):
        for channels in (1, 2, 4):
            t = texture("2d", format, channels, surface=True)
            step = size * channels
            word = f".b{min(64, 8 * step)}" if step <= 8 else ".v2.b64"
            if step == 4:
                yield ask("load", t, None, f"{scale.format(step)} suld.b.2d.v2.b16.zero {{%h0, %h1}}, [%t, {PLACES['2d']}]; cvt.u32.u16 %d0, %h0; cvt.u32.u16 %d1, %h1;", "numbers", ["d0", "d1"])
            if step == 16:
                yield ask("load", t, None, f"{scale.format(step)} suld.b.2d.v4.b32.zero {D4}, [%t, {PLACES['2d']}];", "numbers", ALL)
                yield ask("load", t, None, f"{scale.format(step)} suld.b.2d.b32.zero %d0, [%t, {PLACES['2d']}];", "numbers")
                yield ask("store", t, None, f"{scale.format(step)} sust.b.2d.v4.b32.zero [%t, {PLACES['2d']}], {{%a4, %a5, %a6, %a7}};", "numbers", after=True)
            if step == 1:
                yield ask("store", t, None, f"cvt.u16.u32 %h0, %a4; sust.b.2d{word}.zero [%t, {PLACES['2d']}], %h0;", "numbers", after=True)
    for format in ("u8", "s8", "u16", "s16", "u32", "s32", "f16", "f32", "unorm8", "snorm8", "unorm16", "snorm16"):
        for channels in (1, 4):
            t = texture("2d", format, channels, surface=True)
            for vector, data in (("", "%a4"), (".v2", "{%a4, %a5}"), (".v4", "{%a4, %a5, %a6, %a7}")):
                yield ask("formatted", t, None, f"sust.p.2d{vector}.b32.zero [%t, {PLACES['2d']}], {data};", "numbers", after=True)
    for kind in ("1d", "3d"):
        yield ask("formatted", texture(kind, "f32", 1, surface=True), None, f"sust.p.{kind}.b32.clamp [%t, {PLACES[kind]}], %a4;", "numbers", after=True)
    for op, type in (("add", "u32"), ("min", "u32"), ("min", "s32"), ("max", "s32"), ("and", "b32"), ("or", "b32")):
        t = texture("2d", "u32", 1, surface=True)
        yield ask("reduce", t, None, f"{scale.format(4)} sured.b.{op}.2d.{type}.zero [%t, {PLACES['2d']}], %a4;", "numbers", after=True)
        if type != "u32":
            t = texture("2d", "s32", 1, surface=True)
            yield ask("reduce", t, None, f"sured.p.{op}.2d.b32.zero [%t, {PLACES['2d']}], %a4;", "numbers", after=True)
    for op, type in (("add", "u64"), ("min", "u64"), ("max", "s64")):
        yield ask("reduce", texture("2d", "u32", 2, surface=True), None, f"mov.b64 %q0, {{%a4, %a5}}; {scale.format(8)} sured.b.{op}.2d.{type}.zero [%t, {PLACES['2d']}], %q0;", "numbers", after=True)
    yield ask("trap", texture("2d", "u32", 1, surface=True), None, f"suld.b.2d.b32.trap %d0, [%t, {PLACES['2d']}];", "whole")


def questions():
    for group in (filtering, addressing, formats, integers, mipmaps, extras, queries, surfaces):
        yield from group()
