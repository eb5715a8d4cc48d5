# SPDX-License-Identifier: Apache-2.0
"""Runs the micro-benchmarks of calibration.cu under Nsight Compute and prints their answers as a table (CSV).

    nvcc -O3 -std=c++17 -arch=native -o calibration tests/data/hardware/ask/calibration.cu
    python3 tests/data/hardware/ask/calibration.py ./calibration > answers.csv        needs ncu

`cycles` is what the program itself measured with the clock of a multiprocessor; `nanoseconds` and `device_cycles` are
the duration of the launch and the cycles of the GPU that ncu measured with its default settings: clocks at their base,
caches flushed before each launch.
"""
import csv
import subprocess
import sys
import tempfile

METRICS = ("gpu__time_duration.sum", "gpc__cycles_elapsed.max", "dram__bytes_read.sum", "dram__bytes_write.sum")


def main():
    with tempfile.NamedTemporaryFile("r", suffix=".csv") as log:
        command = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--metrics", ",".join(METRICS), "--log-file", log.name]
        out = subprocess.run(command + sys.argv[1:], stdout=subprocess.PIPE, text=True, check=True).stdout
        table = list(csv.reader(line for line in log if line.startswith('"')))
    launches = [dict(zip(table[0], row)) for row in table[2:]]
    answers = [line.split(",") for line in out.splitlines()]
    if {int(answer[0]) for answer in answers} != set(range(len(launches))):  # a launch may have several answers
        sys.exit(f"{len(answers)} answers of {len(launches)} launches")
    print("launch,name,times,cycles,nanoseconds,device_cycles,bytes_read,bytes_written")
    for answer in answers:
        launch = launches[int(answer[0])]
        print(",".join(answer + [launch[m].replace(",", "") for m in METRICS]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
