"""Asks a GPU which NaN arithmetic gives: writes ../nans.jsonl. Needs only NVIDIA's driver.

The first line holds the operands that were combined, as bits in hexadecimal: `f32` and `f64`. Further lines:
{"op", "ptx", "operands", "results"}: kernel k(buffer) of `ptx`, one thread for each combination. Thread i finds its
operands, of the type `from`, in the 64-bit words 4 i, 4 i + 1 and 4 i + 2 of `buffer`, and leaves its result in word
4 i + 3. Its operand j is the element (i / n^j) % n of the n. `results` are those words. An atomic adds to word 4 i, and
the result is what it leaves there.
"""
import itertools
import json
import os
import struct

OPERANDS = {
    "f32": [0x3FC00000, 0x7FC00000, 0xFFC00123, 0x7FE0BEEF, 0x7F800001, 0xFFA00077, 0x7F800000, 0xFF800000, 0, 0xBF800000],
    "f64": [0x3FF8 << 48, 0x7FF8 << 48, 0xFFF8000000000123, 0x7FFC0000DEADBEEF, 0x7FF0000000000001, 0xFFF4000000000077,
            0x7FF << 52, 0xFFF << 52, 0, 0xBFF << 52],
}
BOTH = {1: "rcp.rn sqrt.rn neg abs", 2: "add sub mul div.rn div.rz min max copysign", 3: "fma.rn"}
SINGLE = {1: "rcp.approx rcp.approx.ftz sqrt.approx rsqrt.approx sin.approx cos.approx lg2.approx ex2.approx tanh.approx "
             "neg.ftz abs.ftz sqrt.rn.ftz",
          2: "add.ftz add.sat add.rz sub.ftz mul.ftz mul.sat div.approx div.approx.ftz div.full min.NaN max.NaN",
          3: "fma.rn.ftz fma.rz.sat"}
DOUBLE = {1: "rcp.approx.ftz rsqrt.approx rsqrt.approx.ftz", 2: "", 3: ""}
CONVERSIONS = ["cvt.rni.f32.f32", "cvt.rni.f64.f64", "cvt.f64.f32", "cvt.rn.f32.f64", "cvt.sat.f32.f32"]
MMA = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"


def questions():
    """(instruction, number of operands, type of the operands, type of the result)"""
    for single_only, names in ((False, BOTH), (True, SINGLE)):
        for count, text in names.items():
            for name in text.split():
                for t in ("f32",) if single_only else ("f32", "f64"):
                    yield f"{name}.{t}", count, t, t
    for count, text in DOUBLE.items():
        for name in text.split():
            yield f"{name}.f64", count, "f64", "f64"
    for name in CONVERSIONS:
        yield name, 1, name[-3:], name[-7:-4]
    for t in ("f32", "f64"):
        yield f"atom.global.add.{t}", 2, t, t
    yield MMA, 3, "f64", "f64"


def kernel(name, count, operand, result):
    source, target = (f"%{t[1:]}_" for t in (operand, result))
    statement = f"{name} {target}3, " + ", ".join(f"{source}{j}" for j in range(count)) + ";"
    if name == MMA:
        statement = f"{name} {{%64_3, %64_4}}, {{%64_0}}, {{%64_1}}, {{%64_2, %64_2}};"
    elif name.startswith("atom"):
        statement = f"{name} {target}4, [%a], {source}1;\nld.global.{result} {target}3, [%a];"
    loads = "\n".join(f"ld.global.{operand} {source}{j}, [%a+{8 * j}];" for j in range(3))
    text = f""".version 7.8
.target sm_90
.address_size 64
.visible .entry k(.param .u64 buffer)
{{
.reg .f32 %32_<5>; .reg .f64 %64_<5>; .reg .b64 %a; .reg .u32 %i;
ld.param.u64 %a, [buffer];
mov.u32 %i, %tid.x;
mad.wide.u32 %a, %i, 32, %a;
{loads}
{statement}
st.global.{result} [%a+24], {target}3;
ret;
}}
"""
    return text.replace("%32_", "%f").replace("%64_", "%d")


def main():
    from cuda_driver import Driver

    here = os.environ.get("OUT", os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    device = Driver()
    with open(os.path.join(here, "nans.jsonl"), "w") as file:
        file.write(json.dumps({t: [f"{x:x}" for x in values] for t, values in OPERANDS.items()}) + "\n")
        for name, count, operand, result in questions():
            threads = [tuple(reversed(x)) for x in itertools.product(OPERANDS[operand], repeat=count)]
            if name == MMA:
                threads = threads[: len(threads) // 32 * 32]
            words = [w for x in threads for w in x + (0,) * (4 - count)]
            buffer = device.memory(struct.pack(f"<{len(words)}Q", *words))
            ptx = kernel(name, count, operand, result)
            device.launch(device.kernel(ptx), 1, len(threads), [buffer])
            words = struct.unpack(f"<{len(words)}Q", device.read(buffer, 8 * len(words)))
            file.write(json.dumps({"op": name, "ptx": ptx, "from": operand, "operands": count,
                                   "results": " ".join(f"{w:x}" for w in words[3::4])}) + "\n")


if __name__ == "__main__":
    main()
