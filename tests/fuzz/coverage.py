#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which lines of the code that a fuzz target is for are reached by it.

    cmake --preset fuzz-coverage
    cmake --build --preset fuzz-coverage --target fuzz_targets fuzz_driver_targets
    python3 tests/fuzz/coverage.py build-fuzz-coverage [--runs N] [--seconds N] [--lines] [TARGET…]

Prints the table of docs/fuzzing.md: the lines and branches (each side counts) that are reached by the committed inputs,
and then by N changed ones, too. With --lines, lists the lines that are not reached.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# What each target is for: the beginnings of paths.
CODE = {
    "ptx_check": ["emulator/ir/"],
    "ptx_run": ["emulator/exec/"],
    "launch_file": ["api/plan/launch_file", "api/plan/plan", "emulator/base/toml"],
    "device_file": ["model/device"],
    "rule_file": ["rules/"],
    "npy": ["api/files/npy"],
    "trace": ["api/trace/trace", "analyzers/trace/"],
    "accelsim": ["api/trace/accelsim"],
    "report_json": ["api/predict/", "api/sweep/compare", "api/sweep/json_compare"],
    "profile_csv": ["api/predict/"],
    "sweep_rows": ["api/sweep/sweep_json", "api/sweep/sweep_table", "api/sweep/sweep_row"],
    "fat_binary": ["runtime/fatbin/"],
    "names": ["api/session/kernel_name", "api/session/limits", "api/check/sanitizer"],
    "overrides": ["api/plan/launch_file", "tools/output"],
    "arguments": ["tools/run_arguments"],
    "c_api": ["api/c/", "api/session/"],
    "driver_api": ["runtime/driver/"],
}
PROFDATA, COV = "llvm-profdata-19", "llvm-cov-19"


def program_of(build, target):
    return os.path.join(build, "tests", "fuzz_driver_targets" if target == "driver_api" else "fuzz_targets")


def objects_of(build, target):
    """The files with the code: libcuda is a library of its own."""
    files = [program_of(build, target)]
    if target == "driver_api":
        files = [os.path.join(build, "lib", "cuda", "libcuda.so.1")]
    if target == "trace":
        files.append(os.path.join(build, "lib", "cuda", "libwarplens_hdf5.so"))
    return files


def profile(build, target, options, folder, name):
    raw, data = os.path.join(folder, name + ".%m.profraw"), os.path.join(folder, name + ".profdata")
    inputs = os.path.join(ROOT, "tests", "data", "fuzz", target)
    done = subprocess.run([program_of(build, target), target, *options, inputs], capture_output=True, text=True,
                          cwd=folder, env={**os.environ, "LLVM_PROFILE_FILE": raw})
    if done.returncode != 0:
        sys.exit(f"{target}: {done.stdout}{done.stderr}")
    found = [os.path.join(folder, f) for f in os.listdir(folder) if f.startswith(name + ".") and f.endswith(".profraw")]
    subprocess.run([PROFDATA, "merge", "-sparse", "-o", data, *found], check=True)
    return data, done.stdout.strip()


def exported(build, target, data, summary):
    first, *others = objects_of(build, target)
    command = [COV, "export", first, "-instr-profile", data] + (["-summary-only"] if summary else [])
    for other in others:
        command += ["-object", other]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [f for f in json.loads(done.stdout)["data"][0]["files"]
            if any(os.path.relpath(f["filename"], ROOT).startswith(part) for part in CODE[target])]


def counted(files):
    lines = [sum(f["summary"]["lines"][k] for f in files) for k in ("covered", "count")]
    branches = [sum(f["summary"]["branches"][k] for f in files) for k in ("covered", "count")]
    return lines, branches


def unreached(files):
    """Begins of regions that were never entered, in lines of a file."""
    for f in files:
        lines = {line for line, _, times, has_count, is_entry, *_ in f["segments"] if has_count and times == 0 and is_entry}
        if lines:
            print(f"  {os.path.relpath(f['filename'], ROOT)}: {' '.join(map(str, sorted(lines)))}")


def share(pair):
    return f"{pair[0]} of {pair[1]}, {100 * pair[0] / max(pair[1], 1):.0f} %"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("target", nargs="*")
    parser.add_argument("--runs", default="20000")
    parser.add_argument("--seconds", default="20", help="at least, of changed inputs")
    parser.add_argument("--lines", action="store_true")
    given = parser.parse_args()
    build = os.path.abspath(given.build)
    print("| target | code | lines: inputs | changed ones, too | branches: inputs | changed ones, too |\n"
          "| --- | --- | ---: | ---: | ---: | ---: |")
    for target in given.target or CODE:
        with tempfile.TemporaryDirectory() as folder:
            inputs, _ = profile(build, target, [], folder, "inputs")
            changed, _ = profile(build, target, ["--runs", given.runs, "--seconds", given.seconds, "--seed", "77"],
                                 folder, "changed")
            (lines, branches), (all_lines, all_branches) = (
                counted(exported(build, target, data, True)) for data in (inputs, changed))
            code = ", ".join(f"`{part}`" for part in CODE[target])
            print(f"| `{target}` | {code} | {share(lines)} | {share(all_lines)} | {share(branches)} | "
                  f"{share(all_branches)} |", flush=True)
            if given.lines:
                unreached(exported(build, target, changed, False))


if __name__ == "__main__":
    main()
