"""Directives and declarations, right and wrong, for ptxas to judge: writes mutations.txt.

    python3 mutations.py

Half of the modules are put together from parts, some of which do not belong there; the other half are sound modules in
which a word was dropped, repeated, replaced, moved or added, or that end too early. The same seed makes the same list. Each
is asked for every version and target of PLACES. tests/assembler compares the answers with ours and needs no ptxas.
"""
import concurrent.futures
import os
import random
import re

from assembler import HERE, Crash, run

SEED = 17
PLACES = [(10, "sm_10"), (14, "sm_13"), (20, "sm_20"), (31, "sm_30"), (64, "sm_70"), (90, "sm_90")]

SPACES = ".reg .sreg .const .global .local .param .shared .tex".split()
LINKAGES = ["", "", "", "", ".visible", ".extern", ".weak", ".common", ".visible .extern"]
TYPES = (".b8 .b16 .b32 .b64 .b128 .u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64 .f16 .f16x2 .f32 .f64 .pred .bf16 .texref .samplerref "
         ".surfref").split()
COMMON_TYPES = ".b8 .b32 .b64 .u32 .f32 .f64".split()
VECTORS = ["", "", "", "", ".v2", ".v4", ".v8", ".v3"]
ALIGNMENTS = ["", "", "", ".align 1", ".align 4", ".align 8", ".align 16", ".align 128", ".align 3", ".align 0", ".align 256", ".align 512"]
NAMES = ["x", "x", "x", "%x", "_x", "$x", "x$1", "_", "%", "x.y", "1x", "%r<4>", "x<3>", "x<0>"]
EXTENTS = ["", "", "", "[4]", "[2][3]", "[]", "[][2]", "[0]", "[2][]", "[1+1]", "[-1]", "[1.0]", "[4]", "[2U]", "[0x4]"]
INITIALIZERS = ["", "", "", "= 1", "= 1.5", "= 0f3F800000", "= {1, 2}", "= {1, 2, 3, 4, 5}", "= {}", "= {{1, 2}, {3}}", "= x", "= y", "= y + 4",
                "= {y, 0}", "= generic(y)", "= -1", "= 1 + 2 * 3", "= {1, 2", "= 300", "= (1 == 1) ? 2 : 3", "= {1.0, 2.0}", "= {0d3FF0000000000000}",
                "= 0xFF(y)", "= f", "= {generic(y) + 4}", "= y - 4", "= 4 + y", "= WARP_SZ", "= !0", "= ~0", "= (.s64) 1", "= {1, 2,}", '= "a"']


def text_of(*parts):
    return " ".join(p for p in parts if p)


def declaration(rng, space=None):
    """A declaration in which most parts are plain."""
    odd = rng.sample(["linkage", "type", "vector", "align", "name", "extent", "value"], rng.choice([0, 1, 1, 2, 2, 3]))
    pick = lambda part, choices, plain="": rng.choice(choices) if part in odd else plain
    space = space or rng.choice(SPACES)
    return text_of(pick("linkage", LINKAGES), space, pick("align", ALIGNMENTS), pick("vector", VECTORS),
                   pick("type", TYPES, rng.choice(COMMON_TYPES)),
                   pick("name", NAMES, "x") + pick("extent", EXTENTS), pick("value", INITIALIZERS)) + ";"


def declarations(rng):
    """At module scope and in bodies."""
    around = ["{}", "{}", ".global .u32 y; .func f() {{ ret; }} {}", ".entry k() {{ {} ret; }}", ".global .u32 y; .entry k() {{ {} ret; }}",
              ".func f() {{ {} ret; }}", ".entry k() {{ {{ {} }} ret; }}", "{0} {0}", ".entry k() {{ {0} {0} ret; }}",
              "{0} .entry k() {{ {0} ret; }}"]
    while True:
        yield rng.choice(around).format(declaration(rng))


