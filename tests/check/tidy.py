#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over files: tidy.py BUILD_FOLDER FILE…

Nearly all of the time goes to the headers, so files that are compiled with the same options are checked together, as
one file that includes them. Files that define the same names get into different batches. TIDY_BATCH=1 checks each file
by itself, which also finds missing includes. A file that is compiled several times is checked once.
"""
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

BATCH = int(os.environ.get("TIDY_BATCH", "12"))
COMPILE_ERROR = re.compile(r"^(\S+?):\d+:\d+: error: .*\[clang-diagnostic-error", re.MULTILINE)


def options(entry):
    """Those that say what the file means: without names of files, and what only g++ has."""
    arguments = shlex.split(entry["command"])[1:]
    kept, skip = [], False
    for argument in arguments:
        if skip or argument == "-c":
            skip = False
        elif argument in ("-o", "-MF", "-MT"):
            skip = True
        elif argument != entry["file"] and not argument.startswith(("-fconstexpr-ops-limit", "-MD", "-Werror")):
            kept.append(argument)
    return tuple(kept)


def batches(build, files):
    wanted, groups = set(files), {}
    with open(os.path.join(build, "compile_commands.json")) as file:
        for entry in json.load(file):
            path = os.path.relpath(os.path.join(entry["directory"], entry["file"]))
            if path in wanted:
                wanted.discard(path)
                groups.setdefault((options(entry), os.path.dirname(path)), []).append(path)
    for path in sorted(wanted):
        print(f"{path}: not compiled", file=sys.stderr)
    for (arguments, _), paths in groups.items():
        yield from ((arguments, paths[i : i + BATCH]) for i in range(0, len(paths), BATCH))


def tidy(paths, arguments, checks, batch):
    """Exit status and output of clang-tidy for a file, or for several that the file `batch` includes."""
    path = paths[0]
    if len(paths) > 1:
        path = batch
        with open(batch, "w") as file:
            file.writelines(f'#include "{os.path.abspath(path)}"\n' for path in paths)
    # not warplens.h, which is C
    ours = rf"^{os.getcwd()}/(emulator|rules|analyzers|model|api|tools|runtime|bench|tests)/.*\.[ch]pp$"
    command = ["clang-tidy", "--quiet", f"--header-filter={ours}", f"--checks={checks}", path, "--", *arguments]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return abs(run.returncode), run.stdout + (run.stderr if run.returncode < 0 else "")


def compatible(paths, arguments, batch):
    """Divides files into some that compile together, and the others."""
    _, output = tidy(paths, arguments, "-*,readability-duplicate-include", batch)  # compiles, and does little else
    wrong = {os.path.relpath(path) for path in COMPILE_ERROR.findall(output)}
    others = [path for path in paths if path in wrong]
    if len(others) != len(wrong) or len(others) == len(paths):  # in a header, or in the first file
        others = paths[1:]
    return [path for path in paths if path not in others], others


def check(arguments, paths, batch):
    """What clang-tidy says of the files of a batch."""
    status, output = 0, ""
    while paths:
        together, paths = paths, []
        while len(together) > 1:
            together, others = compatible(together, arguments, batch)
            if not others:
                break
            paths += others
        left_out = ["-bugprone-suspicious-include"] if len(together) > 1 else []
        if together[0].startswith("tests/"):  # need not be fast
            left_out.append("-performance-*")
        result = tidy(together, arguments, ",".join(left_out), batch)
        status, output = max(status, result[0]), output + result[1]
    return status, output


def main():
    build, files = sys.argv[1], sys.argv[2:]
    failed, seen = False, set()
    # In the build folder, so that clang-tidy finds its configuration in a folder above.
    with tempfile.TemporaryDirectory(dir=build) as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = [
            pool.submit(check, *batch, os.path.join(folder, f"batch_{i}.cpp"))
            for i, batch in enumerate(batches(build, files))
        ]
        for run in concurrent.futures.as_completed(runs):
            status, output = run.result()
            failed |= status != 0
            for finding in re.split(r"(?m)^(?=\S+:\d+:\d+: (?:warning|error))", output):
                if finding.strip() and finding not in seen:  # of headers, once
                    seen.add(finding)
                    print(finding, end="", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
