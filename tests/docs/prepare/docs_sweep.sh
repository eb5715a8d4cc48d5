#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A launch whose size is in three places, the report of a sweep, measured times, and programs that launch kernels.
set -euo pipefail
sed -e 's/^grid = .*/total = 1024/; s/^block = .*/block = 64/; /^expect/d; /^tolerance/d' \
  -e '/^\[buffer.y\]/,$ s/^count = .*/count = 65536/' samples/saxpy/launch.toml >l.toml
cp samples/saxpy/saxpy.ptx .
warplens sweep samples/vector_add/launch.toml --block 32,64,128 --device gtx480 --json sweep.json
printf 'block,milliseconds\n32,10\n64,5\n128,5.1\n' >measured.csv
cat >saxpy <<TEXT
#!/bin/sh
exec "$WARPLENS_LAUNCHES" "\${1:-1}"
TEXT
chmod +x saxpy
for program in before after; do
  printf '#!/bin/sh\nexec "%s" 2\n' "$WARPLENS_LAUNCHES" >"$program"
  chmod +x "$program"
done
