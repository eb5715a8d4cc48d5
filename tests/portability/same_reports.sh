#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two builds of warplens give the same reports and results for all samples, byte for byte: same_reports.sh ONE OTHER.
# Each is the path of a program, for example that of this processor and a script that runs another's by QEMU.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../samples"

[[ $# -eq 2 && -x $1 && -x $2 ]] || {
  echo "usage: same_reports.sh PROGRAM PROGRAM" >&2
  exit 2
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# report PROGRAM LAUNCH FOLDER: the report as text and JSON, and the first elements of each buffer. Messages are apart:
# they have the time that the emulation took.
report() {
  local arguments=() buffer
  mkdir "$3"
  while read -r buffer; do arguments+=(--print "$buffer"); done < <(sed -n 's/^\[buffer\.\([^]]*\)\]$/\1/p' "$2")
  "$1" run "$2" --json "$3/json" "${arguments[@]}" >"$3/text" 2>"$3.errors" ||
    echo "exit status $?" >>"$3/text"
}

compared=0 different=0
for folder in */; do
  [[ -e $folder/launch.toml ]] || continue
  launch=${folder}launch.toml
  [[ ! -e ${folder}small.toml ]] || launch=${folder}small.toml
  report "$1" "$launch" "$work/one"
  report "$2" "$launch" "$work/other"
  [[ -s $work/one/json ]] || { echo "$launch: no report: $(cat "$work/one.errors")"; different=$((different + 1)); }
  diff -r "$work/one" "$work/other" >"$work/difference" || {
    printf '%s: %s\n' "$launch" "$(head -n 20 "$work/difference")"
    different=$((different + 1))
  }
  rm -r "$work/one" "$work/other"
  compared=$((compared + 1))
done
echo "$compared samples, $different with differences"
[[ $compared -gt 0 && $different -eq 0 ]]
