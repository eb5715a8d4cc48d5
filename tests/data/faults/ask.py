#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gives the cases of this folder to NVIDIA's compute-sanitizer, on a machine with a GPU, and writes what it said.

    tests/data/faults/ask.py --out answers.jsonl [--seconds 240]     needs g++, ptxas, compute-sanitizer; a GPU of sm_90
    tests/data/faults/make.py --answers answers.jsonl                puts the answers into cases.jsonl

Faulty programs come first, each with its own tool, then the twins, then the other tools, as far as the time goes. What
can hang comes last in each group.
"""
import argparse
import concurrent.futures
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(FOLDER, "../../..")
TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]
WANTED = {  # options that find more than the default; those that this version has are used
    "memcheck": ["--leak-check full", "--report-api-errors all", "--track-stream-ordered-races all"],
    "racecheck": ["--racecheck-report all"],
    "initcheck": ["--track-unused-memory", "--initcheck-address-space all"],
    "synccheck": []}


def options(tool, text):
    return [word for option in WANTED[tool] if option.split()[0] in text for word in option.split()]


def answer_of(text, hung, status):
    """What is left of a report: how many errors, which kinds, and which lines of the sources."""
    said, lines, hosts = {}, [], []
    for line in text.split("\n"):
        if not line.startswith("========="):
            continue
        line = line[10:].removeprefix(" ") if "Unused memory" in line else line[10:]
        place = re.search(r"in (\w+\.cu):(\d+)", line)
        if place:
            where = f"{place.group(1)}:{place.group(2)}"
            if where not in lines:
                lines.append(where)
        if line[:1] in " \t" or not line or re.match(
                r"(COMPUTE-SANITIZER|ERROR SUMMARY|RACECHECK SUMMARY|LEAK SUMMARY|Saved|Target application|Tracking)", line):
            continue
        kind = re.sub(r"0x[0-9a-f]+", "0x…", line)
        kind = re.sub(r"\(\d+,\d+,\d+\)", "(…)", kind)
        said[kind.strip()] = said.get(kind.strip(), 0) + 1
    summary = re.search(r"ERROR SUMMARY: (\d+) error", text)
    races = re.search(r"RACECHECK SUMMARY: (\d+) hazards? displayed \((\d+) errors?, (\d+) warnings?", text)
    count = int(races.group(1)) if races else int(summary.group(1)) if summary else None
    answer = {"errors": count, "said": list(said)[:4], "lines": lines[:6]}
    if hung:
        answer["hung"] = True
    if status != 0:
        answer["exit"] = status
    return answer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--only", help="cases of which 'TOOL ID' matches this expression")
    parser.add_argument("--own", action="store_true", help="each case with the tool of its class only")
    parser.add_argument("--raw", help="folder for the whole reports")
    parser.add_argument("--libcuda", default="libcuda.so.1")
    parser.add_argument("--sanitizer", default="compute-sanitizer")
    ask = parser.parse_args()
    begin, made = time.time(), tempfile.mkdtemp()
    play = os.path.join(made, "play")
    jobs = [["g++", "-std=c++20", "-O1", "-I", ROOT, os.path.join(FOLDER, "play.cpp"), "-o", play, "-ldl"]]
    cases = [json.loads(line) for line in open(os.path.join(FOLDER, "cases.jsonl"))]
    # The GPU lacks the instructions of those that name another device.
    chosen = [c for c in cases if "device" not in c and (not ask.only or re.search(ask.only, c["tool"] + " " + c["id"]))]
    for module in sorted({case["module"] for case in chosen}):
        jobs.append(["ptxas", "-lineinfo", "-arch=sm_90a", os.path.join(FOLDER, module), "-o", os.path.join(made, module)])
    for process in [subprocess.Popen(job) for job in jobs]:
        if process.wait() != 0:
            sys.exit("cannot be built")
    text = subprocess.run([ask.sanitizer, "--help"], stdout=subprocess.PIPE, text=True).stdout
    print("built", round(time.time() - begin), "s;", {t: options(t, text) for t in TOOLS}, flush=True)

    def hangs(case):
        fault = case if "expect" in case else None
        return bool(fault and fault["expect"].get("hangs"))

    def run(case, tool):
        left = begin + ask.seconds - time.time()
        if left < 5:
            return None
        command = [ask.sanitizer, "--tool", tool, *options(tool, text), "--print-limit", "100", play, ask.libcuda,
                   os.path.join(made, case["module"]), *case["steps"]]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        hung = False
        try:
            output = process.communicate(timeout=min(left, 12 if hangs(case) else 25))[0]
        except subprocess.TimeoutExpired:
            hung = True
            os.killpg(process.pid, signal.SIGKILL)
            output = process.communicate()[0]
        output = output.decode(errors="replace")
        if ask.raw:
            with open(os.path.join(ask.raw, f"{case['id']}.{tool}.txt"), "w") as file:
                file.write(output)
        return {"id": case["id"], "sanitizer": {tool: answer_of(output, hung, process.returncode)}}

    rounds = [[(c, t) for c in chosen for t in TOOLS if ("expect" in c) == faulty and (t == c["tool"]) == own]
              for own in ((True,) if ask.own else (True, False)) for faulty in (True, False)]
    done = 0
    with open(ask.out, "w") as out, concurrent.futures.ThreadPoolExecutor(ask.workers) as pool:
        order = [job for part in rounds for job in sorted(part, key=lambda job: hangs(job[0]))]
        for answer in pool.map(lambda job: run(*job), order):
            if answer:
                done += 1
                out.write(json.dumps(answer, ensure_ascii=False) + "\n")
                out.flush()
    print(done, "of", len(order), "answers in", round(time.time() - begin), "s", flush=True)


if __name__ == "__main__":
    main()
