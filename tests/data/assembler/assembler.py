"""Asks ptxas about single statements of PTX, many at a time.

    ask(["add.u8 %u8_0, %u8_1, %u8_2;"], 90, "sm_90")  ->  ["Unexpected instruction types specified for 'add'"]

The statements stand in the kernel of context.ptx. PTXAS in the environment names the program; version 13 was asked.
"""
import functools
import os
import re
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PTXAS = os.environ.get("PTXAS", "/usr/local/cuda/bin/ptxas")
PAGE = 4000  # statements a module: one that cannot even be parsed costs another run of its module
COMPLAINT = re.compile(r"^ptxas \S+, line (\d+); (error|fatal) *: (.*)$")

VERSIONS = [10, 11, 12, 13, 14, 15, 20, 21, 22, 23, 30, 31, 32, 40, 41, 42, 43, 50, 51, 60, 61, 62, 63, 64, 65,
            70, 71, 72, 73, 74, 75, 76, 77, 78, 80, 81, 82, 83, 84, 85, 86, 87, 88, 90]  # times ten
NEWEST = VERSIONS[-1]


def targets():
    """target -> version of PTX, times ten, that introduced it: targets.txt."""
    with open(os.path.join(HERE, "targets.txt")) as file:
        return {name: int(version) for name, version in (line.split() for line in file if line[0] != "#")}


TARGETS = targets()
PLACES = [(version, target) for version in VERSIONS for target, first in TARGETS.items() if first <= version]


# Types that registers have, and others with the type of the register that keeps them.
FUNDAMENTAL = "pred b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64".split()
STORED = {"f16": "b16", "bf16": "b16", "tf32": "b32", "f16x2": "b32", "bf16x2": "b32", "f32x2": "b64", "u16x2": "b32",
          "s16x2": "b32", "u8x4": "b32", "s8x4": "b32", "e4m3x2": "b16", "e5m2x2": "b16", "e2m3x2": "b16", "e3m2x2": "b16",
          "e2m1x2": "b8", "ue8m0x2": "b16", "e4m3x4": "b32", "e5m2x4": "b32", "e2m3x4": "b32", "e3m2x4": "b32",
          "e2m1x4": "b16"}
TYPES = FUNDAMENTAL + list(STORED)


def stored(name):
    return STORED.get(name, name)


class Crash(RuntimeError):
    """ptxas ended without saying why."""


class Elsewhere(RuntimeError):
    """ptxas complains of what stands before or after the statements."""


def run(text, target):
    """What ptxas says of a module: [(line or 0, severity, message)]. Parsing and checking only."""
    architecture = "compute_" + (target[3:] if target[-1] in "af" else "121")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.ptx")
        with open(path, "w") as file:
            file.write(text)
        done = subprocess.run([PTXAS, "-arch", architecture, path, "-o", os.path.join(folder, "page.cubin")],
                              capture_output=True, text=True, errors="replace")
    said = []
    for line in (done.stdout + done.stderr).splitlines():
        found = COMPLAINT.match(line)
        if found:
            said.append((int(found[1]), found[2], found[3].strip()))
    if done.returncode != 0 and not said:
        raise Crash(done.stdout + done.stderr)
    return said


def frame(version, target):
    """What stands before the statements, line by line, and how many lines of it must not be refused."""
    with open(os.path.join(HERE, "context.ptx")) as file:
        context = file.read().splitlines()
    header = [f".version {version // 10}.{version % 10}", f".target {target}"]
    header += [".address_size 64"] if version >= 23 else []
    at = context.index(".entry kernel(.param .u64 param_0)")
    if version < 14:  # parameters were declared in the body
        context[at:at + 2] = [".entry kernel()", "{ .param .u64 param_0;"]
    return header + context, len(header) + at + 2


@functools.lru_cache(maxsize=None)
def known_frame(version, target):
    """The frame without the registers that an old version lacks: with them goes whoever uses them."""
    before, fixed = frame(version, target)
    while True:
        said = run("\n".join(before + ["label_0:", "ret;", "}"]) + "\n", target)
        if not said:
            return before, fixed
        for number, _, message in said:
            if number <= fixed or number > len(before):
                raise Elsewhere(f"{version} {target}: line {number}: {message}")
            before[number - 1] = ""


def ask_page(statements, version, target):
    before, _ = known_frame(version, target)
    refusals = [""] * len(statements)
    start = 0  # what stands before it has been parsed
    while True:
        shown = [s if i >= start and not refusals[i] else "" for i, s in enumerate(statements)]
        said = run("\n".join(before + shown + ["label_0:", "ret;", "}"]) + "\n", target)
        if not said and start == 0:
            return refusals
        start = 0
        for number, severity, message in said:
            at = number - 1 - len(before)
            if at < 0 or at >= len(statements):  # a statement makes it complain of declarations
                raise Elsewhere(f"{version} {target}: line {number}: {message}")
            if not refusals[at]:
                refusals[at] = message
            if severity == "fatal":
                start = max(at, 0)


def ask(statements, version, target):
    """Why ptxas refuses each statement; empty where it accepts it."""
    refusals = []
    for start in range(0, len(statements), PAGE):
        refusals += ask_halves(statements[start:start + PAGE], version, target)
    return refusals


def ask_halves(statements, version, target):
    """ask_page, but for statements that make ptxas crash or refuse what stands before them: those are refused."""
    try:
        return ask_page(statements, version, target)
    except (Crash, Elsewhere) as why:
        if len(statements) == 1:
            return ["ptxas crashes" if isinstance(why, Crash) else str(why)]
        half = len(statements) // 2
        return ask_halves(statements[:half], version, target) + ask_halves(statements[half:], version, target)