PARAMETERS = [".param .u32 a", ".param .u64 a", ".param .f32 a", ".param .b8 a", ".param .pred a", ".reg .u32 a", ".reg .pred a", ".reg .f64 a",
              ".reg .v2 .u32 a", ".reg .v4 .f32 a", ".param .v2 .u32 a", ".param .v4 .b32 a", ".param .align 8 .b8 a[16]", ".param .b8 a[16]",
              ".param .align 8 .b8 a[]", ".param .b32 a[]", ".param .b32 a[2][2]", ".param .u64 .ptr a", ".param .u64 .ptr .global a",
              ".param .u64 .ptr .global .align 16 a", ".param .u32 .ptr .shared .align 4 a", ".param .u64 .ptr .align 8 a", ".param .u64 .ptr .const a",
              ".param .u64 .ptr .local .align 3 a", ".param .f32 .ptr .global a", ".param .b64 .ptr .param a", ".param .u64 _", ".reg .u32 _",
              ".param .b32 %a", ".param .align 4 .u32 a", ".param .align 3 .u32 a", ".param .texref a", ".param .u64 .texref a", ".param .samplerref a",
              ".param .surfref a", ".global .u32 a", ".shared .u32 a", ".const .u32 a", ".local .b8 a[4]", ".param a", ".param .u32",
              ".u32 a", "a", ".param .u32 a = 1", ".param .b128 a", ".reg .b128 a", ".param .f16 a", ".param .f16x2 a", ".reg .f16x2 a",
              ".reg .u32 a[2]", ".reg .u32 a<2>", ".param .u32 a, .param .u32 b", ".param .u32 a, .param .u32 a", ".reg .u32 a, .param .u32 b",
              ".param .b8 a[4], .param .b8 b[]", ".param .b8 a[], .param .u32 b", ".param .u32 a,", ", .param .u32 a", ".param .u16 a", ".reg .u16 a",
              ".reg .b8 a", ".param .b8 a[0]", ".param .align 128 .b8 a[64]", ".param .align 256 .b8 a[64]", ".sreg .u32 a", ".tex .u32 a",
              ".const .align 4 .b8 a[4]", ".extern .param .u32 a", ".param .u32 a .align 4", ".param .u32 .align 4 a", ".param .v2 .align 8 .u32 a"]
PERFORMANCE = [".maxntid 32", ".maxntid 16, 16", ".maxntid 8, 8, 8", ".maxntid", ".maxntid 0", ".maxntid 1024", ".maxntid 2048", ".maxntid 1,1,1,1",
               ".maxntid -1", ".maxntid 4294967296", ".maxntid 32 32", ".maxntid 1.5", ".reqntid 32", ".reqntid 16, 16, 2", ".reqntid 0", ".reqntid",
               ".minnctapersm 2", ".minnctapersm 0", ".minnctapersm 2, 2", ".maxnctapersm 2", ".maxnreg 32", ".maxnreg 0", ".maxnreg 1000", ".maxnreg",
               ".maxnreg 16, 16", ".noreturn", ".noreturn 1", ".reqnctapercluster 2", ".reqnctapercluster 2, 2, 2", ".reqnctapercluster 0",
               ".reqnctapercluster 4, 4, 4", ".explicitcluster", ".explicitcluster 1", ".maxclusterrank 8", ".maxclusterrank 0", ".blocksareclusters",
               '.pragma "nounroll";', '.pragma "nounroll"', '.pragma "unknown";', '.pragma "nounroll", "abi";', ".pragma nounroll;", ".pragma;",
               ".abi_preserve 4", ".abi_preserve_control 4", ".abi_preserve 300", ".unknown", ".unknown 4", ".align 4", ".attribute(.unified)",
               ".maxntid 0x20", ".maxntid 32U", ".maxntid (32)", ".maxntid 16+16", ".minnctapersm 1.0", ".visible", ".file 1", ".pragma \"nounroll\" ;;"]
ENDS = ["{ ret; }", "{ ret; }", ";", "", "{ }", "{ ret; };", "{ ret }", "{ ret;", "ret; }", "; { ret; }"]


def functions(rng):
    while True:
        kind = rng.choice([".entry", ".func", ".func"])
        linkage = rng.choice(LINKAGES)
        one = lambda: "(" + rng.choice([rng.choice(PARAMETERS), rng.choice(PARAMETERS[:14])]) + ")"
        results = one() if rng.random() < (0.05 if kind == ".entry" else 0.35) else ""
        params = rng.choice([one(), one(), "()", "()", ""])
        directives = rng.sample(PERFORMANCE, rng.choice([0, 0, 0, 1, 1, 1, 2]))
        name = rng.choice(["f"] * 8 + ["%f", "_", "f.g", "$f", "1f", "", "f g"])
        attribute = rng.choice([""] * 8 + [".attribute(.unified(1, 2))", ".attribute(.managed)", ".noreturn", ".attribute()", ".align 4"])
        end = rng.choice(ENDS) if rng.random() < 0.5 else "{ ret; }"
        after = rng.choice([""] * 6 + [".global .u32 y;", ".entry g() { ret; }", ".func f;", ".func f() { ret; }", ".entry f() { ret; }", ".global .u32 f;",
                                       ".extern .func f();", ".func g() { call f; ret; }"])
        yield text_of(linkage, kind, attribute, results, name, params, *directives, end, after)


