"""Asks the assembler which targets have which instructions: writes ../targets.txt.

Needs ptxas (13 or later). The first line names the targets that were asked; each other line is a statement and those that
take it in PTX 9.0, without `sm_`. The registers are declared in REGISTERS.
"""
import itertools
import os
import re
import subprocess
import tempfile

TARGETS = ["75", "80", "86", "89", "90", "90a", "100", "100f", "100a", "103", "103f", "103a", "110", "110f", "110a",
           "120", "120f", "120a", "121", "121f", "121a"]
REGISTERS = ".reg .b8 %q<4>; .reg .b16 %h<4>; .reg .b32 %r<6>; .reg .b64 %l<4>; .reg .b128 %x<4>; .reg .f32 %f<6>; " \
            ".reg .f64 %d<4>; .reg .pred %p<4>; .reg .v2 .f32 %v; .reg .v4 .u32 %w;"

def spellings(*groups):
    """Every way through the groups; a group is a list of words, '' for none."""
    for words in itertools.product(*groups):
        yield "".join("." + w for w in words if w)

def statements():
    rounds, small = ["rn", "rz", "rm", "rp"], ["e4m3x2", "e5m2x2", "e2m1x2", "e2m3x2", "e3m2x2"]
    register = {"e2m1x2": "%q0", "e2m1x4": "%h0"}
    for s in spellings(["rn", "rz"], ["", "relu"], ["", "satfinite"], small, ["f32"]):
        yield f"cvt{s} {register.get(s.split('.')[-2], '%h0')}, %f0, %f1;"
    for s in spellings(["rn"], ["", "relu"], ["satfinite"], small[:3], ["f16x2"]):
        yield f"cvt{s} {register.get(s.split('.')[-2], '%h0')}, %r0;"
    for s in spellings(["", "rn"], ["", "relu"], ["", "satfinite"], ["f16x2"], small):
        yield f"cvt{s} %r0, {register.get(s.split('.')[-1], '%h0')};"
    for s in spellings(rounds, ["", "relu"], ["", "satfinite"], ["ue8m0x2"], ["f32"]):
        yield f"cvt{s} %h0, %f0, %f1;"
    for s in spellings(rounds, ["", "satfinite"], ["ue8m0x2"], ["bf16x2", "f16x2"]):
        yield f"cvt{s} %h0, %r0;"
    for s in spellings(["rn", "rz"], ["bf16x2", "f16x2"], ["ue8m0x2"]):
        yield f"cvt{s} %r0, %h0;"
    for s in spellings(["rn", "rz", "rs"], ["", "relu"], ["", "satfinite"], ["f16x2", "bf16x2"], ["f32"]):
        yield f"cvt{s} %r0, %f0, %f1{', %r1' if s.startswith('.rs') else ''};"
    for s in spellings(["rs", "rn"], ["", "relu"], ["", "satfinite"], ["e4m3x4", "e5m2x4", "e2m3x4", "e3m2x4"], ["f32"]):
        yield f"cvt{s} %r0, {{%f0, %f1, %f2, %f3}}, %r1;"
    for s in spellings(["rna", "rn", "rz", "rm"], ["", "relu"], ["", "satfinite"], ["tf32"], ["f32"]):
        yield f"cvt{s} %r0, %f0;"
    for s in spellings(["rn", "rz", "rm", "rp"], ["", "ftz"], ["", "relu"], ["", "satfinite"], ["f16", "bf16"], ["f32"]):
        yield f"cvt{s} %h0, %f0;"
    for t, r in {"u8": "%q", "s8": "%q", "u16": "%h", "s32": "%r", "u64": "%l", "f32": "%f", "f64": "%d"}.items():
        for wide in (r, "%l"): # a register may not be wider where bf16 takes part
            yield f"cvt.rn.bf16.{t} %h0, {wide}1;"
            yield f"cvt.{'rni.' if t[0] in 'us' else ''}{t}.bf16 {wide}0, %h1;"
    for s in spellings(["rn"], ["", "relu"], ["f16x2", "bf16x2", "e4m3x2"], ["f32"]):
        yield f"cvt{s} %l0, %f0, %f1;"
        yield f"cvt{s} %r0, %l0, %l1;"
    for op in ("add", "sub", "mul"):
        for s in spellings(["", "rn", "rz", "rm", "rp"], ["", "ftz"], ["", "sat"], ["f32x2"]):
            yield f"{op}{s} %l0, %l1, %l2;"
        for s in spellings(["", "rn", "rz", "rm", "rp"], ["", "ftz"], ["", "sat"], ["f32"], ["f16", "bf16"]):
            yield f"{op}{s} %f0, %h0, %f1;"
    for s in spellings(["", "rn", "rz", "rm", "rp"], ["", "ftz"], ["", "sat"], ["f32x2"]):
        yield f"fma{s} %l0, %l1, %l2, %l3;"
    for s in spellings(["", "rn", "rz", "rm", "rp"], ["", "ftz"], ["", "sat"], ["f32"], ["f16", "bf16"]):
        yield f"fma{s} %f0, %h0, %h1, %f1;"
    for op in ("min", "max"):
        for s in spellings(["", "ftz"], ["", "NaN"], ["", "xorsign"], ["", "abs"], ["f32"]):
            yield f"{op}{s} %f0, %f1, %f2;"
            yield f"{op}{s} %f0, %f1, %f2, %f3;"
        yield f"{op}.f64 %d0, %d1, %d2, %d3;"
    yield from """lop3.or.b32 %r0|%p0, %r1, %r2, %r3, 0x3f, %p1;
lop3.and.b32 _|%p0, %r1, %r2, %r3, 0x3f, !%p1;
lop3.and.b32 %r0|_, %r1, %r2, %r3, 0x3f, %p1;
lop3.and.b32 %r0, %r1, %r2, %r3, 0x3f, %p1;
lop3.xor.b32 %r0|%p0, %r1, %r2, %r3, 0x3f, %p1;
lop3.or.b32 %r0|%p0, %r1, %r2, %r3, 0x3f;
lop3.or.b32 %r0|%p0, %r1, %r2, %r3, %r4, %p1;
lop3.b32 %r0|%p0, %r1, %r2, %r3, 1;
mov.b128 %x0, %x1;
mov.b128 %x0, {%l0, %l1};
mov.b128 %x0, {%d0, %l1};
mov.b128 %x0, {%r0, %r1, %r2, %r3};
mov.b128 %x0, %w;
mov.b128 {%l0, _}, %x0;
mov.b128 {%r0, %r1, %r2, %r3}, %x0;
mov.b64 %l0, {%r0, %f1};
mov.b64 %l0, {%h0, %h1, %h2, %h3};
mov.b64 {%r0, %r1}, %d0;
mov.b64 {%r0, %r1}, {%r2, %r3};
mov.b64 %l0, %v;
mov.b64 %v, %l0;
mov.u64 %l0, {%r0, %r1};
mov.f64 %d0, {%r0, %r1};
mov.b32 %r0, {%q0, %q1, %q2, %q3};
mov.b32 %r0, {1, %h0};
mov.b32 {_, %h1}, %f0;
mov.b32 {%r0, %r1}, %r2;
mov.b16 %h0, {%q0, %q1};
mov.b16 {%q0, _}, %h0;
mov.v2.b32 {%r0, %r1}, {%r1, %r0};
mov.v2.f32 %v, {%f0, %f1};
mov.v2.u64 {%l0, %l1}, {%l1, %l0};
mov.v4.u64 {%l0, %l1, %l2, %l3}, {%l1, %l0, %l2, %l3};
mov.v4.u32 %w, %tid;
mov.v4.u32 {%r0, %r1, %r2, _}, %ntid;
mov.v4.u32 %w, {%r0, %r1};
mov.v2.u32 {%r0, %r1}, %l0;
mov.v2.b16 {%h0, %h1}, {%h1, %h0};
mov.v2.b8 {%q0, %q1}, {%q1, %q0};
mov.u32 %r0, %w.y;
mov.u32 %r0, %w;
mov.b8 %q0, %q1;
mov.f16 %h0, %h1;
ld.global.v2.f32 %v, [%l0];
st.global.v4.u32 [%l0], %w;
add.f32 %v.x, %v.y, %f0;""".splitlines()

def accepted(target, todo):
    head = f".version 9.0\n.target sm_{target}\n.address_size 64\n.visible .entry k()\n{{\n{REGISTERS}\n"
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(head + "\n".join(todo) + "\nret;\n}\n")
        file.flush()
        said = subprocess.run(["ptxas", f"-arch=sm_{target}", file.name, "-o", os.devnull], capture_output=True, text=True)
    refused = {int(n) for n in re.findall(r"line (\d+); error", said.stdout + said.stderr)}
    return [head.count("\n") + 1 + i not in refused for i in range(len(todo))]

def main():
    todo = list(dict.fromkeys(statements()))
    answers = {t: accepted(t, todo) for t in TARGETS}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "targets.txt"), "w") as out:
        print(*TARGETS, file=out)
        for i, statement in enumerate(todo):
            print(statement, *(t for t in TARGETS if answers[t][i]), file=out)

main()
