"""Asks a GPU of compute capability 9.0 what instructions across a warp answer, and some special registers: writes
../warp_level.jsonl.

Needs CuPy. `warp_level.py --print FILE` writes the PTX to FILE instead, for ptxas to check; that needs no GPU.

The first line of the result has the text of a kernel with NAME, SHARED and BODY to be filled in; then a line per form:
`body`; `threads` of its one block; `shared` declarations; `result`, a word of 32 bits per thread in hexadecimal, and `p`, a
predicate per thread as the bits of one number, lowest thread first. Threads that exit early leave cccccccc and 0.
`open`: not compared; the manual leaves the answer undefined, or it depends on the machine.
Bodies find numbers in: %r1 thread; %r2 lane; %r10, %r11 mixed bits of the thread; %r12 0 to 31; %r13 one of four small
numbers; %r14 the fields of operand c of shfl; %rd10 one of four 64-bit numbers; %p1, %p2 two predicates that vary. They leave %r0 and %p0.
"""
import json
import os
import sys

KERNEL = """.visible .entry NAME(.param .u64 out) {
.reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .pred %p<10>;
SHARED
ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %laneid; mul.wide.u32 %rd2, %r1, 8; add.u64 %rd1, %rd1, %rd2;
mul.lo.u32 %r10, %r1, 0x9E3779B1; add.u32 %r10, %r10, 0x7F4A7C15; shr.u32 %r3, %r10, 15; xor.b32 %r10, %r10, %r3;
mul.lo.u32 %r10, %r10, 0x85EBCA77; shr.u32 %r3, %r10, 13; xor.b32 %r10, %r10, %r3;
mul.lo.u32 %r11, %r10, 0xC2B2AE3D; shr.u32 %r3, %r11, 16; xor.b32 %r11, %r11, %r3;
shr.u32 %r12, %r11, 27; and.b32 %r13, %r11, 3; mul.lo.u32 %r13, %r13, 0x40000001; shr.u32 %r14, %r10, 4; and.b32 %r14, %r14, 0x1f1f;
and.b32 %r3, %r10, 3; cvt.u64.u32 %rd10, %r3; mul.lo.u64 %rd10, %rd10, 0x100000001;
and.b32 %r3, %r10, 16; setp.ne.u32 %p1, %r3, 0; and.b32 %r3, %r11, 64; setp.ne.u32 %p2, %r3, 0;
mov.u32 %r0, 99; setp.ne.u32 %p0, %r1, %r1;
BODY
st.global.u32 [%rd1], %r0; selp.u32 %r3, 1, 0, %p0; st.global.u32 [%rd1+4], %r3;
ret;
}
"""
HEADER = ".version 8.3\n.target sm_90\n.address_size 64\n"

REDUX = ["add.u32", "add.s32", "min.u32", "max.u32", "min.s32", "max.s32", "and.b32", "or.b32", "xor.b32"]

def without_shuffles(mask):
    """Each instruction whose answer is defined for any group of lanes that names itself."""
    yield f"vote.sync.all.pred %p0, %p1, {mask};"
    yield f"vote.sync.any.pred %p0, %p1, {mask};"
    yield f"vote.sync.uni.pred %p0, !%p2, {mask};"
    yield f"vote.sync.ballot.b32 %r0, %p1, {mask};"
    yield f"vote.sync.ballot.b32 %r0, !%p2, {mask};"
    yield f"match.any.sync.b32 %r0, %r13, {mask};"
    yield f"match.any.sync.b64 %r0, %rd10, {mask};"
    yield f"match.all.sync.b32 %r0|%p0, %r13, {mask};"
    yield f"match.all.sync.b64 %r0|%p0, %rd10, {mask};"
    for op in REDUX:
        yield f"redux.sync.{op} %r0, %r10, {mask};"

def shuffles_inside(mask):
    """Sources are members where the mask is made of pairs, quads or halves."""
    yield f"shfl.sync.bfly.b32 %r0|%p0, %r10, 1, 31, {mask};"
    yield f"shfl.sync.idx.b32 %r0|%p0, %r10, 1, 0x1e1f, {mask};"
    yield f"shfl.sync.up.b32 %r0|%p0, %r10, 1, 0x1e00, {mask};"
    yield f"shfl.sync.down.b32 %r0|%p0, %r10, 1, 0x1e1f, {mask};"

def group(mask):
    yield from without_shuffles(mask)
    yield from shuffles_inside(mask)
    yield f"elect.sync %r0|%p0, {mask};"

