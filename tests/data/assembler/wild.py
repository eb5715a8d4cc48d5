"""Which spellings found in real PTX files run? Writes docs/coverage.md.

    python3 wild.py opcodes.csv ../../../build/tests/write_statements ../../../docs/coverage.md

The table of spellings (opcodes_full,occurrences,files_all: each with how often and in how many files it was found) is
no part of the repository; the page holds what follows from it. For each spelling statements are tried until ptxas takes
one; a spelling runs when Warplens takes that statement, too.
"""
import collections
import csv
import itertools
import subprocess
import sys

from assembler import TYPES, ask, stored

# Where a spelling is asked for, until one of them takes it: (version, target).
PLACES = [(90, "sm_90a"), (90, "sm_100a"), (90, "sm_120a"), (90, "sm_60"), (60, "sm_60"), (31, "sm_30"), (90, "sm_13"),
          (13, "sm_13")]

CLASSES = [
    ("matrix", "wmma mma wgmma ldmatrix stmatrix movmatrix"),
    ("tcgen05", "tcgen05"),
    ("texture and surface", "tex tld4 txq suld sust sured suq istypep"),
    ("asynchronous copies and their barriers", "cp mbarrier tensormap clusterlaunchcontrol"),
    ("memory and synchronisation", "ld ldu st atom red fence membar cvta isspacep mapa getctarank prefetch prefetchu "
     "multimem createpolicy applypriority discard bar barrier griddepcontrol alloca stacksave stackrestore"),
    ("scalar, warp-level and control", None),
]
NAMED = 30  # so many of what is missing
OUTSIDE = ("matrix", "tcgen05")  # not in the sum; their operands are those of Warplens

WIDER = {"u16": "u32", "u32": "u64", "s16": "s32", "s32": "s64"}

# What the operands of an instruction may be: t, t2, t3 are its types, w is twice as wide as t, {t} a vector where the
# spelling has .v2, .v4 or .v8; # an immediate, p a predicate. [t] is a texture or surface with the coordinates of the
# spelling's geometry, {c} a vector of as many floats.
SHAPES = ["[a], [a], b32, [a]", "[a], {t}, [a]", "", "t, t", "t, t, t", "t, t, t, t", "t, t, t, t, #", "t, t, u32", "t, t, t, u32", "t, t, u32, u32",
          "t, t, t, u32, u32", "u32, t", "w, t, t", "w, t, t, w", "p, t", "p, t, t", "p, t, t, p", "p|p, t, t", "t, t, t, p",
          "t, t2", "t, t2, t2", "t, t2, t2, p", "t, t2, t", "t, t2, t2, t", "t, t, t, t2", "u32, t2, t2", "u32, t2, t2, b32",
          "t, t2, t2, b32", "t, t2, t3, u32", "t, t2, t3", "t, t, t, s32", "t, t2, t, t2", "t|p, t, t, t, #, p",
          "{t}, [a]", "[a], {t}", "{t}, [param_0]", "{t}, [a], b64", "[a], {t}, b64", "{t}, {t}", "t, [a], t", "t, [a], t, t", "[a], t",
          "t, [a]", "label_0", "u32", "#", "#, 64", "p, #, p", "b32", "t", "t|p, t, u32, u32, b32", "t, t, u32, u32", "p, p",
          "b32, p", "p, p, b32", "b32, p, b32", "b32, t, b32", "b32|p, t, b32", "t, t, b32", "b32|p, b32", "p, b64", "u32, t2, b32",
          "[a]", "[a], 128", "b64, f32", "64", "device", "u32, table_0",
          "{t}, [t]", "{t}, [t], t2", "{t}, [t], {c}, {c}", "[t], {t}", "[t], t", "b32, [a], b32", "b32, [a]", "b64, b64, #",
          "[a], [a], 4", "[a], [a], 8", "[a], [a], 16", "[a], [a], 4, b32", "[a], [a], 8, b32", "[a], [a], 16, b32",
          "[a], [a], 4, b64", "[a], [a], 16, b64", "[a], [a], 16, b32, b64", "[a], [a], b32", "[a], [a], b32, b64",
          "[a], [a], b32, [a], b64", "[a], [a], b32, [a], b16", "[a], [a], b32, [a], b16, b64", "[a], b32",
          "[a], b32, b64", "b64, [a]", "b64, [a], b32", "_, [a]", "_, [a], b32", "p, [a], b64", "p, [a], b64, b32", "p, [a], b32",
          "p, [a], b32, b32", "b32, b64", "b32, b32", "b64, b64", "b64, b32", "[a], b64, #"]

