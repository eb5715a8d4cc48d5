#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program with a race: neighbours exchange values in shared memory without a barrier.
set -euo pipefail
cat >sums <<TEXT
#!/bin/sh
exec "$WARPLENS_PLAY" libcuda.so.1 "$WARPLENS_FAULTS/races.faulty.ptx" 'alloc a 256' 'launch shared_no_barrier 1 64 a' free-rest
TEXT
chmod +x sums
