"""Asks a GPU what textures and surfaces answer: writes ../textures.txt, or $OUT/textures.txt.

    python3 textures.py                   needs an NVIDIA GPU of compute capability 9.0 and its driver, nothing else; a minute
    python3 textures.py --print FOLDER    writes the PTX of each question into FOLDER, for ptxas to check; no GPU

Each line of the result is JSON. The first has the text of the kernel, with STATEMENT to be filled in. Then sets of inputs:
`set`, and for each register that it fills the words of all threads in hexadecimal; the other registers are 0. Then
questions: `texture` (what the array is, and what its texels hold: content() below), `sampler`, `do` the statement, `in` the
set; and answers: `out`, for each word named in `keep` (%d0 to %d3) the values of all threads; `after`, what the texels hold
afterwards; `error`, what could not be done. `group` is what the question is about. Words that equal the one before are `=`.
"""
import json
import os
import struct
import subprocess
import sys

from textures_asked import questions, sets

KERNEL = """.version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u64 object, .param .u64 in, .param .u64 out) {
.reg .b64 %t, %q<2>, %rd<4>; .reg .b32 %a<12>, %d<4>, %r<4>; .reg .b16 %h<4>; .reg .pred %p<2>;
ld.param.u64 %t, [object]; ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.u32 %r0, %r1, %r2, %r0;
mul.wide.u32 %rd3, %r0, 48; add.u64 %rd1, %rd1, %rd3; mul.wide.u32 %rd3, %r0, 16; add.u64 %rd2, %rd2, %rd3;
ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%rd1];
ld.global.v4.b32 {%a4, %a5, %a6, %a7}, [%rd1+16];
ld.global.v4.b32 {%a8, %a9, %a10, %a11}, [%rd1+32];
mov.b32 %d0, 0xcccccccc; mov.b32 %d1, %d0; mov.b32 %d2, %d0; mov.b32 %d3, %d0;
STATEMENT
st.global.v4.b32 [%rd2], {%d0, %d1, %d2, %d3};
ret;
}
"""
FATAL = 3  # exit status: the context is lost, the rest needs a new process


def mixed(i):
    h = (i * 0x9E3779B1 + 0x7F4A7C15) & 0xFFFFFFFF
    h = ((h ^ h >> 15) * 0x85EBCA77) & 0xFFFFFFFF
    h = ((h ^ h >> 13) * 0xC2B2AE3D) & 0xFFFFFFFF
    return h ^ h >> 16


def number(kind, value):
    """The bits of a small number."""
    if kind == "f32":
        return struct.unpack("<I", struct.pack("<f", value))[0]
    return struct.unpack("<H", struct.pack("<e", value))[0] if kind == "f16" else value


def content(texture, i, texel, level):
    """The bits of component i of the texture: texel `texel` of level `level`; both are counted through all levels."""
    kind, what, h = texture["format"], texture.get("content", "mix"), mixed(i)
    if what == "index":  # whose number it is
        return number(kind, i)
    if what == "step":  # 0, 1, 0, 1, …
        return number(kind, texel & 1)
    if what == "level":
        return number(kind, level)
    if what == "unit":  # from 1 up to 2
        return h & 0x7FFFFF | 0x3F800000
    if what == "mix" and kind == "f32":  # exponents from -7 to 8
        return h & 0x807FFFFF | (120 + (h >> 23 & 15)) << 23
    if what == "mix" and kind == "f16":
        return h & 0x83FF | (8 + (h >> 10 & 15)) << 10
    return h  # wild: any bits


def texels(texture):
    """The bytes of each level."""
    from cuda_driver import FORMATS, extents
    size = FORMATS[texture["format"]][1] // 8
    levels, i, channels = [], 0, texture["channels"]
    for level in range(texture.get("levels", 1)):
        w, h, d = extents(texture, level)
        data = bytearray()
        for _ in range(w * h * d * channels):
            data += (content(texture, i, i // channels, level) & (1 << 8 * size) - 1).to_bytes(size, "little")
            i += 1
        levels.append(bytes(data))
    return levels


def filled_in(question):
    return KERNEL.replace("STATEMENT", question["do"])


def shortened(words):
    return " ".join("=" if i and w == words[i - 1] else f"{w:x}" for i, w in enumerate(words))


def answer(driver, question, inputs):
    texture = question["texture"]
    levels = texels(texture)
    kernel = driver.kernel(filled_in(question))
    array = driver.texture(texture, levels)
    if "sampler" in question:
        handle = driver.texture_object(texture, array, len(levels), question["sampler"])
    else:
        handle = driver.surface_object(texture, array, len(levels))
    columns = inputs[question["in"]]
    rows = len(next(iter(columns.values())))
    table = b"".join(struct.pack("<12I", *(columns.get(f"a{c}", [0] * rows)[r] for c in range(12))) for r in range(rows))
    given, out = driver.memory(table), driver.memory(bytes(16 * rows))
    driver.launch(kernel, rows // 32, 32, [handle, given, out])
    words = struct.unpack(f"<{4 * rows}I", driver.read(out, 16 * rows))
    result = {"out": {d: shortened(words[int(d[1])::4]) for d in question["keep"]}}
    if question.get("after"):
        result["after"] = driver.copy(texture, array, 0, bytes(len(levels[0])), False).hex()
    return result


def ask(first, path):
    """Answers questions from number `first` on, until one of them costs the context."""
    from cuda_driver import Driver, DriverError
    driver, inputs = Driver(), sets()
    for i, question in enumerate(questions()):
        if i < first:
            continue
        lost = False
        try:
            result = answer(driver, question, inputs)
        except DriverError as error:
            result = {"error": str(error)}
            print(i, question["group"], question["do"], error, flush=True)
            lost = str(error).startswith(("cuCtxSynchronize", "cuMemAlloc", "cuMemcpyDtoH"))
        with open(path, "a") as file:
            file.write(json.dumps(question | result) + "\n")
        if lost:
            return FATAL
    return 0


def main():
    everything = list(questions())
    if sys.argv[1:2] == ["--print"]:
        os.makedirs(sys.argv[2], exist_ok=True)
        for text in {filled_in(q) for q in everything}:
            open(os.path.join(sys.argv[2], f"{abs(hash(text)):x}.ptx"), "w").write(text)
        print(len(everything), "questions,", sum(len(next(iter(sets()[q["in"]].values()))) * len(q["keep"]) for q in everything), "words")
        return 0
    if sys.argv[1:2] == ["--from"]:
        return ask(int(sys.argv[2]), sys.argv[3])
    here = os.environ.get("OUT", os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    path = os.path.join(here, "textures.txt")
    with open(path, "w") as file:
        file.write(json.dumps({"kernel": KERNEL}) + "\n")
        for name, columns in sets().items():
            file.write(json.dumps({"set": name} | {c: shortened(words) for c, words in columns.items()}) + "\n")
    before = sum(1 for _ in open(path))
    while (done := sum(1 for _ in open(path)) - before) < len(everything):
        status = subprocess.run([sys.executable, os.path.abspath(__file__), "--from", str(done), path]).returncode
        if status not in (0, FATAL) or sum(1 for _ in open(path)) - before == done:
            print("stopped at question", done, "with status", status)
            return 1
    print(len(everything), "questions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