def forms():
    def form(body, threads=32, shared="", open=False):
        return {"body": body, "threads": threads, "shared": shared, "open": open}

    # whole warps: every mode, clamps and segments as compilers write them, and others
    for mode in ("up", "down", "bfly", "idx"):
        for b in ("0", "1", "5", "16", "31", "33", "-1", "%r12", "%r11"):
            for c in ("0", "31", "0x1c1f", "0x1c00", "0x181f", "0x070f", "%r14"):
                if (b in ("5", "33") or c == "0x070f") and mode in ("up", "bfly") and b != "%r12":
                    continue
                yield form(f"shfl.sync.{mode}.b32 %r0|%p0, %r10, {b}, {c}, 0xffffffff;")
    for body in group("0xffffffff"):
        yield form(body, threads=64)
    yield form("shfl.sync.idx.b32 %r10, %r10, %r12, 31, -1; mov.u32 %r0, %r10;")
    yield form("setp.eq.u32 %p3, %r1, %r1; vote.sync.all.pred %p0, %p3, -1; vote.sync.uni.pred %p4, %p3, -1; selp.u32 %r0, 1, 0, %p4;")
    yield form("vote.sync.any.pred %p0, 0, -1; vote.sync.uni.pred %p4, 0, -1; selp.u32 %r0, 1, 0, %p4;")
    yield form("match.all.sync.b32 %r0|%p0, 7, -1;")
    yield form("mov.u64 %rd11, 0x100000000; setp.eq.u32 %p3, %r2, 4; @%p3 mov.u64 %rd11, 0; match.all.sync.b64 %r0|%p0, %rd11, -1;")
    yield form("activemask.b32 %r0;", threads=40)
    # a diverged warp: each side for itself
    for split, low, high in (("setp.lt.u32 %p3, %r2, 16;", "0x0000ffff", "0xffff0000"),
                             ("and.b32 %r4, %r2, 2; setp.ne.u32 %p3, %r4, 0;", "0xcccccccc", "0x33333333"),
                             ("setp.lt.u32 %p3, %r2, 6;", "0x3f", "0xffffffc0")):
        for a, b in zip(group(low), group(high)):
            yield form(f"{split} @%p3 bra LOW; {b} bra MEET; LOW: {a} MEET: bar.warp.sync -1;")
    # under a guard; the mask is the guard's
    guard = "shr.u32 %r4, %r2, 1; shr.u32 %r5, 0x35b9, %r4; and.b32 %r5, %r5, 1; setp.ne.u32 %p5, %r5, 0; vote.sync.ballot.b32 %r20, %p5, -1;"
    for body in group("%r20"):
        yield form(f"{guard} @%p5 {body}")
    yield form(f"{guard} @%p5 activemask.b32 %r0;", open=True)
    # lanes that have gone, or never were: the mask names them still
    for gone in ("setp.ge.u32 %p6, %r2, 20;", "and.b32 %r4, %r2, 4; setp.ne.u32 %p6, %r4, 0;"):
        for body in (*without_shuffles("-1"), *shuffles_inside("-1"), "elect.sync %r0|%p0, -1;"):
            yield form(f"{gone} @%p6 exit; {body}")
        yield form(f"{gone} @%p6 exit; activemask.b32 %r0;")
    for body in group("-1"):
        yield form(body, threads=40)
    # four groups in one instruction
    tile = "and.b32 %r4, %r2, 24; mov.u32 %r20, 255; shl.b32 %r20, %r20, %r4;"
    for body in group("%r20"):
        yield form(f"{tile} {body}")
    yield form("match.any.sync.b32 %r20, %r13, -1; elect.sync %r0|%p0, %r20;")
    yield form("match.any.sync.b32 %r20, %r13, -1; redux.sync.add.u32 %r0, %r10, %r20;")
    yield form("match.any.sync.b32 %r20, %r13, -1; brev.b32 %r21, %r20; bfind.shiftamt.u32 %r21, %r21; shfl.sync.idx.b32 %r0|%p0, %r10, %r21, 31, %r20;")
    # a subset of the warp, the others elsewhere
    for mask in ("0x80000001", "0x00ff0f00", "0x40000000"):
        choose = f"shr.u32 %r4, {mask}, %r2; and.b32 %r4, %r4, 1; setp.eq.u32 %p3, %r4, 0; @%p3 bra MEET;"
        for body in (*without_shuffles(mask), f"elect.sync %r0|%p0, {mask};"):
            yield form(f"{choose} {body} MEET: bar.warp.sync -1;")
    # what a lane gives that is not there: gone, never launched, elsewhere, not named
    for mode, b, c in (("down", "4", "31"), ("up", "3", "0"), ("bfly", "16", "31"), ("idx", "21", "31"), ("idx", "%r12", "31")):
        shuffle = f"shfl.sync.{mode}.b32 %r0|%p0, %r10, {b}, {c}, "
        yield form(f"setp.ge.u32 %p6, %r2, 20; @%p6 exit; {shuffle}-1;", open=True)
        yield form(f"and.b32 %r4, %r2, 1; setp.eq.u32 %p6, %r4, 0; @%p6 exit; {shuffle}-1;", open=True)
        yield form(f"{shuffle}-1;", threads=10, open=True)
        yield form(f"setp.lt.u32 %p3, %r2, 12; @!%p3 bra MEET; {shuffle}0xfff; MEET: bar.warp.sync -1;", open=True)
        yield form(f"setp.lt.u32 %p3, %r2, 12; @%p3 {shuffle}0xfff;", open=True)
    # special registers
    shared = ".shared .align 4 .b8 s[100];"
    touch = "mov.u32 %r4, s; st.shared.u32 [%r4], %r1;"
    for name in ("tid.w", "ntid.w", "nctaid.w", "ctaid.w", "ntid.x", "ntid.y", "nctaid.z", "laneid", "lanemask_eq", "lanemask_lt",
                 "lanemask_le", "lanemask_ge", "lanemask_gt", "clusterid.x", "nclusterid.x", "nclusterid.w", "cluster_ctaid.x",
                 "cluster_nctaid.x", "cluster_nctaid.w", "cluster_ctarank", "cluster_nctarank", "dynamic_smem_size"):
        yield form(f"mov.u32 %r0, %{name};", threads=40)
    yield form("mov.pred %p0, %is_explicit_cluster;")
    yield form(f"{touch} mov.u32 %r0, %total_smem_size;", shared=shared)
    yield form("mov.u32 %r0, %total_smem_size;")
    yield form("cvt.u32.u8 %r0, %tid.x; mov.v4.u32 {%r20, %r21, %r22, %r23}, %ntid; mad.lo.u32 %r0, %r20, 1000, %r0;", threads=300)
    for name in ("warpid", "nwarpid", "nsmid", "aggr_smem_size", "reserved_smem_offset_begin", "reserved_smem_offset_end",
                 "reserved_smem_offset_cap", "reserved_smem_offset_0", "reserved_smem_offset_1", "envreg0", "envreg1", "envreg2", "envreg31",
                 "pm0", "gridid"):
        yield form(f"{touch} mov.u32 %r0, %{name};", threads=64, shared=shared, open=True)
    yield form("mov.u64 %rd11, %current_graph_exec; cvt.u32.u64 %r0, %rd11;", open=True)

