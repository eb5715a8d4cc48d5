"""Asks a GPU which lane wins where lanes of a warp write one address, and in which order atomics take their turns:
writes ../collisions.ptx and ../collisions.jsonl. Needs only NVIDIA's driver.

A case says for each lane whether it takes part and which slot it writes: the slot's number times the size of what the
lane writes is its offset in 4096 bytes. The first line of collisions.jsonl holds the cases, each as 32 numbers: a slot,
or -1 for a lane that takes no part. Further lines:

{"values": name, "bytes": hex}   what lanes write: 32 bytes for each lane, of which the first are taken
{"op", "kernel", "bytes", "values", "initial", "place", "answers", …}
    the kernel k(cases, values, memory, returned, surface) ran one block of a warp for each case, which found `initial`,
    8 bytes, repeated in its part of memory (4096 bytes a case, or a row of a surface). Block i (with "cluster", cluster
    i, of two blocks) had case i; a case was given as 32-bit words, a slot with bit 31 set for a lane that takes part.
    "cases": it ran only so many of them.
    "answers": for each case the winners of its slots in ascending order, as digits to base 32; or the kernel that had
    the same answers. "all": the forms that
    all 32 lanes execute, whatever the case says.
    "hashes", in place of "answers", for each case: FNV-1a of 32 bits over the memory of the used slots in ascending
    order, and, where "returns", over what the lanes that take part got back, in ascending order.
    "varies": three runs did not agree; the answers are those of the first.
"""
import ctypes
import gzip
import json
import os
import random
import struct
import sys

AREA = 4096
PTX_HEADER = ".version 8.7\n.target sm_90a\n.address_size 64\n"
EE = "ee" * 8


def make_cases():
    pick = random.Random(17)
    cases = []

    def case(slots, mask=0xFFFFFFFF):
        if mask:
            cases.append([s if mask >> i & 1 else -1 for i, s in enumerate(slots)])

    masks = [0xFFFFFFFF, 0x80000001, 0xFF00, 0xF0F0F0F0, 0x0000FFFF, 0xFFFF0000, 0x55555555, 0xAAAAAAAA, 0x00FF00FF,
             0x7FFFFFFF, 0xFFFFFFFE, 0x01010101, 0x80808080, 0x10, 0x00018000, 0x01800180]
    for mask in masks:
        case([0] * 32, mask)
    shapes = [lambda i: i // 2, lambda i: i % 2, lambda i: i % 16, lambda i: i % 8, lambda i: i // 4, lambda i: i // 8,
              lambda i: i // 16, lambda i: i % 4, lambda i: (31 - i) % 16, lambda i: (31 - i) // 2, lambda i: i ^ 1,
              lambda i: i * 8 % 256, lambda i: i // 2 * 16, lambda i: i % 16 * 16, lambda i: i * 7 % 16,
              lambda i: i % 16 + i // 16 * 8, lambda i: i % 16 + i // 16, lambda i: i % 8 + i // 8 * 2,
              lambda i: 0 if i in (3, 30) else i, lambda i: 200 if i % 5 == 0 else i, lambda i: i * i % 32]
    for shape in shapes:
        for mask in (0xFFFFFFFF, 0x5A5A5A5A, 0xFFFF00FF):
            case([shape(i) for i in range(32)], mask)
    for n in (1, 2, 3, 4, 8, 16, 32):
        for stride in (1, 3, 8):
            for k in range(6):
                mask = 0xFFFFFFFF if k == 0 else pick.getrandbits(32) & (pick.getrandbits(32) if k > 3 else 0xFFFFFFFF)
                case([pick.randrange(n) * stride % 256 for _ in range(32)], mask)
    few = len(cases)
    for _ in range(60):
        case([0] * 32, pick.getrandbits(32) & (pick.getrandbits(32) | pick.getrandbits(32)))
    for _ in range(40):
        case([pick.randrange(256) if pick.random() < 0.3 else pick.randrange(4) for _ in range(32)], pick.getrandbits(32))
    for low in range(32):
        for high in range(low + 1, 32):
            case([(low * 5 + high) % 256] * 32, 1 << low | 1 << high)
    return cases, few


