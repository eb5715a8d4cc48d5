"""Statements whose words and operands are changed at random, and which of them ptxas accepts. Writes changed.txt.

    ninja -C build write_statements
    python3 changed.py ../../../build/tests/write_statements SEED COUNT      # writes changed.txt; COUNT statements a target
    python3 changed.py ../../../build/tests/write_statements SEED COUNT -    # only says where Warplens differs

The statements that are changed are those that the table has. Half of them are of matrices, tensor memory and
asynchronous copies, the others of opcodes at random.
"""
import collections
import os
import random
import subprocess
import sys

from assembler import HERE, ask

VERSION = 90
PLACES = ["sm_90a", "sm_100a", "sm_120a"]
KEPT = 30  # spellings of a line of the table
REFUSED = 4  # of statements that both refuse, one in so many is written
MODERN = ("wgmma tcgen05 mma wmma cp mbarrier tensormap ldmatrix stmatrix movmatrix clusterlaunchcontrol fence multimem "
          "griddepcontrol setmaxnreg barrier mapa getctarank elect redux createpolicy red st").split()

KINDS = "pred b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 f32 f64".split()
OTHERS = ["0", "1", "-1", "2", "3", "4", "7", "8", "16", "31", "32", "33", "64", "128", "255", "256", "65536", "0x100000000",
          "1.5", "0f3f800000", "0d3ff0000000000000", "WARP_SZ", "_", "%tid.x", "%laneid", "%clock64", "global_0", "shared_0",
          "device", "label_0", "[%b64_8]", "[%b32_8]", "[%u64_8]", "[%f32_8]", "[%b64_8+16]", "[%b32_8+4]", "[global_0]",
          "[shared_0]", "[const_0]", "[local_0]", "[param_0]", "[64]", "[shared_0+8]", "{%b32_0, %b32_1}", "{%f32_0}", "{%b32_0}",
          "{1, 2}", "{%b64_0, %b64_1}", "%pred_0|%pred_1", "%b32_0|%pred_1", "!%pred_3", "-%b32_1", "{%b16_0, %b16_1}",
          "[%b64_8, {%b32_0, %b32_1}]", "[%b64_8, {%b32_0}]"]


def spellings(program):
    """opcode -> line of the table -> statements."""
    done = subprocess.run([program, "whole", str(VERSION)], capture_output=True, text=True, check=True)
    lines = collections.defaultdict(list)
    for row in done.stdout.splitlines():
        line, _, text = row.split("\t")
        lines[int(line)].append(text)
    found = collections.defaultdict(list)
    for line, texts in lines.items():
        opcode = texts[0].rstrip(";").split(" ")[0].split(".")[0]
        found[opcode].append(texts)
    return found


def parts(text):
    """The operands of a list; braces and brackets hold together."""
    found, depth, now = [], 0, ""
    for c in text:
        depth += (c in "{[(") - (c in "}])")
        if c == "," and depth == 0:
            found.append(now.strip())
            now = ""
        else:
            now += c
    return found + [now.strip()] if now.strip() else found


def register(rng):
    return f"%{rng.choice(KINDS)}_{rng.randrange(8)}"


def other(rng):
    return register(rng) if rng.random() < 0.5 else rng.choice(OTHERS)


def changed_operand(rng, operand):
    how = rng.randrange(6)
    if operand.startswith("{") and how < 4:
        inside = parts(operand[1:-1])
        if how == 0 and len(inside) > 1:
            del inside[rng.randrange(len(inside))]
        elif how == 1:
            inside.insert(rng.randrange(len(inside) + 1), rng.choice([inside[0], register(rng)]))
        elif inside:
            inside[rng.randrange(len(inside))] = other(rng)
        return "{" + ", ".join(inside) + "}"
    if operand.startswith("[") and how < 3:
        inside = parts(operand[1:-1])
        if how == 0 and len(inside) == 1:
            return f"[{inside[0]}{rng.choice(['+16', '+1', '-4'])}]"
        at = rng.randrange(len(inside))
        inside[at] = changed_operand(rng, inside[at]) if inside[at].startswith("{") else other(rng).strip("[]")
        return "[" + ", ".join(inside) + "]"
    if how == 3:
        return "{" + operand + "}"
    return other(rng)


def changed(rng, statement, words_of):
    head, _, rest = statement.rstrip(";").partition(" ")
    opcode, *words = head.split(".")
    operands = parts(rest)
    for _ in range(1 if rng.random() < 0.7 else 2):
        how = rng.randrange(10)
        if how == 0 and words:
            del words[rng.randrange(len(words))]
        elif how == 1 and words:
            words.insert(rng.randrange(len(words) + 1), rng.choice(words))
        elif how == 2 and len(words) > 1:
            i, j = rng.sample(range(len(words)), 2)
            words[i], words[j] = words[j], words[i]
        elif how == 3:
            words.insert(rng.randrange(len(words) + 1), rng.choice(words_of[opcode] or ["sync"]))
        elif how == 4 and words:
            words[rng.randrange(len(words))] = rng.choice(words_of[opcode])
        elif how == 5 and operands:
            del operands[rng.randrange(len(operands))]
        elif how == 6:
            operands.insert(rng.randrange(len(operands) + 1), other(rng))
        elif operands:
            at = rng.randrange(len(operands))
            operands[at] = changed_operand(rng, operands[at])
    return f"{'.'.join([opcode] + words)} {', '.join(operands)};".replace(" ;", ";")


def statements(rng, table, count):
    words_of = collections.defaultdict(list)
    for opcode, lines in table.items():
        words_of[opcode] = sorted({w for texts in lines for t in texts for w in t.rstrip(";").split(" ")[0].split(".")[1:]})
    found = {}
    while len(found) < count:
        opcode = rng.choice(MODERN if rng.random() < 0.5 else sorted(table))
        if opcode not in table or opcode == "call":
            continue
        text = rng.choice(rng.choice(table[opcode]))
        if len(text) > 420:
            continue
        found[changed(rng, text, words_of)] = None
    return list(found)


def refused(program, asked, target):
    done = subprocess.run([program, "refusals", str(VERSION), target], input="".join(t + "\n" for t in asked),
                          capture_output=True, text=True, check=True)
    return done.stdout.split("\n")[:len(asked)]


def pages(asked):
    """A kernel has instructions of single blocks or of pairs."""
    pairs = [t for t in asked if "cta_group::2" in t]
    return [[t for t in asked if "cta_group::2" not in t], [t for t in pairs if "cta_group::1" not in t]]


def main(program, seed, count, only=None):
    rng = random.Random(int(seed))
    table = spellings(program)
    for lines in table.values():
        for i, texts in enumerate(lines):
            lines[i] = rng.sample(texts, min(KEPT, len(texts)))
    answers, total, taken, differ = [], 0, 0, 0
    for target in PLACES:
        for page in pages(statements(rng, table, int(count))):
            said = ask(page, VERSION, target)
            for text, refusal, why in zip(page, said, refused(program, page, target)):
                yes = not refusal
                total += 1
                taken += yes
                if yes or not why or total % REFUSED == 0:
                    answers.append(f"{target} {'+' if yes else '-'} {text}")
                if yes == bool(why):
                    differ += 1
                    print(f"{'+' if yes else '-'} {target} | {text} | {why}")
    print(f"{differ} of {total} differ; ptxas takes {taken}")
    if only is None:
        with open(os.path.join(HERE, "changed.txt"), "w") as file:
            file.write("\n".join(answers) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