COORDINATES = {"1d": 1, "2d": 2, "3d": 4, "a1d": 2, "a2d": 4, "cube": 4, "acube": 4, "2dms": 4, "a2dms": 4}


def width(words):
    return 2 if "v2" in words else 4 if "v4" in words else 8 if "v8" in words else 1


def coordinates(words):
    for word in words:
        if word in COORDINATES:
            return COORDINATES[word]
    raise LookupError


def statement(spelling, shape):
    """The spelling with operands; None where it has too few types for them."""
    words = spelling.split(".")[1:]
    if shape == "[a], {t}, [a]" and "release" in words:  # ptxas takes it, and crashes when it makes code of it
        return None
    types = [w for w in words if w in TYPES]
    named = {"t": 0, "t2": 1, "t3": 2, "w": 0}
    count = itertools.count()

    def register(name):
        if name == "p":
            return f"%pred_{next(count) % 9}"
        if name in named:
            if named[name] >= len(types):
                raise LookupError
            kind = stored(types[named[name]])
            return f"%{WIDER.get(kind, kind) if name == 'w' else kind}_{next(count) % 9}"
        return f"%{name}_{next(count) % 9}"

    operands = []
    try:
        for part in filter(None, shape.split(", ")):
            if part == "#":
                operands.append("1")
            elif part == "[t]":
                kind = stored(types[1]) if len(types) > 1 else "b32"
                operands.append(f"[%b64_8, {{{', '.join(f'%{kind}_{i}' for i in range(coordinates(words)))}}}]")
            elif part == "{c}":
                operands.append("{" + ", ".join(f"%f32_{i}" for i in range(coordinates(words))) + "}")
            elif part == "[a]":
                operands.append("[%b64_8]")
            elif part.startswith("{"):
                lanes = [register(part[1:-1]) for _ in range(width(words))]
                operands.append(lanes[0] if len(lanes) == 1 else "{" + ", ".join(lanes) + "}")
            elif "|" in part:
                operands.append("|".join(register(p) for p in part.split("|")))
            elif part[0] in "[0123456789_" or part in ("label_0", "table_0", "device"):
                operands.append(part)
            else:
                operands.append(register(part))
    except LookupError:
        return None
    return f"{spelling} {', '.join(operands)};".replace(" ;", ";")


def class_of(spelling):
    opcode = spelling.split(".")[0]
    for name, opcodes in CLASSES:
        if opcodes is None or opcode in opcodes.split():
            return name


def words_of(spelling):
    """What is the same whatever order the words are in."""
    opcode, *words = spelling.split(".")
    return opcode, tuple(sorted(words))


def own_operands(program):
    """words_of(spelling) -> operands, of Warplens' own statements: no shape can say how many registers hold a matrix."""
    done = subprocess.run([program, "spellings", "90"], capture_output=True, text=True, check=True)
    statements = [line.split("\t")[1:] for line in done.stdout.splitlines()]
    return {words_of(spelling): text[text.index(" "):] for spelling, text in statements
            if " " in text and class_of(spelling) in OUTSIDE}


def statements(spelling, own):
    if class_of(spelling) not in OUTSIDE:
        return [text for text in dict.fromkeys(statement(spelling, shape) for shape in SHAPES) if text]
    return [spelling + own[words_of(spelling)]] if words_of(spelling) in own else []