def performance(rng):
    """Each directive alone, and pairs, on kernels and on functions."""
    for kind in (".entry", ".func"):
        for one in PERFORMANCE:
            yield f"{kind} f() {one} {{ ret; }}"
            yield f"{kind} f() {one} ;"
    while True:
        yield f".entry f() {' '.join(rng.sample(PERFORMANCE, rng.choice([2, 2, 3])))} {{ ret; }}"


DEBUG = ['.file 1 "a.cu"', '.file 1 "a.cu" .loc 1 2 3', '.file 0 "a.cu"', '.file "a.cu"', '.file 1 a.cu', '.file 1 "a.cu", 1, 2', '.file 1 "a.cu", 1',
         '.file 1 "a.cu";', '.file 1 "a.cu" .file 1 "a.cu"', '.file 1 "a.cu" .file 1 "b.cu"', '.file -1 "a.cu"', '.file 1.5 "a.cu"', '.file 1 ""',
         ".section .debug_str { }", ".section .debug_info { .b8 1 }", ".section .debug_info { .b8 1, 2, 0xFF .b32 5 L: .b64 L }",
         ".section .debug_info { .b8 300 }", ".section .debug_info { .b16 L-M }", ".section .debug_info { .b64 .debug_str }", ".section debug_info { .b8 1 }",
         ".section .debug_info { .b8 1; }", ".section .debug_info { .b32 .debug_str+4 .b32 x+1 }", ".section .debug_info { .b8 -1 }",
         ".section .foo { .b8 1 }", ".section .debug_info .b8 1", ".section .debug_info { .u32 1 }", ".section .debug_info { .f32 1.0 }",
         ".section .debug_info {", ".section { .b8 1 }", ".section .debug_loc { .b64 L:", ".section .debug_loc { L: M: .b8 1 }",
         '@@DWARF .section .debug_info', '@@DWARF .byte 0x01', '.pragma "nounroll";', '.pragma "a", "b";', ".pragma;", '.pragma "a"',
         ".alias f, g;", ".alias g, f;", ".alias f, f;", ".alias f;", ".alias f, k;", ".alias k, f;", ".alias f, h;", ".alias f, x;", ".alias f, g", ".alias f g;",
         ".alias g, f; .alias h, g;", ".alias g, f; .alias g, f;", ".loc 1 2 3"]
