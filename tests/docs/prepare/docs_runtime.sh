#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program that launches kernels, and a compiler that makes it.
set -euo pipefail
cat >saxpy <<TEXT
#!/bin/sh
exec "$WARPLENS_LAUNCHES" "\${1:-1}"
TEXT
chmod +x saxpy
touch saxpy.cu
cat >nvcc <<'TEXT'
#!/bin/sh
[ "$1" != --list-gpu-arch ] || { echo compute_75; exit; }
while [ $# -gt 0 ]; do
  case "$1" in -o) out=$2;; -MF) list=$2;; esac
  shift
done
cp "$WARPLENS_LAUNCHES" "$out"
[ -z "$list" ] || echo "result : saxpy.cu" >"$list"
TEXT
chmod +x nvcc
