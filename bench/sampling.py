#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the counters of sampled launches with those of all blocks (docs/scale.md).

  bench/sampling.py --sample 0.01 build/bin/warplens run samples/transpose [, run OTHER…]

Each launch has a row: the watched blocks, the largest error of a counter of accesses, and what the report estimated.
Arguments of exec: exec -- PROGRAM. Separate commands by a comma that stands alone.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

# Counters that are not extrapolated, or are small differences of large ones.
SMALL = 0.01


def report(program, arguments, more, folder):
    file = folder / "report.json"
    at = arguments.index("--") if "--" in arguments else len(arguments)
    command = [program, *arguments[:at], *more, "--json", str(file), *arguments[at:]]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if not file.exists():
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    launches = json.loads(file.read_text())["launches"]
    file.unlink()
    return launches


def errors(exact, sampled):
    """Relative errors by counter, of those that are not small beside the largest of their unit."""
    most = {}
    for name, value in exact.items():
        kind = "bytes" if "bytes" in name else "count"
        if isinstance(value, int):
            most[kind] = max(most.get(kind, 0), value)
    result = {}
    for name, value in exact.items():
        kind = "bytes" if "bytes" in name else "count"
        if isinstance(value, int) and value > SMALL * most[kind] and value != sampled.get(name):
            result[name] = abs(sampled.get(name, 0) - value) / value
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--sample", default="0.01")
    parser.add_argument("commands", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    commands = [[]]
    for word in options.commands:
        if word == ",":
            commands.append([])
        else:
            commands[-1].append(word)
    print("| kernel | blocks | watched | classes | largest error | estimated |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as name:
        for arguments in commands:
            exact = report(options.program, arguments, [], pathlib.Path(name))
            sampled = report(options.program, arguments, ["--sample", options.sample], pathlib.Path(name))
            for one, other in zip(exact, sampled):
                blocks = one["grid"][0] * one["grid"][1] * one["grid"][2]
                sampling = other.get("sampling")
                if sampling is None:
                    print(f"| `{one['kernel']}` | {blocks} | all | | | |")
                    continue
                found = errors(one["metrics"], other["metrics"])
                worst = max(found, key=found.get, default=None)
                print(
                    f"| `{one['kernel']}` | {blocks} | {sampling['watched_blocks']} | {sampling['classes']} "
                    f"| {100 * found[worst] if worst else 0:.2g} %{' ' + worst if worst else ''} "
                    f"| {100 * sampling['main_standard_error']:.2g} % |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