IN_BODY = ['.loc 1 2 3', '.loc 1 2', '.loc 1', '.loc 2 2 3', '.loc 1 2 3;', '.loc 1 0 0', '.loc 1 -2 3', '.loc 1 2 3 4', '.loc 1 2 3, function_name n, inlined_at 1 2 3',
           '.loc 1 2 3, function_name n', '.loc 1 2 3, inlined_at 1 2 3, function_name n', '.loc 1 2 3, function_name n + 4, inlined_at 1 2 3', '.loc 1 2 3,',
           '.pragma "nounroll";', '.pragma "nounroll"', '.pragma nounroll;', '.file 1 "b.cu"', '.section .debug_info { .b8 1 }', '.alias f, g;', '.version 2.0',
           '.target sm_20', '.entry j() { ret; }', '.func j() { ret; }', '.maxntid 32', '{ }', '{ { } }', '{', '}', ';', ';;', '{ ret; }', 'L:', 'L: L:', 'L: { L: }',
           '{ L: } bra L;', '{ L: } { L: }', 'L: bra L;', 'bra L; L:', 'bra M;', '{ bra L; } L:', 'L: ret;', 'L : ret;', '%L: bra %L;', '$L: bra $L;', 'L:: ret;', '1: bra 1;', 'r: bra r;',
           'k: ret;', 'f: ret;', 'x: ret;', 'L: .reg .u32 s;', 'L: .loc 1 2 3', 'L: .global .u32 z;', '.reg .u32 L; L: ret;', 'L: .reg .u32 L;',
           'A: B: T: .branchtargets A, B; brx.idx r, T;', 'T: .branchtargets A; A: brx.idx r, T;', 'A: T: .branchtargets A', '.branchtargets A; A:', 'A: T: .branchtargets;',
           'T: .branchtargets M;', 'A: T: .branchtargets A, A;', 'T: .branchtargets f;', 'T: .branchtargets T;', 'A: T: .branchtargets A B;', 'A: T: .branchtargets A,;',
           'A: T: .branchtargets A; T: ret;', 'A: T: .branchtargets A; bra T;', 'A: T: .branchtargets A; mov.u32 r, T;', '{ A: } T: .branchtargets A;',
           'T: .calltargets f;', 'T: .calltargets f, f;', 'T: .calltargets;', '.calltargets f;', 'T: .calltargets k;', 'T: .calltargets h;', 'T: .calltargets x;',
           'T: .calltargets f; call q, T;', 'T: .calltargets f; call (r), q, (r), T;', 'T: .calltargets f; call q, f;', 'call q, T; T: .calltargets f;',
           'P: .callprototype _ ();', 'P: .callprototype _;', 'P: .callprototype ();', 'P: .callprototype () _ ();', 'P: .callprototype (.param .u32 _) _ (.param .u32 _);',
           'P: .callprototype (.param .u32 a) _ (.param .u32 b);', 'P: .callprototype _ (.param .u32);', 'P: .callprototype (.reg .u32 _) _ (.reg .u32 _, .reg .f32 _);',
           'P: .callprototype _ (.param .align 8 .b8 _[8]);', 'P: .callprototype _ (.param .b8 _[]);', 'P: .callprototype f ();', 'P: .callprototype _ () .noreturn;',
           'P: .callprototype _ () .abi_preserve 4;', 'P: .callprototype _ () .maxntid 32;', '.callprototype _ ();', 'P: .callprototype _ ()', 'P: .callprototype _ (); call q, (), P;',
           'P: .callprototype _ (); call q, P;', 'P: .callprototype _ (.reg .u32 _); call q, (r), P;', 'P: .callprototype (.reg .u32 _) _ (); call (r), q, P;',
           'P: .callprototype _ (.global .u32 _);', 'P: .callprototype _ (.param .v2 .u32 _);', 'P: .callprototype _ (.reg .v2 .u32 _);',
           'call f;', 'call (f);', 'call f, ();', 'call f, (r);', 'call (r), f;', 'call f(r);', 'call f, r;', 'call k;', 'call h;', 'call x;', 'call r;', 'call q;', 'call.uni f;',
           'call g;', 'call (r), h, (r);', '.param .u32 p; st.param.u32 [p], r;', '.param .u32 p; ld.param.u32 r, [p];', '.param .b8 p[8]; st.param.u32 [p+4], r;',
           '{ .param .u32 p; { .param .u32 p; } }', '.param .align 8 .b8 p[8];', '.param .v2 .u32 p;', '.param .u32 p[];', '@p ret;', '@!p ret;', '@r ret;', '@%p ret;',
           '@p L: ret;', '@p .loc 1 2 3', '@p { ret; }', '@ p ret;', '@!!p ret;', '@-p ret;', '@p @p ret;', '.reg .pred s<2>, t; @s1 ret;', '.reg .u32 s<2>, s1;', '.reg .u32 s<2>; .reg .u32 s<2>;',
           '.reg .u32 r;', '{ .reg .u32 r; }', '.reg .u32 s<2>; mov.u32 s2, 1;', '.reg .u32 s<2>; mov.u32 s01, 1;', '.reg .u32 s, t, u;', '.reg .u32 s t;', '.reg .u32 s,;', '.reg .u32;',
           '.reg s;', '.reg .u32 .f32 s;', '.reg .v2 .u32 s; mov.v2.u32 s, s;', '.reg .v2 .u32 s; mov.u32 s.x, s.y;', '.reg .v2 .u32 s; mov.u32 s.z, r;', '.reg .v2 .u32 s; mov.b64 q, s;',
           '.reg .v4 .u32 s<2>; mov.u32 s1.w, r;', '.reg .align 4 .u32 s;', '.reg .u32 %tid;', '.reg .u32 %clock; mov.u32 %clock, 1;', '.reg .u32 WARP_SZ;', '.reg .u32 add;',
           '.reg .u32 s1; .reg .u32 s<4>;', '.reg .u32 s<4>, s<4>;', '.shared .u32 tid;', '.local .b8 a[4]; .local .b8 a[4];', '.reg .u32 s = 1;', '.reg .u32 s<2>[2];',
           'ret', 'ret ;', 'ret,;', 'ret r;', 'add .u32 r, r, 1;', 'add. u32 r, r, 1;', 'add.u32 r, r, 1', 'add.u32 r r 1;', 'add.u32 r, r, 1;;', 'add.u32, r, r, 1;', 'add.u32 (r, r, 1);',
           'add.u32 r, r, 1 2;', 'foo;', 'foo.u32 r;', 'add.u32 r, r, (1);', 'add.u32 r, r, 1+1;', 'add.u32 r, r, -r;', 'add.u32 r, r, 1 ? 2 : 3;', 'add.u32 r, r, {1};', 'add.u32 r, r, x;',
           'add.u32 r, r, f;', 'add.u32 r, r, L; L:', 'add.u32 r, r, %tid.x;', 'mov.u32 r, %tid;', 'mov.u32 r, %nope;', 'mov.u32 r, undeclared;', "mov.u32 r, 'a';", 'mov.u32 r, 0b101;',
           'mov.u32 r, 0o17;', 'mov.u32 r, 017;', 'mov.u32 r, 089;', 'mov.u32 r, 1u;', 'mov.u32 r, 1U;', 'mov.u32 r, 1L;', 'mov.u32 r, 99999999999999999999;', 'mov.u32 r, 4294967296;',
           'mov.u32 r, -4294967296;', 'mov.f32 d, 1;', 'mov.f32 d, 1.;', 'mov.f32 d, .5;', 'mov.f32 d, 1e5;', 'mov.f32 d, 1.0f;', 'mov.f32 d, 0f3F80;', 'mov.f32 d, 0F3f800000;',
           'mov.f32 d, 0x3F800000;', 'mov.f32 d, -0f3F800000;', 'mov.f32 d, 1.0+1.0;', 'mov.f32 d, 1e999;', '/* a */ ret;', '/* a', '// a', 'ret; # 1 "a"', '.align 4;', '.visible .u32 s;']
