#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests bench_gate with ratios that no machine exceeds or keeps: gate_test.sh BENCH_GATE
set -euo pipefail
gate=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# expect STATUS PATTERN LINE: with this line as file, the gate ends with this status and prints a match.
expect() {
  local status=0 output
  printf '# a remark\n\n%s\n' "$3" >"$work/ratios.txt"
  output=$("$gate" "$work/ratios.txt" 1 2>&1) || status=$?
  [[ $status -eq $1 ]] && grep -qE -- "$2" <<<"$output" && return
  echo "gate_test: '$3': expected status $1 and '$2', found $status: $output" >&2
  exit 1
}

expect 1 '^watched/unwatched +fma_loop +0\.01 +0\.01 +[0-9.]+  TOO LARGE$' 'watched/unwatched fma_loop 0.01 0.2'
expect 0 '  smaller: commit it$' 'watched/unwatched fma_loop 1000 0.2'
expect 0 '^all/unwatched +vec_add +2\.00 +2002\.00 ' 'all/unwatched vec_add 2 1000'
expect 0 '^traced/unwatched +vec_add ' 'traced/unwatched vec_add 2 1000'
expect 0 '^replayed/watched +vec_add ' 'replayed/watched vec_add 2 1000'
expect 0 '^unwatched/arithmetic +vec_add ' 'unwatched/arithmetic vec_add 2 1000'
expect 2 "unknown ratio 'watched'" 'watched fma_loop 1 0.2'
expect 2 "unknown kernel 'fma'" 'watched/unwatched fma 1 0.2'
expect 2 'ratios.txt:3: expected RATIO KERNEL COMMITTED TOLERANCE' 'watched/unwatched fma_loop 1'
expect 2 'has no ratios' '# none'
! "$gate" "$work/none.txt" 2>"$work/message" || exit 1
grep -q "cannot read '$work/none.txt'" "$work/message"
! "$gate" "$work/ratios.txt" many 2>"$work/message" || exit 1