def text(some):
    kernels = [KERNEL.replace("NAME", f"k{i}").replace("SHARED", f["shared"]).replace("BODY", f["body"]) for i, f in some]
    return HEADER + "".join(kernels)

def answers(some):
    import cupy

    path = f"/tmp/warp_level{some[0][0]}.ptx"  # CuPy keeps modules by path
    open(path, "w").write(text(some))
    module = cupy.RawModule(path=path)
    for i, form in some:
        out = cupy.zeros(2 * form["threads"], dtype=cupy.uint32)
        out[0::2] = 0xCCCCCCCC
        module.get_function(f"k{i}")((1,), (form["threads"],), (out,))
        cupy.cuda.runtime.deviceSynchronize()
        words = [int(x) for x in out.get()]
        form["result"] = " ".join(f"{x:x}" for x in words[0::2])
        form["p"] = f"{sum(bit << t for t, bit in enumerate(words[1::2])):x}"
        if form["open"]:
            print(form["body"], form["threads"], form["result"], flush=True)

def main():
    todo = list(enumerate(forms()))
    if sys.argv[1:2] == ["--print"]:
        open(sys.argv[2], "w").write(text(todo))
        print(len(todo), "forms")
        return
    for start in range(0, len(todo), 100):
        answers(todo[start:start + 100])
    here = os.environ.get("OUT", os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    with open(os.path.join(here, "warp_level.jsonl"), "w") as file:
        file.write(json.dumps({"kernel": HEADER + KERNEL}) + "\n")
        for _, form in todo:
            file.write(json.dumps({k: v for k, v in form.items() if v}) + "\n")

main()