ADDRESSES = ["[x]", "[x+4]", "[x-4]", "[x+-4]", "[x + 4 * 2]", "[4+x]", "[a]", "[a+4]", "[a-4]", "[a+-4]", "[4+a]", "[a+a]", "[a+r]", "[x+a]", "[x+r]", "[a+x]", "[x+x]", "[x+y]", "[4]",
             "[0x10]", "[-4]", "[4+4]", "[]", "x", "a", "[x][0]", "x[0]", "x[1]", "x[-1]", "x[r]", "x[r+1]", "x[a]", "x[x]", "x[k]", "x[L]", "x[%tid.x]", "a[a]", "a[0]", "r[0]", "[x[1]]", "[x[r]]", "[[x]]",
             "[(x)]", "[(a)]", "(x)", "{x}", "[{a}]", "[!a]", "[-a]", "[~x]", "[x.x]", "[a.x]", "[%tid.x]", "[%tid]", "[f]", "[k]", "[L]", "[g]", "[WARP_SZ]", "[x+WARP_SZ]", "[x+1.0]", "[1.0]", "[_]",
             "[x+(4)]", "[x+4-2]", "[x+4+4]", "[a+4+4]", "[a+(1+2)]", "[x,4]", "[a,a]", "[x+0x7fffffff]", "[a+4294967296]", "[a+99999999999999999999]", "[x+0f3F800000]", "[p]", "[d]", "[q]", "[v]", "[v.x]",
             "[x]+4", "x+4", "x+1", "a+4", "[generic(x)]", "generic(x)", "[x|4]", "[x<<1]", "[x*2]", "[a*2]", "[y]", "[c]", "[s]", "[l]", "[t]", "[u]", "[x+4U]", "&x", "*x", "[undeclared]", "[a +4]",
             "[ a ]", "[a]+", "[a+]", "[+a]", "[x-x]", "[x == 1]", "[x ? 1 : 2]", "-x", "!x", "x-4", "4+x", "x+y", "c+4", "s", "l+4", "k", "f+4", "f", "g", "L", "L+4", "x*2", "(x+4)", "[x+r+4]", "[x+4+r]",
             "x[0][0]", "x[0]+4", "m[1]", "m[1][2]", "m[r]", "m", "[m+4]", "m[4]", "m[1.0]"]