def make_values():
    pick = random.Random(18)
    lanes = range(32)

    def number():
        return pick.choice([-1, 1]) * pick.uniform(1, 2) * 2.0 ** pick.randint(-12, 12)

    def bf16(x):
        return struct.unpack("<I", struct.pack("<f", x))[0] >> 16

    values = {
        "lane": b"".join(bytes([i]) * 32 for i in lanes),
        "bit": b"".join(struct.pack("<QQ", 1 << i, 0) * 2 for i in lanes),
        "limit": b"".join(struct.pack("<I", i * 7 % 5 + 1) * 8 for i in lanes),
        "f32": b"".join(struct.pack("<8f", *(number() for _ in range(8))) for _ in lanes),
        "f64": b"".join(struct.pack("<4d", *(number() * (1 + pick.random()) for _ in range(4))) for _ in lanes),
        "f16": b"".join(struct.pack("<16e", *(number() for _ in range(16))) for _ in lanes),
        "bf16": b"".join(struct.pack("<16H", *(bf16(number()) for _ in range(16))) for _ in lanes),
        # Of stmatrix: each byte names the lane whose address the element is stored at.
        "rows": b"".join(b"".join(bytes([8 * j + i // 4]) * 4 for j in range(4)) * 2 for i in lanes),
        "columns": b"".join(b"".join(bytes([8 * j + 2 * (i % 4)] * 2 + [8 * j + 2 * (i % 4) + 1] * 2) for j in range(4)) * 2
                            for i in lanes),
    }
    return values


INITIAL = {"f32": "0000803f" * 2, "f64": "000000000000f03f", "f16": "003c" * 4, "bf16": "803f" * 4, "bit": "00" * 8,
           "limit": "03000000" * 2}


class Form:
    def __init__(self, op, place, vector, bits, values="lane", **more):
        self.op, self.place, self.vector, self.bits, self.values = op, place, vector, bits, values
        self.returns = more.get("returns", False)
        self.kind = more.get("kind", "store")
        self.guard = more.get("guard", "predicate")
        self.cluster = more.get("cluster", False)
        self.bytes = more.get("bytes", vector * bits // 8)
        self.few = more.get("few", False)
        self.hashed = more.get("hashed", False)


def store_forms():
    widths = [(v, b) for v in (1, 2, 4) for b in (8, 16, 32, 64) if v * b <= 128] + [(1, 128)]
    for v, b in widths:
        t = (f".v{v}" if v > 1 else "") + f".b{b}"
        for place, space in (("global", ".global"), ("shared", ".shared"), ("global", ""), ("shared generic", "")):
            yield Form("st" + space + t, place, v, b)
        yield Form("st.shared::cluster" + t, "cluster", v, b, cluster=True)
    for v, b in ((1, 8), (1, 16), (1, 32), (1, 64), (2, 32), (4, 32), (2, 64)):
        t = (f".v{v}" if v > 1 else "") + f".b{b}"
        for spelling in ("volatile.global", "relaxed.gpu.global", "relaxed.cta.global", "release.gpu.global",
                         "release.sys.global", "global.wt", "global.cg", "global.cs", "global.L1::no_allocate"):
            yield Form("st." + spelling + t, "global", v, b)
        for spelling in ("volatile.shared", "relaxed.cta.shared", "release.cta.shared"):
            yield Form("st." + spelling + t, "shared", v, b)
        yield Form("st.global" + t, "global", v, b, guard="branch")
        yield Form("st.shared" + t, "shared", v, b, guard="branch")
    for v, b in ((1, 32), (1, 64), (2, 32), (2, 64), (4, 32)):
        t = (f".v{v}" if v > 1 else "") + f".b{b}"
        yield Form("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes" + t, "cluster", v, b, kind="async", cluster=True)
    for how, size in (("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16)):
        yield Form(f"cp.async.{how}.shared.global", "shared", 1, 8 * size, kind="copy")
    yield Form("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", "shared", 1, 128, kind="bulk load")
    yield Form("cp.async.bulk.global.shared::cta.bulk_group", "global", 1, 128, kind="bulk store")
    for n in (1, 2, 4):
        for trans in ("", ".trans"):
            yield Form(f"stmatrix.sync.aligned.m8n8.x{n}{trans}.shared.b16", "shared", n, 32, kind="matrix", bytes=16,
                       values="columns" if trans else "rows")
    for v, b in widths[:-1]:
        yield Form("sust.b.2d" + (f".v{v}" if v > 1 else "") + f".b{b}.trap", "surface", v, b, kind="surface")
    yield Form("sust.p.2d.v4.b32.trap", "surface", 4, 32, kind="texel")


def atomic_forms():
    for place, space in (("global", ".global"), ("shared", ".shared"), ("global", ""), ("shared generic", "")):
        scalars = [("exch.b32", 32, "lane"), ("exch.b64", 64, "lane"), ("exch.b128", 128, "lane"), ("cas.b16", 16, "lane"),
                   ("cas.b32", 32, "lane"), ("cas.b64", 64, "lane"), ("cas.b128", 128, "lane"), ("add.u32", 32, "bit"),
                   ("add.u64", 64, "bit"), ("or.b32", 32, "bit"), ("xor.b64", 64, "bit"), ("and.b32", 32, "lane"),
                   ("max.u32", 32, "lane"), ("min.s64", 64, "lane"), ("inc.u32", 32, "limit"), ("dec.u32", 32, "limit"),
                   ("add.f32", 32, "f32"), ("add.f64", 64, "f64"), ("add.noftz.f16", 16, "f16"),
                   ("add.noftz.f16x2", 32, "f16"), ("add.noftz.bf16", 16, "bf16"), ("add.noftz.bf16x2", 32, "bf16")]
        for op, bits, values in scalars:
            yield Form(f"atom{space}.{op}", place, 1, bits, values, kind="atomic", returns=True, few=True, hashed=True)
            if values in ("limit", "f32", "f64", "f16", "bf16"):
                yield Form(f"red{space}.{op}", place, 1, bits, values, kind="atomic", few=True, hashed=True)
    for v, t, bits, values in ((2, "f32", 32, "f32"), (4, "f32", 32, "f32"), (8, "f16", 16, "f16"), (4, "bf16", 16, "bf16"),
                               (4, "f16x2", 32, "f16")):
        noftz = ".noftz" if values != "f32" else ""
        yield Form(f"atom.global.add{noftz}.v{v}.{t}", "global", v, bits, values, kind="atomic", returns=True, few=True,
                   hashed=True)
        yield Form(f"red.global.add{noftz}.v{v}.{t}", "global", v, bits, values, kind="atomic", few=True, hashed=True)
    for op in ("inc", "dec"):
        yield Form(f"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.{op}.u32", "cluster", 1, 32, "limit",
                   kind="async", cluster=True, few=True, hashed=True)
    yield Form("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32", "global", 4, 32, "f32", kind="bulk store", few=True,
               hashed=True)


REGISTER = {8: "%h", 16: "%h", 32: "%v", 64: "%w", 128: "%q"}


def copy_area(label, source, read, target, write):
    return ["mov.u64 %l16, 0;", f"{label}: add.u64 %l17, {read}, %l16; add.u64 %l18, {write}, %l16;",
            f"ld.{source}.v4.u32 {{%v0, %v1, %v2, %v3}}, [%l17]; st.{target}.v4.u32 [%l18], {{%v0, %v1, %v2, %v3}};",
            f"add.u64 %l16, %l16, 512; setp.lt.u64 %p3, %l16, {AREA}; @%p3 bra {label};"]


def kernel(name, form):
    v, bits = form.vector, form.bits
    r = REGISTER[bits]
    in_shared = form.place in ("shared", "shared generic", "cluster")
    lines = [".explicitcluster .reqnctapercluster 2, 1, 1" if form.cluster else "", "{",
             ".reg .pred %p<4>; .reg .b16 %h<40>; .reg .b32 %r<20>; .reg .b32 %v<40>; .reg .b64 %l<30>; .reg .b64 %w<40>;",
             ".reg .b128 %q<4>; .shared .align 128 .b8 s[4096]; .shared .align 128 .b8 t[512]; .shared .align 8 .b64 m;",
             "ld.param.u64 %l0, [cases]; ld.param.u64 %l1, [values]; ld.param.u64 %l2, [memory]; ld.param.u64 %l3, [returned];",
             "ld.param.u64 %l4, [surface]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;"]
    if form.cluster:
        lines.append("and.b32 %r9, %r1, 1; shr.u32 %r1, %r1, 1;")
    else:
        lines.append("mov.u32 %r9, 1;")
    lines += ["mad.lo.u32 %r2, %r1, 32, %r0; mul.wide.u32 %l5, %r2, 4; add.u64 %l5, %l5, %l0; ld.global.u32 %r3, [%l5];",
              "setp.lt.s32 %p0, %r3, 0; and.b32 %r4, %r3, 0xffff;",
              f"mul.lo.u32 %r4, %r4, {form.bytes}; cvt.u64.u32 %l10, %r4;",
              f"mul.wide.u32 %l6, %r1, {AREA}; add.u64 %l6, %l6, %l2;",
              "mul.wide.u32 %l7, %r0, 32; add.u64 %l7, %l7, %l1; mul.wide.u32 %l8, %r2, 16; add.u64 %l8, %l8, %l3;"]
    if in_shared:
        lines.append("mul.wide.u32 %l11, %r0, 16; add.u64 %l12, %l11, %l6; mov.u64 %l13, s; add.u64 %l11, %l11, %l13;")
        lines += copy_area("into", "global", "%l12", "shared", "%l11")
        lines.append("add.u64 %l9, %l13, %l10;")
        if form.place == "shared generic":
            lines.append("cvta.shared.u64 %l9, %l9;")
        if form.kind in ("async", "bulk load"):
            lines.append(f"vote.sync.ballot.b32 %r10, %p0, -1; popc.b32 %r10, %r10; mul.lo.u32 %r10, %r10, {form.bytes}; mov.u64 %l14, m;")
            lines.append("setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [%l14], 1; fence.proxy.async; bar.sync 0;")
            lines.append("@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%l14], %r10; mov.u64 %l19, %l14;")
        if form.place == "cluster" and form.kind == "async":
            lines.append("mapa.shared::cluster.u64 %l19, %l14, 1;")
        if form.place == "cluster":
            lines.append("mapa.shared::cluster.u64 %l9, %l9, 1; setp.eq.and.u32 %p0, %r9, 0, %p0;")
            lines.append("barrier.cluster.arrive; barrier.cluster.wait;")
    else:
        lines.append("add.u64 %l9, %l6, %l10;")
    lines.append("bar.sync 0;")
    for e in range(v):  # elements of `values` in registers 10 and up
        at = e * bits // 8
        if bits == 128:
            lines.append("ld.global.v2.u64 {%w0, %w1}, [%l7]; mov.b128 %q1, {%w0, %w1};")
        else:
            lines.append(f"ld.global.{'u8' if bits == 8 else 'b' + str(bits)} {r}{10 + e}, [%l7+{at}];")

    def vector(first):
        names = [f"{r}{first + e}" for e in range(v)]
        return names[0] if v == 1 else "{" + ", ".join(names) + "}"

    source = "%q1" if bits == 128 else vector(10)
    guard = "@%p0 " if form.guard == "predicate" else ""
    if form.guard == "branch":
        lines.append("@!%p0 bra past;")
    if form.kind == "store":
        lines.append(f"{guard}{form.op} [%l9], {source};")
    elif form.kind == "atomic":
        compared = ", ".join([source] if "cas" not in form.op else ["%q2" if bits == 128 else f"{r}30", source])
        if "cas" in form.op:
            lines.append("mov.u64 %w8, 0xeeeeeeeeeeeeeeee; mov.b128 %q2, {%w8, %w8};" if bits == 128 else
                         f"mov.b{bits} {r}30, 0x{'ee' * (bits // 8)};")
        if form.returns:
            to = "%q3" if bits == 128 else vector(20)
            if bits == 128:
                lines.append("mov.u64 %w9, 0; mov.b128 %q3, {%w9, %w9};")
            else:
                lines += [f"mov.b{bits} {r}{20 + e}, 0;" for e in range(v)]
            lines.append(f"{guard}{form.op} {to}, [%l9], {compared};")
            if bits == 128:
                lines.append("mov.b128 {%w20, %w21}, %q3; st.global.v2.u64 [%l8], {%w20, %w21};")
            else:
                lines += [f"st.global.b{bits} [%l8+{e * bits // 8}], {r}{20 + e};" for e in range(v)]
        else:
            lines.append(f"{guard}{form.op} [%l9], {compared};")
    elif form.kind in ("async", "bulk load"):
        lines.append(f"{guard}{form.op} [%l9], " + (f"{source}, [%l19];" if form.kind == "async" else "[%l7], 16, [%l19];"))
        lines.append("setp.ne.u32 %p2, %r9, 1; @%p2 bra past;")
        lines.append("again: mbarrier.try_wait.parity.shared.b64 %p2, [%l14], 0; @!%p2 bra again;")
    elif form.kind == "copy":
        lines.append(f"{guard}{form.op} [%l9], [%l7], {form.bytes}; cp.async.wait_all;")
    elif form.kind == "bulk store":
        lines.append("mov.u64 %l14, t; mul.wide.u32 %l15, %r0, 16; add.u64 %l14, %l14, %l15; ld.global.v2.u64 {%w0, %w1}, [%l7];")
        lines.append("st.shared.v2.u64 [%l14], {%w0, %w1}; fence.proxy.async; bar.sync 0;")
        lines.append(f"{guard}{form.op} [%l9], [%l14], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;")
    elif form.kind == "matrix":
        rows = "{" + ", ".join(f"%v{10 + e}" for e in range(v)) + "}"
        lines.append(f"{form.op} [%l9], {rows};")
    elif form.kind in ("surface", "texel"):
        if form.kind == "texel":
            lines.append("shr.u32 %r4, %r4, 4;")
        given = vector(10) if v > 1 else "{" + vector(10) + "}"
        lines.append(f"{guard}{form.op} [%l4, {{%r4, %r1}}], {given};")
    if form.guard == "branch" or form.kind in ("async", "bulk load"):
        lines.append("past:")
    lines.append("bar.sync 0;")
    if form.place == "cluster":
        lines.append("barrier.cluster.arrive; barrier.cluster.wait; setp.eq.u32 %p3, %r9, 0; @%p3 bra done;")
    if in_shared:
        lines += copy_area("back", "shared", "%l11", "global", "%l12")
    parameters = ", ".join(f".param .u64 {p}" for p in ("cases", "values", "memory", "returned", "surface"))
    return "\n".join([f".visible .entry {name}({parameters})"] + lines + ["done: ret;", "}"])


def fnv(data, value=0x811C9DC5):
    for byte in data:
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


def taking_part(form, case):
    if form.kind != "matrix":
        return [i for i in range(32) if case[i] >= 0]
    return list(range(8 * form.vector))


def winners(form, case, memory):
    """The digit of the lane that wrote each used slot; ? where its bytes are of several lanes."""
    text = ""
    lanes = taking_part(form, case)
    for slot in sorted({max(case[i], 0) for i in lanes}):
        data = memory[slot * form.bytes:(slot + 1) * form.bytes]
        text += "0123456789abcdefghijklmnopqrstuv"[data[0]] if len(set(data)) == 1 and data[0] < 32 else "?"
    return text


def hashed(form, case, memory, returned):
    lanes = taking_part(form, case)
    data = b"".join(memory[s * form.bytes:(s + 1) * form.bytes] for s in sorted({case[i] for i in lanes}))
    if form.returns:
        data += b"".join(returned[16 * i:16 * i + form.bytes] for i in lanes)
    return f"{fnv(data):08x}", data.hex()


class Gpu:
    """A context with everything in it; after an error another one takes its place."""

    def __init__(self, text, cases, values):
        from cuda_driver import Driver

        ctypes.CDLL("libcuda.so.1").cuDevicePrimaryCtxReset_v2(0)
        self.device = device = Driver()
        self.module = ctypes.c_void_p()
        device.call("cuModuleLoadData", ctypes.byref(self.module), ctypes.c_char_p(text.encode()))
        words = [(s & 0xFFFF) | 1 << 31 if s >= 0 else 0 for c in cases for s in c]
        self.table = device.memory(struct.pack(f"<{len(words)}I", *words))
        self.values = {name: device.memory(data) for name, data in values.items()}
        self.returned = device.memory(bytes(512 * len(cases)))
        self.memory = device.memory(bytes(AREA * len(cases)))

    def run(self, kernel, form, initial, count):
        device, fill, surface = self.device, bytes.fromhex(initial) * (AREA * count // 8), ctypes.c_ulonglong()
        function = ctypes.c_void_p()
        device.call("cuModuleGetFunction", ctypes.byref(function), self.module, ctypes.c_char_p(kernel.encode()))
        if form.place == "surface":
            shape = {"kind": "2d", "format": "u32", "channels": 4, "size": [AREA // 16, count], "surface": True}
            array = device.texture(shape, [fill])
            surface = device.surface_object(shape, array, 1)
        else:
            device.call("cuMemcpyHtoD_v2", self.memory, fill, ctypes.c_size_t(len(fill)))
        blocks = count * (2 if form.cluster else 1)
        device.launch(function, blocks, 32, [self.table, self.values[form.values], self.memory, self.returned, surface])
        if form.place != "surface":
            return device.read(self.memory, len(fill)), device.read(self.returned, 512 * count) if form.returns else b""
        data = device.copy(shape, array, 0, bytes(len(fill)), False)[:len(fill)]
        device.call("cuSurfObjectDestroy", surface)
        device.call("cuArrayDestroy", array)
        return data, b""


def main():
    here = os.environ.get("OUT", os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    forms = list(store_forms()) + list(atomic_forms())
    cases, few = make_cases()
    values = make_values()
    text = PTX_HEADER + "\n".join(kernel(f"k{i}", f) for i, f in enumerate(forms)) + "\n"
    with open(os.path.join(here, "collisions.ptx"), "w") as file:
        file.write(text)
    if "--ptx" in sys.argv:
        return
    from cuda_driver import DriverError

    raw, known = {}, {}
    gpu = Gpu(text, cases, values)
    with open(os.path.join(here, "collisions.jsonl"), "w") as file:
        file.write(json.dumps({"cases": cases}).replace(" ", "") + "\n")
        for name, data in values.items():
            file.write(json.dumps({"values": name, "bytes": data.hex()}) + "\n")
        for i, form in enumerate(forms):
            count = few if form.few else len(cases)
            line = {"op": form.op, "kernel": f"k{i}", "bytes": form.bytes, "values": form.values,
                    "initial": INITIAL.get(form.values, EE), "place": form.place}
            if form.kind == "matrix":
                line["all"] = 8 * form.vector
            for name in ("cluster", "returns"):
                if getattr(form, name):
                    line[name] = True
            if form.few:
                line["cases"] = few
            try:
                runs = [gpu.run(f"k{i}", form, line["initial"], count) for _ in range(3)]
            except DriverError as error:
                print(form.op, form.place, error)
                gpu = Gpu(text, cases, values)
                continue
            data, back = runs[0]
            parts = [(c, data[AREA * k:AREA * (k + 1)], back[512 * k:512 * (k + 1)]) for k, c in enumerate(cases[:count])]
            if form.hashed:
                both = [hashed(form, *part) for part in parts]
                line["hashes"] = "".join(h for h, _ in both)
                raw[form.op + " " + form.place] = [d for _, d in both]
            else:
                answers = " ".join(winners(form, c, area) for c, area, _ in parts)
                line["answers"] = known.get(answers, answers)
                known.setdefault(answers, f"k{i}")
                if "?" in answers:
                    raw[form.op + " " + form.place] = [area[:64 * form.bytes].hex() for _, area, _ in parts[:40]]
            if any(run != runs[0] for run in runs[1:]):
                line["varies"] = True
            file.write(json.dumps(line) + "\n")
    if "--raw" in sys.argv:
        with gzip.open(os.path.join(here, "collisions_raw.json.gz"), "wt") as file:
            json.dump(raw, file)


if __name__ == "__main__":
    main()
