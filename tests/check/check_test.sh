#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests ./dev check with stand-ins for the tools that it calls: check_test.sh SOURCE_FOLDER
set -euo pipefail
cd "$1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"

fail() {
  printf 'check_test: %s\n' "$*" >&2
  exit 1
}

# tool NAME VERSION STATUS: a tool that records its arguments in NAME.called.
tool() {
  cat >"$work/bin/$1" <<TEXT
#!/bin/sh
if [ "\$1" = --version ]; then echo "version: $2"; exit; fi
printf '%s\n' "\$@" >>"$work/$1.called"
exit $3
TEXT
  chmod +x "$work/bin/$1"
}

# expect STATUS PATTERN ARG…: ./dev check ARG… ends with this status, and its output contains a match.
expect() {
  local wanted=$1 pattern=$2 status=0 output
  shift 2
  output=$(PATH=$work/bin:$PATH ./dev check "$@" 2>&1) || status=$?
  [[ $status -eq $wanted ]] || fail "check $*: expected status $wanted, found $status: $output"
  grep -qE -- "$pattern" <<<"$output" || fail "check $*: expected '$pattern', found: $output"
}

# All packages are installed.
cat >"$work/bin/dpkg-query" <<'TEXT'
#!/bin/sh
shift 3
printf 'installed %s\n' "$@"
TEXT
chmod +x "$work/bin/dpkg-query"

expect 1 'unknown check: fromat \(expected one of: format shell ' fromat

tool clang-format 14.0.6 0
expect 0 '^  format +passed +[0-9]+ s$' format
grep -qx -- --Werror "$work/clang-format.called" || fail "differences in format are no errors"
grep -qx emulator/ir/check.cpp "$work/clang-format.called" || fail "clang-format does not read emulator/ir/check.cpp"
tool clang-format 14.0.6 3
expect 123 '^==> format +FAILED' format
tool clang-format 19.1.0 0
expect 77 '^==> skipped: this check requires clang-format 14$' format
expect 77 '^  format +SKIPPED' format

tool shellcheck 0.9.0 0
expect 0 '^  shell +passed' shell
for script in dev .ci/run tests/install/install_test.sh tests/install/help_steps.sh packaging/man_pages.sh \
  packaging/completions/warplens.bash samples/compile tests/check/check_test.sh; do
  grep -qx "./$script" "$work/shellcheck.called" || fail "shellcheck does not read $script"
done
tool shellcheck 0.9.0 1
expect 123 '^==> shell +FAILED' shell

# clang-tidy reads the files below the paths, except those that it cannot. Warnings are errors with the compiler of CI.
# compiler VERSION: the version of c++.
compiler() {
  printf '#!/bin/sh\necho %s\n' "$1" >"$work/bin/c++"
  chmod +x "$work/bin/c++"
}
unset CXX
tool cmake 3.25.1 0
tool clang-tidy 14.0.6 0
tool python3 3.11 0
compiler 12
expect 0 '^  tidy +passed' tidy emulator/isa rules
sort "$work/python3.called" | grep -x '.*\.cpp' | uniq | diff - <(
  find emulator/isa rules -name '*.cpp' ! -path emulator/isa/table.cpp | sort
) || fail "clang-tidy reads other files"
[[ $(head -n 2 "$work/cmake.called" | tail -n 1) == developer ]] || fail "warnings are no errors with g++ 12"
rm "$work/cmake.called"
compiler 13
expect 0 '^  tidy +passed' tidy emulator/isa
[[ $(head -n 2 "$work/cmake.called" | tail -n 1) == release ]] || fail "warnings are errors with g++ 13"
tool python3 3.11 1
expect 123 '^==> tidy +FAILED' tidy emulator/isa

# Lines that no test or fuzz target covers fail the check, whichever folder they are in.
(
  source tests/check/parts.sh
  for command in ensure say configure compile run_programs run_target find; do eval "$command() { :; }"; done
  gcovr() { [[ " $* " != *" --filter emulator/ir/ "* ]]; }
  set +e
  check_coverage && fail "a folder below its floor passes"
  check_fuzz_coverage 1 && fail "a fuzz target below its floor passes"
  gcovr() { [[ " $* " == *" --fail-under-line "[2-9][0-9]" "* ]]; }
  check_coverage || fail "folders above their floors fail"
  check_fuzz_coverage 1 || fail "fuzz targets above their floors fail"
  while read -r target; do
    [[ " ${fuzz_floors[*]}" == *" $target "* ]] || fail "fuzz target $target has no floor"
  done < <(sed -n 's/^TARGET(\(.*\))$/\1/p' tests/fuzz/*.def)
)

# A part that fails does not keep the others from running, and the table shows all of them.
# shellcheck source=tests/check/parts.sh
set +e # in a condition, bash would ignore set -e inside, too
all=$(
  say() { :; }
  source tests/check/parts.sh
  for part in "${check_parts[@]}"; do eval "check_$part() { [[ $part != shell ]] || false; echo $part >>$work/ran; }"; done
  check
)
[[ $? -eq 1 ]] || fail "a part failed, but not the whole"
set -e
[[ $(grep -cE '^  [a-z_]+ +passed' <<<"$all") -eq 9 ]] || fail "not all parts are in the table: $all"
grep -qE '^  shell +FAILED' <<<"$all" || fail "the table does not show the failure: $all"
! grep -qx shell "$work/ran" || fail "a part went on after its first failure"

# Prefixes select the files of clang-tidy.
(
  source tests/check/parts.sh
  files=$'rules/a.cpp\nmodel/b.cpp\nmodel/c.cpp'
  [[ $(beginning_with <<<"$files") == "$files" ]] || fail "not all files without a prefix"
  [[ $(beginning_with rules model/c <<<"$files") == $'rules/a.cpp\nmodel/c.cpp' ]] || fail "prefixes select other files"
)

# With pipefail, a reader that ends before its writer makes the pipe fail now and then: the writer gets SIGPIPE.
early=$(grep -rL --include=*.sh '^#!/bin/sh' packaging tests | xargs grep -nE '[|] *(grep -[a-zA-Z]*q|h[e]ad)' dev || true)
[[ -z $early ]] || fail "a pipe may fail, because its reader ends early; use <<<: $early"
