"""Records what ptxas takes and refuses: writes spellings.txt, orders.txt, operands.txt, directives.txt
and targets.txt.

    ninja -C build write_statements && python3 tests/data/assembler/ask_ptxas.py build/tests/write_statements

Needs ptxas 13 (PTXAS names it). Asks about some ten million statements, which takes some ten minutes; with "new" after the
program, only about spellings that have come into the table since. tests/assembler compares the answers with the checker, and
needs no ptxas for it.
"""
import collections
import itertools
import os
import random
import re
import subprocess
import sys

from assembler import FUNDAMENTAL, HERE, NEWEST, PLACES, PTXAS, TARGETS, TYPES, VERSIONS, ask, run, stored

# Memory instructions have hundreds of thousands of spellings; they are not asked one by one.
TOO_MANY = {"ld", "st", "ldu", "atom", "red"}
NEW_TARGETS = ["sm_90a", "sm_100a", "sm_120a"]  # one of them has every instruction that ptxas 13.0 knows


def table(program):
    """[(line of the table, spelling, statement)], and the same of memory instructions."""
    done = subprocess.run([program, "spellings", str(NEWEST)], capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    every = [(int(line), spelling, text) for line, spelling, text in rows]
    return [r for r in every if opcode(r[1]) not in TOO_MANY], [r for r in every if opcode(r[1]) in TOO_MANY]


def opcode(spelling):
    return spelling.split(".")[0]


def write(name, comment, lines):
    with open(os.path.join(HERE, name), "w") as file:
        file.write("".join(f"# {line}\n" for line in comment.strip().splitlines()) + "".join(line + "\n" for line in lines))


def ask_targets():
    """sm_90a -> 80: the first version that takes the target."""
    known = subprocess.run([PTXAS, "--help"], capture_output=True, text=True)
    names = set(re.findall(r"'(sm_\w+)'", known.stdout)) | set(TARGETS)
    result = {}
    for name in sorted(names, key=lambda n: (int(re.search(r"\d+", n)[0]), n)):
        for version in VERSIONS:
            if not run(f".version {version // 10}.{version % 10}\n.target {name}\n.entry k()\n{{\nret;\n}}\n", name):
                result[name] = version
                break
    write("targets.txt", "The version of PTX, times ten, from which ptxas 13.0 takes each target.",
          [f"{name} {version}" for name, version in result.items()])


# ---- versions and targets ------------------------------------------------------------------------------------------

def number(target):
    return int(re.search(r"\d+", target)[0])


def rule(places):
    """Where a spelling is taken: "10 sm_20" is from that version and target on, "10-13 sm_10-13" up to others, too; a
    list of targets names each; several rules are joined by '/'; "never" is nowhere."""
    if not places:
        return "never"
    plain = sorted({t for _, t in places if t[-1].isdigit()}, key=number)

    def covered(low, high, first, last):
        return {(v, t) for v, t in PLACES if low <= v <= high and first <= number(t) <= last}

    def text(low, high, first, last):
        versions = f"{low}" if high == NEWEST else f"{low}-{high}"
        return f"{versions} sm_{first}" if last == 999 else f"{versions} sm_{first}-{last}"

    if plain:
        bounds = []
        low, high = min(v for v, _ in places), max(v for v, _ in places)
        for cut in [None] + plain[1:]:  # one rule, or two of neighbouring targets
            parts = [[p for p in places if cut is None or number(p[1]) < number(cut)],
                     [p for p in places if cut is not None and number(p[1]) >= number(cut)]]
            bounds = [(min(v for v, _ in p), max(v for v, _ in p), min(number(t) for _, t in p),
                       999 if max(number(t) for _, t in p) == 121 else max(number(t) for _, t in p))
                      for p in parts if p]
            if set().union(*(covered(*b) for b in bounds)) == places:
                return "/".join(text(*b) for b in bounds)
    low = min(v for v, _ in places)
    names = sorted({t for _, t in places}, key=lambda t: (number(t), t))
    if places == {(v, t) for v, t in PLACES if v >= low and t in names}:
        return f"{low} {','.join(names)}"
    raise RuntimeError(f"no rule for {sorted(places)}")


def rules(statements):
    """The rule of each statement."""
    taken = [set() for _ in statements]
    for version, target in PLACES:
        for places, refusal in zip(taken, ask(statements, version, target)):
            if not refusal:
                places.add((version, target))
    return [rule(places) for places in taken]


# ---- what the table lacks --------------------------------------------------------------------------------------------

WORDS = ("rn rz rm rp rna rs rni rzi rmi rpi ftz sat satfinite relu approx full lo hi wide cc NaN xorsign abs xorsign.abs "
         "shiftamt oob noftz scaled::n2::ue8m0 eq ne lt le gt ge ls hs equ neu ltu leu gtu geu num nan finite infinite number "
         "notanumber normal subnormal and or xor popc add min max l r clamp wrap f4e b4e rc8 ecl ecr rc16 b0 b1 b3 h0 h1 "
         "shr7 shr15 po pack u2 u4 s2 s4 sync up down bfly idx all any uni ballot v2 v4").split()
# Words that ptxas does not look at where it does not expect them.
IGNORED = {"finite", "infinite", "number", "notanumber", "normal", "subnormal", "pred"}


def shapes(rows):
    """opcode -> what operands its spellings have: the number of a type of the spelling, another type, or a number.
    {"mad": {(0, 0, 0, 0), ("u32", 0, 0, "u32"), ...}}"""
    found = collections.defaultdict(set)
    for _, spelling, text in rows:
        if "{" in text:
            continue
        types = [stored(w) for w in spelling.split(".")[1:] if w in TYPES]
        operands = [re.sub(r"_\d+$", "", o.split("|")[0]).strip("%") for o in text.rstrip(";").partition(" ")[2].split(", ")]
        found[opcode(spelling)].add(tuple(types.index(o) if o in types else o for o in operands))
    return found


def with_operands(spelling, shape):
    """The spelling with operands of a shape; None where it has too few types."""
    types = [stored(w) for w in spelling.split(".")[1:] if w in TYPES]
    if any(isinstance(part, int) and part >= len(types) for part in shape):
        return None
    named = [types[part] if isinstance(part, int) else part for part in shape]
    return f"{spelling} {', '.join(f'%{name}_{n}' if name in TYPES else name for n, name in enumerate(named))};"


def neighbours(spelling):
    """Spellings with a word more, a word less, or another word."""
    head, *words = spelling.split(".")
    first = next((i for i, w in enumerate(words) if w in TYPES), len(words))
    for word in WORDS:
        if word not in words:
            yield ".".join([head] + words[:first] + [word] + words[first:])
    for name in TYPES:
        yield ".".join([head] + words + [name])
    for i, word in enumerate(words):
        yield ".".join([head] + words[:i] + words[i + 1:])
        for other in TYPES if word in TYPES else WORDS:
            if other != word:
                yield ".".join([head] + words[:i] + [other] + words[i + 1:])


def canonical(spelling):
    """Equal for spellings that differ in the order of other words than types."""
    head, *words = spelling.split(".")
    return (head, *sorted(w for w in words if w not in TYPES), *(w for w in words if w in TYPES))


def odd(spelling, known):
    """A known spelling with a word twice, or with words that ptxas ignores there."""
    head, *words = spelling.split(".")
    modifiers = [w for w in words if w not in TYPES]
    return len(modifiers) != len(set(modifiers)) or (head != "testp" and IGNORED & set(words) and spelling not in known)


def beyond(rows):
    """spelling -> statement: what ptxas takes near a spelling of the table, and so on from there."""
    forms = shapes(rows)
    known = {spelling for _, spelling, _ in rows}
    seen = {canonical(s) for s in known}
    found = {}
    frontier = known
    while frontier:
        candidates = {}
        for spelling in frontier:
            for other in neighbours(spelling):
                key = canonical(other)
                if key not in seen and not odd(other, known):
                    seen.add(key)
                    candidates[other] = [s for s in (with_operands(other, f) for f in forms[opcode(other)]) if s]
        new = {}
        for target in NEW_TARGETS:
            todo = [(s, text) for s, texts in candidates.items() if s not in new for text in texts]
            for (s, text), refusal in zip(todo, ask([t for _, t in todo], NEWEST, target)):
                if not refusal:
                    new.setdefault(s, text)
        print(f"{sum(map(len, candidates.values()))} statements beyond the table, {len(new)} taken", flush=True)
        found.update(new)
        frontier = set(new)
    return found


def named(rows):
    """spelling -> statement; "min.f32:4" where a spelling has a statement with another number of operands, too."""
    first, result = {}, {}
    for _, spelling, text in rows:
        count = len(operands_of(text))
        usual = first.setdefault(spelling, count)
        result.setdefault(spelling if count == usual else f"{spelling}:{count}", text)
    return result


def ask_spellings(rows):
    extra = beyond(rows)
    write_spellings(answers([(name, text, "") for name, text in named(rows).items()] +
                            [(s, text, "beyond ") for s, text in sorted(extra.items())]))


def ask_new_spellings(rows):
    """Adds those that have come into the table since spellings.txt was written."""
    old = recorded()
    new = {name: text for name, text in named(rows).items() if old.get(name, "beyond").startswith("beyond")}
    write_spellings(old | answers([(name, text, "") for name, text in new.items()]))
    print(f"{len(new)} new spellings")


def answers(asked):
    """spelling -> where it is taken, of [(spelling, statement, mark)]."""
    return {name: mark + where for (name, _, mark), where in zip(asked, rules([text for _, text, _ in asked]))}


def recorded():
    """What spellings.txt holds, as answers() gives it."""
    with open(os.path.join(HERE, "spellings.txt")) as file:
        lines = [line.rstrip("\n").split(" | ") for line in file if not line.startswith("#")]
    return {head + ("" if words == "." else words): where for where, head, list in lines for words in list.split(" ")}


def write_spellings(places):
    groups = collections.defaultdict(list)
    for spelling, where in places.items():
        head, _, words = spelling.partition(".")
        groups[where, head].append("." + words if words else ".")
    write("spellings.txt", """
What ptxas 13.0 takes, recorded by ask_ptxas.py: versions of PTX (times ten) and targets | opcode | spellings.
"10 sm_20": from that version and target on; "10-13 sm_10-13": up to others, too; several rules are joined by '/'; a list of
targets names each. "never": in the table, and refused everywhere. "beyond": not in the table, but one word away.
".f32:4": with four operands, where the table has the spelling with another number, too.""",
          [f"{where} | {head} | {' '.join(words)}" for (where, head), words in sorted(groups.items(), key=lambda g: (g[0][1], g[0][0]))])


# ---- the order of words ------------------------------------------------------------------------------------------------

# Of tcgen05.mma with .ws, which needs its place.
WITH_WS = [f"tcgen05.mma{words} [%b32_1], %b64_1, %b64_2, {metadata}%b32_3, %pred_1;" for words, metadata in [
    (".ws.sp.cta_group::1.kind::f16", "[%b32_2], "), (".sp.ws.cta_group::1.kind::f16", "[%b32_2], "),
    (".ws.cta_group::1.sp.kind::f16", "[%b32_2], "), (".cta_group::1.ws.sp.kind::f16", "[%b32_2], "),
    (".ws.kind::f16.sp.cta_group::1", "[%b32_2], "), (".sp.cta_group::1.ws.kind::f16", "[%b32_2], "),
    (".sp.kind::f16.cta_group::1.ws", "[%b32_2], "), (".cta_group::1.ws.kind::f16", ""), (".kind::f16.cta_group::1.ws", "")]]


def ask_orders(rows, memory):
    chance = random.Random(1)
    some = chance.sample(memory, 3000)
    rows = rows + [row for row, refusal in zip(some, ask([text for _, _, text in some], NEWEST, "sm_120a")) if not refusal]
    lines = collections.defaultdict(list)
    for line, spelling, text in rows:
        lines[line].append((spelling, text))
    statements = []
    for spellings in lines.values():
        longest = max(spellings, key=lambda s: s[0].count("."))
        for spelling, text in {longest, chance.choice(spellings)}:
            head, *words = spelling.split(".")
            types = [w for w in words if w in TYPES]  # in another order they are other types
            if len(words) > 6:
                continue
            orders = sorted(o for o in set(itertools.permutations(words)) - {tuple(words)}
                            if [w for w in o if w in TYPES] == types)
            for order in chance.sample(orders, min(6, len(orders))):
                statements.append(".".join((head,) + order) + text[len(spelling):])
    statements += WITH_WS
    taken = [False] * len(statements)
    for target in NEW_TARGETS + ["sm_13"]:
        taken = [t or not refusal for t, refusal in zip(taken, ask(statements, NEWEST, target))]
    write("orders.txt", "Words in other orders than the table's: what ptxas 13.0 takes (+) and refuses (-). Recorded by ask_ptxas.py.",
          ["+-"[not t] + statement.split(" ")[0].rstrip(";") for t, statement in zip(taken, statements)])


# ---- operands --------------------------------------------------------------------------------------------------------

def operands_of(text):
    """["{%b32_1, %b32_2}", "%pred_3"]"""
    return re.findall(r"\{[^}]*\}|[^,{}]+(?:\|[^,{}]+)?", text.rstrip(";").partition(" ")[2].replace(", ", ","))


# What is put in the place of each operand of a statement. "drop" leaves it out, "repeat" writes it twice.
KINDS = [f"%{r}_8" for r in FUNDAMENTAL + ["f16", "f16x2"]] + [
    "1", "-1", "300", "5000000000", "0x8000000000000000", "5U", "1.5", "0f3F800000", "0d3FF0000000000000", "1+2", "~1", "(.u64)1",
    "1.5+1.5", "%tid.x", "%tid", "%laneid", "%clock64", "%gridid", "%lanemask_eq", "%is_explicit_cluster", "WARP_SZ", "global_0",
    "shared_0", "param_0", "label_0", "!%pred_1", "-%s32_1", "-%f32_1", "!%b32_1", "%b32_1.x", "[%b64_1]", "[global_0]",
    "{%b32_1, %b32_2}", "drop", "repeat"]


def with_kind(text, place, kind):
    """The statement with another operand in a place."""
    head, _, rest = text.rstrip(";").partition(" ")
    operands = rest.split(", ")
    operands[place:place + 1] = {"drop": [], "repeat": [operands[place]] * 2}.get(kind, [kind])
    return f"{head} {', '.join(operands)};"


def ask_operands(rows):
    statements = {}  # one for each line of the table and types
    for line, spelling, text in rows:
        types = tuple(w for w in spelling.split(".")[1:] if w in TYPES)
        if " " in text and "{" not in text and "[" not in text:
            statements.setdefault((line, types), text)
    sets, answers, left = {}, [], list(dict.fromkeys(statements.values()))
    for target in NEW_TARGETS:
        here = [text for text, refusal in zip(left, ask(left, NEWEST, target)) if not refusal]
        left = [text for text in left if text not in set(here)]
        cases = [(text, place, kind) for text in here for place in range(text.count(", ") + 1) for kind in KINDS]
        taken = collections.defaultdict(list)
        for (text, place, kind), refusal in zip(cases, ask([with_kind(*case) for case in cases], NEWEST, target)):
            if not refusal:
                taken[text, place].append(kind)
        for text in here:
            names = [sets.setdefault(tuple(taken[text, place]), len(sets)) for place in range(text.count(", ") + 1)]
            answers.append(f"{target} | {text} | {' '.join(map(str, names))}")
    write("operands.txt", """
What ptxas 13.0 takes in the place of each operand, recorded by ask_ptxas.py. First all that was tried, then sets of what was
taken, then statements with the target and, for each operand, the number of its set. "drop": left out, "repeat": written twice.""",
          ["tried | " + " | ".join(KINDS)] + [f"set {number} | " + " | ".join(kinds) for kinds, number in sets.items()] + answers)


# ---- directives --------------------------------------------------------------------------------------------------------

DIRECTIVES = """
.entry k() .reqntid 32 .reqnctapercluster 2 .blocksareclusters { ret; }
.entry k() .blocksareclusters { ret; }
.entry k() .explicitcluster { ret; }
.entry k() .reqnctapercluster 2 { ret; }
.entry k() .maxclusterrank 2 { ret; }
.entry k() .maxntid 32, 2, 2 { ret; }
.entry k() .maxntid 32 .maxnctapersm 2 { ret; }
.entry k() .maxntid 32 .minnctapersm 2 { ret; }
.entry k() .reqntid 32 { ret; }
.entry k() .maxntid 32 .reqntid 32 { ret; }
.entry k() .maxnreg 32 { ret; }
.func f() .noreturn { trap; }
.func f() .unique { ret; }
.func f() .abi_preserve 4 { ret; }
.func f() .abi_preserve_control 4 { ret; }
.entry k() { ; ret; }
.entry k() { ret;; }
; .entry k() { ret; }
.hidden .entry k() { ret; }
.hidden .global .u32 x;
.visible .visible .entry k() { ret; }
.visible .global .u32 x;
.extern .global .u32 x;
.weak .entry k() { ret; }
.weak .func f() { ret; }
.weak .global .u32 x;
.common .global .u32 x;
.address_size 32 .entry k() { ret; }
.language c .entry k() { ret; }
.surf .u32 t;
.sampler .u32 t;
.func g() { ret; } .func f(); .alias f, g;
.global .v4 .f32 x;
.global .v8 .f32 x;
.shared .u32 x = 1;
.entry k() { .reg .bf16 x; ret; }
.entry k() { .reg .v2 .f32 x; ret; }
""".strip().splitlines()


def ask_directives():
    """Each with every version and the last target that it knows."""
    last = [(v, max((t for t in TARGETS if TARGETS[t] <= v and t[-1].isdigit()), key=number)) for v in VERSIONS]
    lines = []
    for text in DIRECTIVES:
        taken = [v for v, target in last if not run(f".version {v // 10}.{v % 10}\n.target {target}\n{text}\n", target)]
        between = [v for v in VERSIONS if taken and min(taken) <= v <= max(taken)]
        if taken != between:
            raise RuntimeError(f"{text}: taken by {taken}")
        versions = "never" if not taken else f"{taken[0]}" if taken[-1] == NEWEST else f"{taken[0]}-{taken[-1]}"
        lines.append(f"{versions} | {text}")
    write("directives.txt", "Versions of PTX, times ten, with which ptxas 13.0 takes a module. Recorded by ask_ptxas.py.", lines)


def main(program, only=None):
    rows, memory = table(program)
    if only == "new":
        ask_new_spellings(rows)
        return
    ask_targets()
    ask_directives()
    ask_orders(rows, memory)
    ask_operands(rows)
    ask_spellings(rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