def accepted(spellings, own):
    """spelling -> (statement, version, target), for those that ptxas takes."""
    found = {}
    for version, target in PLACES:
        todo = [(s, text) for s in spellings if s not in found for text in statements(s, own)]
        for (s, text), refusal in zip(todo, ask([t for _, t in todo], version, target)):
            if not refusal:
                found.setdefault(s, (text, version, target))
    return found


def running(found, program):
    """Those of the accepted spellings that Warplens takes."""
    taken = set()
    places = collections.defaultdict(list)
    for spelling, (text, version, target) in found.items():
        pairs = "cta_group::2" in text  # a kernel has instructions of single blocks or of pairs
        places[version, target, pairs].append((spelling, text))
    for (version, target, _), asked in places.items():
        done = subprocess.run([program, "refusals", str(version), target], input="".join(t + "\n" for _, t in asked),
                              capture_output=True, text=True, check=True)
        taken |= {spelling for (spelling, _), refusal in zip(asked, done.stdout.split("\n")) if not refusal}
    return taken


def share(part, whole):
    return f"{100 * part / whole:.2f} %" if whole else "–"


def page(rows, found, taken):
    lines = ["# Coverage of instructions in real files",
             "Made by `tests/data/assembler/wild.py`; do not edit. PTX was collected from public repositories, samples, libraries and "
             "papers: 7664 files. Each spelling of an instruction in them was given to `ptxas` 13 with operands of fitting types and to Warplens.", "",
             "| class | spellings | `ptxas` takes | run | of those taken | weighted by occurrence | weighted by file |",
             "| --- | --- | --- | --- | --- | --- | --- |"]
    groups = [(name, [r for r in rows if class_of(r[0]) == name]) for name, _ in CLASSES]
    groups.append(("**all but the first two**", [r for r in rows if class_of(r[0]) not in OUTSIDE]))
    for name, members in groups:
        known = [r for r in members if r[0] in found]
        run = [r for r in known if r[0] in taken]
        lines.append(f"| {name} | {len(members)} | {len(known)} | {len(run)} | {share(len(run), len(known))} | "
                     f"{share(sum(r[1] for r in run), sum(r[1] for r in known))} | "
                     f"{share(sum(r[2] for r in run), sum(r[2] for r in known))} |")
    lines += ["", "Weighted by occurrence: of all such instructions in the files. Weighted by file: of all pairs of a file and a "
              "spelling that occurs in it. Where no operands that were tried are taken, a spelling does not count.", "", "## Taken by `ptxas` and not run", "With how often they occur."]
    for name, members in groups[:-1]:
        missing = sorted((r for r in members if r[0] in found and r[0] not in taken), key=lambda r: (-r[1], r[0]))
        often, rest = missing[:NAMED], missing[NAMED:]
        refused = [r[0] for r in members if r[0] not in found]
        lines.append(f"* {name}: " + (", ".join(f"`{r[0]}` ({r[1]})" for r in often) or "none") +
                     (f", and {len(rest)} that occur {rest[0][1]} times or less" if rest else "") + ".")
        if name == CLASSES[-1][0] and refused:
            lines.append(f"* Not taken by `ptxas` with any operands that were tried: {', '.join(f'`{m}`' for m in sorted(refused))}.")
        if name in OUTSIDE:
            by_opcode = collections.Counter(m.split(".")[0] for m in refused)
            lines.append(f"* The operands of {name} instructions are those that Warplens has for these words. Not taken by `ptxas` with them, or "
                         "without any to try: " + (", ".join(f"{n} spellings of `{o}`" for o, n in by_opcode.most_common()) or "none") + ".")
    return "\n".join(lines) + "\n"


def main(table, program, output):
    with open(table) as file:
        rows = [(r["opcodes_full"], int(r["occurrences"]), int(r["files_all"])) for r in csv.DictReader(file)]
    found = accepted([r[0] for r in rows], own_operands(program))
    with open(output, "w") as file:
        file.write(page(rows, found, running(found, program)))


if __name__ == "__main__":
    main(*sys.argv[1:])
