#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the bundle, one file that replaces gpuocelot's library: bundle_test.sh STEP. WARPLENS_BUNDLE is the file.
set -euo pipefail
: "${WARPLENS_BUNDLE:?}" "${WARPLENS_SOURCE:?}" "${WARPLENS_TEST_FOLDER:?}"
readonly work=$WARPLENS_TEST_FOLDER/bundle
# What every program in C has. libm and the dynamic linker belong to the C library.
readonly allowed='libc\.so\.6|libm\.so\.6|ld-linux-x86-64\.so\.2'

fail() {
  printf 'bundle_test: %s\n' "$*" >&2
  exit 1
}

step_needed() {
  local needed other
  needed=$(readelf -dW "$WARPLENS_BUNDLE" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
  grep -q '^libc\.so\.6$' <<<"$needed" || fail "readelf -d was not understood: $needed"
  other=$(grep -vxE "$allowed" <<<"$needed" || true)
  [[ -z $other ]] || fail "the bundle needs $other"
  ! readelf -dW "$WARPLENS_BUNDLE" | grep -E 'RPATH|RUNPATH|TEXTREL' || fail "the bundle has paths or changes its code"
}

# Exactly the functions of libwarplens.so, each with its version; no code of the libraries inside.
step_exports() {
  local symbols
  symbols=$(nm -D --defined-only "$WARPLENS_BUNDLE" | awk '{ print $3 }' | grep -v '^WARPLENS_0@*' | sort)
  diff <(sed -n 's/^ \([a-z].*\)@WARPLENS_0 .*/\1@@WARPLENS_0/p' "$WARPLENS_SOURCE/packaging/debian/symbols" | sort) \
    <(echo "$symbols") || fail "the bundle exports other functions than libwarplens.so"
}

# A program in C that loads the file, under another library's name, in a folder that has nothing else.
step_drop_in() {
  local output other
  rm -rf "$work" && mkdir -p "$work/empty"
  cc -std=c11 -Wall -Wextra -Werror -o "$work/drop_in" "$WARPLENS_SOURCE/tests/install/client/drop_in.c" -ldl
  cp "$WARPLENS_BUNDLE" "$work/empty/libgpuocelot.so"
  cd "$work/empty"
  output=$(env -i "$work/drop_in" ./libgpuocelot.so run 2>&1) || fail "the program fails: $output"
  grep -qx '10 launches: 20470' <<<"$output" || fail "the kernel did not run: $output"
  grep -qx 'library libgpuocelot.so' <<<"$output" || fail "the libraries are not known: $output"
  other=$(sed -n 's/^library //p' <<<"$output" | sort -u | grep -vxE "$allowed|libgpuocelot\.so|libdl\.so\.2" || true)
  [[ -z $other ]] || fail "the program also loaded $other"
}

# After a failure, the program goes on, or ends if WARPLENS_PTX_RUN=abort.
step_failure() {
  local output status=0
  cd "$work/empty"
  output=$(env -i "$work/drop_in" ./libgpuocelot.so fail 2>&1) || fail "the program ended: $output"
  grep -q '^ptx_run: <ptx>:1:1: error: ' <<<"$output" || fail "there is no message: $output"
  grep -qx 'end' <<<"$output" || fail "the program did not go on: $output"
  output=$(env -i WARPLENS_PTX_RUN=abort "$work/drop_in" ./libgpuocelot.so fail 2>&1) || status=$?
  [[ $status -eq 134 ]] || fail "the exit status is $status, not that of SIGABRT: $output"
  grep -q '^ptx_run: <ptx>:1:1: error: ' <<<"$output" || fail "there is no message: $output"
  ! grep -qx 'end' <<<"$output" || fail "the program went on: $output"
}

[[ $# -eq 1 && $(type -t "step_$1") == function ]] || fail "usage: bundle_test.sh STEP"
"step_$1"
