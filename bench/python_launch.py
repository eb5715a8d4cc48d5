# SPDX-License-Identifier: Apache-2.0
"""Times a launch of one warp by the C API and from Python, and prints both and the difference in microseconds.

    python3 bench/python_launch.py BUILD_FOLDER [MOST]

Each number is the smallest of many launches, each with its report, which is destroyed. With MOST, the exit status is 1
if a launch takes more than that beyond the C API. Needs a C compiler, numpy, and a build with the Python package.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PTX = """.version 7.0
.target sm_70
.address_size 64
.visible .entry tiny(.param .u64 p)
{
  .reg .b64 %d;
  .reg .b32 %r;
  ld.param.u64 %d, [p];
  cvta.to.global.u64 %d, %d;
  mov.u32 %r, %tid.x;
  st.global.u32 [%d], %r;
  ret;
}
"""

PROGRAM = r"""
#include "api/warplens.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}
int main(int count, char** words) {
  static char ptx[4096];
  FILE* const file = fopen(words[1], "r");
  ptx[fread(ptx, 1, sizeof ptx - 1, file)] = 0;
  warplens_context* context;
  warplens_module* module;
  uint64_t address;
  warplens_context_create(&context);
  warplens_memory_allocate(context, 128, "a", &address);
  if (warplens_module_load(context, ptx, "tiny.ptx", &module) != WARPLENS_OK) return puts(warplens_last_error()), 1;
  warplens_launch_options options = WARPLENS_LAUNCH_OPTIONS_INIT;
  options.block[0] = 32;
  options.analyze = atoi(words[2]);
  const void* const arguments[] = {&address};
  const size_t sizes[] = {8};
  double best = 1e9;
  for (int i = 0; i < 5000; ++i) {
    const double begin = now();
    warplens_report* report;
    if (warplens_launch(module, "tiny", &options, arguments, sizes, 1, &report) != WARPLENS_OK) return 1;
    warplens_report_destroy(report);
    const double end = now();
    if (end - begin < best) best = end - begin;
  }
  (void)count;
  printf("%.2f\n", best);
}
"""


def by_c(build: Path, folder: Path, analyze: bool) -> float:
    program = folder / "launch"
    if not program.exists():
        (folder / "launch.c").write_text(PROGRAM)
        (folder / "tiny.ptx").write_text(PTX)
        source = Path(__file__).resolve().parent.parent
        library = build / "lib"
        subprocess.run([os.environ.get("CC", "cc"), "-O2", f"-I{source}", "-o", program, folder / "launch.c",
                        f"-L{library}", "-lwarplens", f"-Wl,-rpath,{library.resolve()}"], check=True)
    words = [program, folder / "tiny.ptx", str(int(analyze))]
    return float(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def by_python(analyze: bool, in_numpy: bool) -> float:
    import numpy as np

    import warplens as wl

    kernel = wl.load_ptx(PTX).tiny
    memory = np.zeros(32, np.int32) if in_numpy else wl.zeros(32, np.int32)
    best = 1e9
    for _ in range(5000):
        begin = time.perf_counter()
        kernel[1, 32](memory, analyze=analyze)
        best = min(best, time.perf_counter() - begin)
    return best * 1e6


def main() -> int:
    build = Path(sys.argv[1])
    most = float(sys.argv[2]) if len(sys.argv) > 2 else float("inf")
    sys.path.insert(0, str(build / "python"))
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for analyze in (False, True):
            c = by_c(build, Path(folder), analyze)
            for in_numpy in (False, True):
                python = by_python(analyze, in_numpy)
                what = f"analyze={analyze}, {'numpy' if in_numpy else 'DeviceArray'}"
                print(f"{what:28} C {c:7.1f}   Python {python:7.1f}   beyond {python - c:6.1f} µs")
                worst = max(worst, python - c)
    return int(worst > most)


if __name__ == "__main__":
    sys.exit(main())
