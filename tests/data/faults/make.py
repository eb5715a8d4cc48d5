#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the cases of this folder and writes their index, cases.jsonl, from the comments in the CUDA sources.

    tests/data/faults/make.py            needs nvcc (13.0 made what is committed); what compute-sanitizer said is kept
    tests/data/faults/make.py --answers FILE...  also puts in the answers that ask.py wrote

README.md says what the comments and the lines of the index mean.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
SOURCES = ["memory", "host", "races", "initial", "barriers", "copies", "clusters", "groups", "products", "tensors",
           "tensor_memory", "values"]
NUMBERS = {"bytes", "size", "distance", "error"}


def compiled(source, faulty):
    """The PTX of a source; its .file lines name no folder, so that it is the same wherever it was made."""
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    path = os.path.join(FOLDER, source + ".cu")
    flags = re.search(r"^// nvcc: (.*)$", open(path).read(), re.M).group(1).split()
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.ptx")
        subprocess.run([nvcc, "-ptx", "-lineinfo", "-O3", f"-DFAULTY={faulty}", *flags, path, "-o", out], check=True)
        ptx = open(out).read()
    return re.sub(r'(\.file\s+\d+\s+)"[^"]*/', r'\1"', ptx)


def kernel_lines(lines, name):
    """First and last line of a kernel, from 1."""
    for number, line in enumerate(lines, 1):
        if line.startswith(f"KERNEL {name}("):
            return number, next(n for n in range(number, len(lines) + 1) if lines[n - 1].startswith("}"))
    return None


def marked(lines, span, mark):
    found = [n for n in range(span[0], span[1] + 1) if re.search(rf"// {mark}\b", lines[n - 1])]
    return found[0] if found else None


def steps(text, kind):
    """Programs free what they allocate, unless the fault is that they do not."""
    return [s.strip() for s in text.split(";")] + ([] if kind == "leak" else ["free-rest"])


def expected(text, lines, begin, case):
    fields = dict(word.split("=", 1) for word in text.split())
    expect = {k: int(v) if k in NUMBERS else v == "true" if v in ("true", "false") else v for k, v in fields.items()}
    at, other_at = expect.pop("at", None), expect.pop("other_at", None)
    own = kernel_lines(lines, at or case)
    if own:
        # Functions that a kernel calls are between its comment and itself.
        span = own if at else (begin, own[1])
        line, other = marked(lines, span, "FAULT"), marked(lines, span, "OTHER")
        if line:
            expect["kernel"], expect["line"] = at or case, line
        if other and not at:
            expect["other_line"] = other
    if other_at:
        expect["other_kernel"], expect["other_line"] = other_at, marked(lines, kernel_lines(lines, other_at), "FAULT")
    return expect


def found(case):
    """Whether compute-sanitizer reported the fault with the tool of its class, or anything at all of a twin."""
    said = case["sanitizer"].get(case["tool"], {}).get("said", [])
    if "expect" not in case:
        leaks = case["sanitizer"].get(case["tool"], {}).get("without_free_rest", False)
        return any(not (leaks and message.startswith("Leaked")) for message in said)
    consequences = {"leak": "Leaked", "unused": "Unused"}
    expect, lines = case["expect"], case["sanitizer"].get(case["tool"], {}).get("lines", [])
    kind = expect["kind"]
    if case["tool"] == "racecheck" and lines:  # a report on other accesses is not one of the fault
        places = [f"{case['source']}:{expect[field]}" for field in ("line", "other_line") if field in expect]
        if not set(places) & set(lines):
            return False
    ignored = [start for k, start in consequences.items() if k != kind]
    if "line" in expect:
        ignored.append("Program hit")  # the error of the API that every fault of a kernel leaves
    return any(not message.startswith(tuple(ignored)) for message in said)


def cases_of(source):
    lines = open(os.path.join(FOLDER, source + ".cu")).read().split("\n")
    device = {"device": line.split(": ")[1] for line in lines if line.startswith("// device: ")}
    for number, line in enumerate(lines, 1):
        match = re.match(r"// CASE (\w+)$", line)
        if not match:
            continue
        case, comment, n = match.group(1), [], number
        while lines[n].startswith("// ") and not lines[n].startswith("// CASE"):
            comment.append(lines[n][3:])
            n += 1
        tool, kind, what = re.match(r"(\w+), ([^:]+): (.*)$", comment[0]).groups()
        keys = dict(c.split(": ", 1) for c in comment[1:])
        common = {"tool": tool, "class": kind, "source": source + ".cu", **device}
        yield {"id": case, "twin": case + ".fixed", **common, "what": what, "rule": keys["rule"],
               "module": source + ".faulty.ptx", "steps": steps(keys["steps"], kind),
               "expect": expected(keys["expect"], lines, number, case)}
        yield {"id": case + ".fixed", "twin": case, **common, "module": source + ".fixed.ptx",
               "steps": steps(keys.get("fixed", keys["steps"]), kind)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--answers", nargs="*", default=[])
    parser.add_argument("--index-only", action="store_true", help="do not compile")
    options = parser.parse_args()
    index = os.path.join(FOLDER, "cases.jsonl")
    known = {}
    for file in ([index] if os.path.exists(index) else []) + options.answers:
        for line in open(file):
            case = json.loads(line)
            if "sanitizer" in case:
                known.setdefault(case["id"], {}).update(case["sanitizer"])
    with open(os.path.join(FOLDER, "differences.json")) as file:
        why = {case: reason for reason, cases in json.load(file).items() for case in cases}
    with open(index + ".new", "w") as out:
        for source in SOURCES:
            for case in cases_of(source):
                if case["id"] in known:
                    case["sanitizer"] = known[case["id"]]
                    case["found"] = found(case)
                if case["id"] in why and "found" in case:
                    case["differs"] = why[case["id"]]
                out.write(json.dumps(case, separators=(", ", ": ")) + "\n")
            for faulty, name in () if options.index_only else ((1, "faulty"), (0, "fixed")):
                with open(os.path.join(FOLDER, f"{source}.{name}.ptx"), "w") as ptx:
                    ptx.write(compiled(source, faulty))
    os.replace(index + ".new", index)


if __name__ == "__main__":
    sys.exit(main())