ACCESSES = ["ld.global.u32 r, {};", "st.global.u32 {}, r;", "ld.u32 r, {};", "ld.shared.u32 r, {};", "ld.const.u32 r, {};", "ld.param.u32 r, {};", "ld.local.u32 r, {};", "mov.u32 r, {};",
            "mov.u64 a, {};", "st.global.u64 [x], {};", "atom.global.add.u32 r, {}, r;", "cvta.global.u64 a, {};", "prefetch.global.L1 {};", "add.u32 r, r, {};", "bra {};", "st.param.u32 {}, r;",
            "mov.b32 r, {};", "cvt.u32.u32 r, {};", "isspacep.global p, {};", "st.u64 {}, x + 1;"]
AROUND_BODY = ('.global .u32 x[4], y; .const .u32 c; .file 1 "a.cu" .func f() {{ ret; }} .func g(); .entry k(.param .u32 t) {{ .reg .u32 r; .reg .u64 a, q; .reg .f32 d; .reg .pred p; {} ret; }}')
AROUND_ADDRESS = ('.global .u32 x[4], y, m[2][3]; .const .u32 c; .func f() {{ ret; }} .func g(); .entry k(.param .u32 t) {{ .shared .u32 s; .local .u32 l; .reg .u32 r; .reg .u64 a, q; .reg .f32 d; '
                  '.reg .pred p; .reg .v2 .u32 v; L: {} ret; }}')
OLD_PARAMETERS = ".entry k(.param .u32 t) {", ".entry k() { .param .u32 t;"
HEADERS = ["{v} {t}", "{t} {v}", "{v}", "{t}", "", "{v} {v} {t}", "{v} {t} {t}", "{v} {t} {a}", "{v} {a} {t}", "{a} {v} {t}", "{v} {t} {a} {a}", ".global .u32 x; {v} {t}", "{v} .global .u32 x; {t}",
           "{v} {t} .global .u32 x; {a}", "{v} {t} {v2}", "{v} {t} {t2}", "{v}; {t};", "{v} {t};"]
VERSION_TEXTS = ["1.0", "1.4", "2.0", "3.1", "3.3", "4.0", "6.5", "7.0", "7.8", "8.0", "9.0", "9.1", "10.0", "0.9", "1", "1.", "1.9", "2.4", "9.00", "09.0", "9.0.0", "-1.0", "a.b", "9,0", "9.0a", "+9.0", "9 0", "90", "1e1", "5.2"]
TARGET_TEXTS = ["sm_10", "sm_20", "sm_30", "sm_35", "sm_70", "sm_75", "sm_90", "sm_90a", "sm_100f", "sm_120a", "sm_999", "sm_9", "sm_", "sm_90b", "sm_70a", "compute_70", "sm_70, sm_75", "sm_70, debug",
                "sm_70, texmode_unified", "sm_70, texmode_independent", "sm_70, texmode_raw", "sm_70, texmode_unified, texmode_independent", "debug", "sm_70,", "sm_70 debug", "sm_10, map_f64_to_f32",
                "sm_70, map_f64_to_f32", "map_f64_to_f32", "SM_70", "sm70", "sm_70, nope", "sm_70, debug, debug", "sm_-1", "sm_0x70", "texmode_unified", "texmode_unified, sm_70", "sm_20, sm_10", "sm_13, texmode_independent"]
ADDRESS_SIZES = [".address_size 64", ".address_size 32", ".address_size 16", ".address_size", ".address_size 0x40", ".address_size 64;", ".address_size 64.0"]


def headers(rng):
    """Modules with a header of their own."""
    body = " .entry k() { ret; }"
    for version in VERSION_TEXTS:
        yield f".version {version} .target sm_10" + body
        yield f".version {version} .target sm_70" + body
    for target in TARGET_TEXTS:
        for version in ("1.0", "2.0", "4.0", "9.0"):
            yield f".version {version} .target {target}" + body
    while True:
        v, v2, t, t2 = [rng.choice(VERSION_TEXTS[:12]) for _ in range(2)] + [rng.choice(TARGET_TEXTS[:10]) for _ in range(2)]
        yield rng.choice(HEADERS).format(v=f".version {v}", v2=f".version {v2}", t=f".target {t}", t2=f".target {t2}", a=rng.choice(ADDRESS_SIZES)).strip() + body


def debug_information(rng):
    around = "{} .global .u32 x; .func g(); .func f() {{ ret; }} .entry k() {{ ret; }}", ".global .u32 x; .func g(); .func f() {{ ret; }} .entry k() {{ ret; }} {}"
    for one in DEBUG:
        for frame in around:
            yield frame.format(one)
    while True:
        yield rng.choice(around).format(" ".join(rng.sample(DEBUG, 2)))


