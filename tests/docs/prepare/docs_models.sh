#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The measurements of Dasgupta's tables 6 and 8 to 11; a launch for a model that needs few fields.
set -euo pipefail
cat >microbenchmarks.csv <<'CSV'
kernel,threads_per_block,blocks,resident_blocks,instructions,global_requests,transactions_32,transactions_64,transactions_128,vector_transactions_32,milliseconds
none,512,120,2,4325,0,0,0,0,0,0.846
t32,256,120,4,7942,400,800,0,0,0,0.7243
t64,256,120,4,7942,400,0,800,0,0,0.7240
t128,256,120,4,7942,400,0,0,800,0,1.137
vector,256,120,4,7934,400,800,0,0,800,1.0588
CSV
cp microbenchmarks.csv profiler.csv
cp microbenchmarks.csv vector_add.csv
