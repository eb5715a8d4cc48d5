#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares our declarations of the driver API with NVIDIA's, where a CUDA toolkit is installed.

    tests/runtime/abi/compare_with_cuda.py [/usr/local/cuda/include]

Values of enumerators, and sizes and alignments of structures must be equal. The files that define the functions are
also compiled with cuda.h instead of our headers, so that different parameters contradict the declaration.
Prints the differences; the exit status is 1 if there are any.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
ABI = ROOT / "runtime" / "abi"
COMPILER = ["g++", "-std=c++20", "-w"]
# The files that are compiled twice: runtime/driver/api/default_stream.hpp.
PER_THREAD = "-DWARPLENS_PER_THREAD_DEFAULT_STREAM"


def questions():
    """Statements that print every size and value in our headers."""
    structures = "".join((ABI / name).read_text() for name in ("driver_structs.hpp", "driver_graphs.hpp"))
    for name in re.findall(r"^(?:struct|union) (\w+) \{", structures, re.M):
        yield f'printf("{name}: %zu bytes at %zu\\n", sizeof({name}), alignof({name}));'
    for body in re.findall(r"enum \w+ \{(.*?)\};", (ABI / "driver_enums.hpp").read_text(), re.S):
        for name in re.findall(r"\b([A-Z]\w+)\b", body):
            yield f'printf("{name} = %lld\\n", (long long){name});'
    for name in re.findall(r"^X\((\w+),", (ABI / "driver_errors.def").read_text(), re.M):
        yield f'printf("{name} = %lld\\n", (long long){name});'


def answers(folder, header, includes):
    source, program = folder / "ask.cpp", folder / "ask"
    source.write_text("#include <cstdio>\n#include <%s>\nint main() {\n%s\n}\n" % (header, "\n".join(questions())))
    subprocess.run([*COMPILER, *includes, str(source), "-o", str(program)], check=True)
    return subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout.splitlines()


def contradictions(folder, cuda):
    """Compiler errors where our functions contradict NVIDIA's declarations."""
    stand_in = folder / "runtime" / "abi"
    stand_in.mkdir(parents=True)
    for header in ABI.glob("driver*.hpp"):
        (stand_in / header.name).write_text(
            "#pragma once\n#include <cstdint>\n#define __CUDA_API_VERSION_INTERNAL\n#include <cuda.h>\n")
    twice = re.search(r"set\(per_thread\s+(.*?)\)", (ROOT / "runtime/driver/CMakeLists.txt").read_text(), re.S).group(1)
    for file in sorted((ROOT / "runtime" / "driver" / "api").glob("*_api.cpp")):
        for variant in ([], [PER_THREAD]) if f"api/{file.name}" in twice.split() else ([],):
            result = subprocess.run([*COMPILER, "-fsyntax-only", *variant, f"-I{folder}", f"-I{ROOT}", "-isystem", cuda,
                                     str(file)], capture_output=True, text=True)
            yield from (line for line in result.stderr.splitlines() if "error:" in line)


def main():
    cuda = sys.argv[1] if len(sys.argv) > 1 else "/usr/local/cuda/include"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        ours = answers(folder, "runtime/abi/driver_graphs.hpp", [f"-I{ROOT}"])
        theirs = answers(folder, "cuda.h", ["-isystem", cuda])
        differences = [f"{a} here, {b} there" for a, b in zip(ours, theirs) if a != b]
        differences += contradictions(folder, cuda)
    print("\n".join(differences) or f"all {len(ours)} values and sizes and all prototypes agree")
    return 1 if differences else 0


sys.exit(main())