def bodies(rng):
    for one in IN_BODY:
        yield one
    while True:
        yield " ".join(rng.sample(IN_BODY, 2))


def addresses(rng):
    every = [access.format(address) for access in ACCESSES for address in ADDRESSES]
    rng.shuffle(every)
    yield from every


ATTRIBUTES = [".managed", ".unified(1, 2)", ".unified", ".managed, .unified(1,2)", ".nope", "managed", "", ".managed(1)", ".unified(1)", ".unified(0x1234, 0x5678)", ".unified(1, 2, 3)"]


def attributes(rng):
    for one in ATTRIBUTES:
        for text in (".global .attribute({}) .u32 x;", ".global .u32 .attribute({}) x;", ".attribute({}) .global .u32 x;", ".const .attribute({}) .u32 x;", ".shared .attribute({}) .u32 x;",
                     ".func .attribute({}) f() {{ ret; }}", ".entry .attribute({}) f() {{ ret; }}", ".entry f() {{ .local .attribute({}) .u32 x; ret; }}", ".visible .global .align 8 .attribute({}) .b8 x[8];"):
            yield text.format(one)


SEEDS = [
    ".visible .entry k(.param .u64 a, .param .align 8 .b8 b[16]) .maxntid 128, 1, 1 .minnctapersm 2 { .reg .pred %p<2>; .reg .b32 %r<4>; ld.param.u32 %r1, [b+4]; setp.eq.s32 %p1, %r1, 0; @%p1 bra L; ret; L: exit; }",
    ".func (.param .b32 r) f(.param .b32 a, .param .align 4 .b8 s[12]) { .reg .b32 %r<3>; ld.param.b32 %r1, [a]; st.param.b32 [r], %r1; ret; }",
    ".func (.reg .u32 r) f(.reg .u32 a) { add.u32 r, a, 1; ret; } .entry k() { .reg .u32 %r<2>; call (%r1), f, (%r0); ret; }",
    ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b); .global .align 1 .b8 s[3] = {37, 100, 0}; .entry k() { { .param .b64 p; .param .b64 q; .param .b32 r; call.uni (r), vprintf, (p, q); } ret; }",
    ".global .align 16 .f32 t[2][3] = {{1.0, 2.0}, {0f3F800000}}; .const .u32 c = 5; .shared .align 8 .b8 s[64]; .extern .shared .align 4 .b8 d[];",
    ".visible .global .align 8 .u64 p[2] = {q, generic(q) + 4}; .global .u32 q; .weak .const .s16 w = -1; .common .global .u32 z;",
    ".func f() { ret; } .func g() { ret; } .entry k() { .reg .u64 %r; T: .calltargets f, g; mov.u64 %r, f; call %r, T; ret; }",
    ".entry k() { .reg .u64 %r; P: .callprototype (.param .u32 _) _ (.param .b64 _, .param .b32 _); ret; }",
    ".entry k() { .reg .u32 %i; A: B: T: .branchtargets A, B; brx.idx %i, T; }",
    '.file 1 "a.cu" .entry k() { .loc 1 2 3 { .reg .u32 r; .loc 1 3 0, function_name n, inlined_at 1 2 3 mov.u32 r, %tid.x; } .pragma "nounroll"; ret; } .section .debug_str { n: .b8 97, 0 }',
    ".global .texref t; .global .samplerref s = { addr_mode_0 = wrap, filter_mode = linear }; .global .surfref u; .entry k(.param .texref a) { ret; }",
    ".entry k() .reqntid 32, 1, 1 .reqnctapercluster 2, 1, 1 .explicitcluster .maxnreg 32 { ret; }",
    ".func f(); .func g() .noreturn { trap; } .func h() { ret; } .alias f, h; .entry k() { call f; ret; }",
    ".entry k() { .local .align 4 .b8 d[16]; .shared .u32 s; .reg .u64 %a; .reg .v4 .f32 v; cvta.local.u64 %a, d; mov.u64 %a, d; st.local.u32 [d+4], 1; ld.shared.v4.f32 v, [s]; ret; }",
    ".global .attribute(.managed) .align 4 .u32 m; .visible .func .attribute(.unified(1, 2)) f() { ret; }",
    ".section .debug_info { .b32 10 L: .b8 1, 0x2 .b64 .debug_str+4 .b64 L .b16 L-M M: } .section .debug_abbrev { .b8 1 }",
    ".entry k ( .param .u64 .ptr .global .align 16 a, .param .u32 b ) { .reg .b64 %a<2>; .reg .f32 %f<5>; ld.param.u64 %a1, [a]; ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%a1+16]; ret; }",
    ".extern .global .u32 e; .extern .func g(.param .b32 a); .visible .func f(.param .b32 a) { .reg .b32 r; { .param .b32 p; st.param.b32 [p], r; call g, (p); } ret; }",
]
WORD = re.compile(r'"[^"]*"|%?[A-Za-z_$][\w$]*(?:\.[\w$]+)*|\.\w+|0[xf][0-9A-Fa-f]+|\d+\.\d+|\d+|\S')
VOCABULARY = sorted({word for seed in SEEDS for word in WORD.findall(seed)} |
                    set(". , ; : ( ) { } [ ] < > = + - * / @ ! | & 0 1 -1 1.5 x %r .v2 .v4 .align .u32 .f64 .pred .reg .shared .local .const .tex .param .entry .func .extern .weak".split()))


