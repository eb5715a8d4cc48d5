#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures launches over ranks: processor time, messages, bytes, and a model of the cost (docs/scale.md).

  bench/ranks.py build/bin/warplens [--ranks 1,2,4,8] [--repeat 3] [--by mpi]

Processor time is that of mpirun and all its processes, so that more ranks than processors do no harm. The second
efficiency is without what `mpirun -n N true` takes.
"""

import argparse
import os
import pathlib
import re
import resource
import subprocess
import tempfile

COMPUTE = """.version 8.3
.target sm_90
.address_size 64
.visible .entry compute(.param .u64 out, .param .u32 rounds)
{
  .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .pred %p1;
  ld.param.u64 %rd1, [out]; ld.param.u32 %r4, [rounds];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;
  mov.u32 %r5, 0; mov.u32 %r6, %r1;
L: mad.lo.u32 %r6, %r6, 1664525, 1013904223; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r4; @%p1 bra L;
  mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1; st.global.u32 [%rd2], %r6;
  ret;
}
.visible .entry copy(.param .u64 out, .param .u64 in, .param .u32 rounds)
{
  .reg .b32 %r<9>; .reg .b64 %rd<5>; .reg .pred %p1;
  ld.param.u64 %rd1, [out]; ld.param.u64 %rd3, [in]; ld.param.u32 %r4, [rounds];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;
  mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd3, %rd2; add.u64 %rd2, %rd2, %rd1;
  ld.global.u32 %r6, [%rd3];
  mov.u32 %r5, 0;
L: mad.lo.u32 %r6, %r6, 1664525, 1013904223; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r4; @%p1 bra L;
  st.global.u32 [%rd2], %r6;
  ret;
}
"""


def launches(folder):
    """Names and arguments of warplens."""
    module = folder / "k.ptx"
    module.write_text(COMPUTE)

    def of(kernel, blocks, rounds):
        words = blocks * 256
        arguments = ["--arg", f"out:u32[{words}]=zeros"]
        if kernel == "copy":
            arguments += ["--arg", f"in:u32[{words}]=iota"]
        arguments += ["--arg", f"u32={rounds}"]
        return ["run", str(module), "--kernel", kernel, "--grid", str(blocks), "--block", "256", *arguments]

    return {
        "compute, 4 MB written, 1 s": of("compute", 4096, 2600),
        "compute, 4 MB written, 4 s": of("compute", 4096, 10400),
        "copy of 256 MB": of("copy", 262144, 8),
        "copy of 256 MB, 20 times the work": of("copy", 262144, 160),
    }


def measure(command, environment):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    said = re.search(r"(\d+) messages, (\d+) bytes", done.stderr)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, (int(said[1]), int(said[2])) if said else (0, 0), done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--ranks", default="1,2,4,8")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--by", choices=["mpi", "sockets"], default="sockets")
    parser.add_argument("--only", default="")
    parser.add_argument("--pin", action="store_true", help="all processes on one processor")
    options = parser.parse_args()
    environment = {
        **os.environ,
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
        "WARPLENS_RANKS_TRAFFIC": "1",
    }
    if options.by == "mpi":
        environment["WARPLENS_RANKS_BY"] = "mpi"
    with tempfile.TemporaryDirectory() as name:
        for title, arguments in launches(pathlib.Path(name)).items():
            if options.only not in title:
                continue
            command = [options.program, *arguments, "--threads", "1"]
            command = ["taskset", "-c", "1"] + command if options.pin else command
            counts = list(map(int, options.ranks.split(",")))
            commands = {0: command} | {ranks: ["mpirun", "-n", str(ranks), *command] for ranks in counts}
            launchers = {ranks: ["mpirun", "-n", str(ranks), "true"] for ranks in counts}
            times = {key: [] for key in commands}
            launcher_times = {key: [] for key in launchers}
            for _ in range(options.repeat):  # in turns, because other work on the machine changes all times
                for ranks, over in commands.items():
                    times[ranks].append(measure(over, environment))
                    if times[ranks][-1][2] != times[0][0][2]:
                        raise SystemExit("the output differs")
                for ranks, launcher in launchers.items():
                    launcher_times[ranks].append(measure(launcher, environment)[0])
            alone = min(times[0])[0]
            print(f"{title}: one process {alone:.2f} s")
            for ranks in counts:
                best, traffic, _ = min(times[ranks])
                launcher = min(launcher_times[ranks])
                print(
                    f"  {ranks} ranks: {best:.2f} s, of which {launcher:.2f} s for mpirun itself, "
                    f"efficiency {100 * alone / best:.0f} %, without the launcher {100 * alone / (best - launcher):.0f} %, "
                    f"{traffic[0]} messages, {traffic[1] / 1e6:.1f} MB",
                    flush=True,
                )


if __name__ == "__main__":
    main()
