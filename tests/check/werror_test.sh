#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Warnings are errors in CI and for developers, but not in the release that users build: werror_test.sh CMAKE SOURCE
set -euo pipefail
cmake=$1 source=$2
unset CI
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# expect ON|OFF CMAKE_ARG…: a build folder that is configured with these has this value of WARPLENS_WERROR.
expect() {
  local wanted=$1
  shift
  rm -rf "$work/build"
  (cd "$source" && "$cmake" "$@" -B "$work/build" -DWARPLENS_TESTS=OFF -DWARPLENS_BENCHMARKS=OFF) >"$work/log" 2>&1 || {
    cat "$work/log"
    exit 1
  }
  grep -qx "WARPLENS_WERROR:BOOL=$wanted" "$work/build/CMakeCache.txt" && return
  echo "werror_test: cmake $*: expected $wanted, found $(grep WARPLENS_WERROR "$work/build/CMakeCache.txt")" >&2
  exit 1
}

expect OFF --preset release
expect ON --preset developer
CI=true expect ON --preset release