def words(rng):
    """Sound modules with one or two words changed."""
    for seed in SEEDS:
        yield seed
    while True:
        list_ = WORD.findall(rng.choice(SEEDS))
        for _ in range(rng.choice([1, 1, 1, 2])):
            at = rng.randrange(len(list_))
            change = rng.choice(["drop", "repeat", "replace", "replace", "swap", "add", "cut", "move"])
            if change == "drop":
                del list_[at]
            elif change == "repeat":
                list_.insert(at, list_[at])
            elif change == "replace":
                list_[at] = rng.choice([rng.choice(VOCABULARY), rng.choice(list_)])
            elif change == "swap" and at > 0:
                list_[at - 1], list_[at] = list_[at], list_[at - 1]
            elif change == "add":
                list_.insert(at, rng.choice(VOCABULARY))
            elif change == "cut":
                del list_[at + 1:]
            elif change == "move":
                list_.insert(rng.randrange(len(list_)), list_.pop(at))
            if not list_:
                list_ = [";"]
        yield " ".join(list_)


# How many of each.
PARTS = [(declarations, 1300), (functions, 1000), (performance, 420), (debug_information, 320), (bodies, 700), (addresses, 900), (attributes, 99), (headers, 420), (words, 2000)]


HOLE = "<>"
FRAMES = {bodies: AROUND_BODY.format(HOLE), addresses: AROUND_ADDRESS.format(HOLE)}


def modules():
    """[(part, what stands around its texts, texts)]; no text twice."""
    result = []
    for part, count in PARTS:
        rng = random.Random(f"{SEED} {part.__name__}")
        texts = {}
        for text in part(rng):
            texts[text] = True
            if len(texts) == count:
                break
        result.append((part.__name__, FRAMES.get(part, HOLE), list(texts)))
    return result


def written(text, version, target):
    """A module without a header, as it is asked about. Before PTX 1.4 kernels declared their parameters in the body."""
    if version < 14:
        text = text.replace(*OLD_PARAMETERS)
    size = ".address_size 64\n" if version >= 23 else ""
    return f".version {version // 10}.{version % 10}\n.target {target}\n{size}{text}\n"


def answer(text, target):
    try:
        return "-" if run(text, target) else "+"
    except Crash:
        return "!"


def answers(part, text):
    """What is said for each place; once where the module names its own."""
    if part == "headers":
        named = re.search(r"sm_\d+[af]", text)
        return answer(text + "\n", named[0] if named else "sm_90")
    return "".join(answer(written(text, version, target), target) for version, target in PLACES)


def main():
    with open(os.path.join(HERE, "mutations.txt"), "w", encoding="ascii") as file:
        file.write("# What ptxas 13.0 says to modules: taken (+), refused (-) or a crash of its own (!) for " +
                   ", ".join(f"{v} {t}" for v, t in PLACES) + ";\n# headers as they are. Recorded by mutations.py.\n")
        with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", os.cpu_count()))) as pool:
            for part, frame, texts in modules():
                file.write(f"part {part} {frame}\n")
                for text, said in zip(texts, pool.map(lambda t: answers(part, frame.replace(HOLE, t)), texts)):
                    file.write(f"{said} {text}\n")


if __name__ == "__main__":
    main()
