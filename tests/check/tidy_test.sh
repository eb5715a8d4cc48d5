#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests tidy.py with a stand-in for clang-tidy: tidy_test.sh
set -euo pipefail
tidy=$(realpath "$(dirname "${BASH_SOURCE[0]}")")/tidy.py
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work"/{bin,build,rules}
cd "$work"

fail() {
  printf 'tidy_test: %s\n' "$*" >&2
  exit 1
}

# Writes what it checks to `called`, finds something in wrong.cpp, and cannot compile twin.cpp after another file.
cat >bin/clang-tidy <<'TEXT'
#!/bin/sh
while [ "$1" != -- ]; do
  case $1 in --checks=-\**) only_compile=1 ;; --*) ;; *) file=$1 ;; esac
  shift
done
shift
content=$(sed 's/.*rules.\([a-z]*\).*/\1/' "$file" | tr '\n' ' ')
[ -n "$only_compile" ] || echo "$content: $*" >>called
case $content in
  ?*' twin'*) echo "$PWD/rules/twin.cpp:1:1: error: redefinition [clang-diagnostic-error]"; exit 1 ;;
  *wrong*) echo "/x/wrong.cpp:2:3: error: found [some-check]"; exit 1 ;;
esac
TEXT
chmod +x bin/clang-tidy
export PATH=$work/bin:$PATH

# compiled NAME OPTION…: an entry of compile_commands.json. The files hold their names, as an include in a batch does.
entries=()
compiled() {
  local file=$work/rules/$1.cpp
  echo "rules/$1" >"$file"
  shift
  entries+=("{\"directory\": \"$work/build\", \"file\": \"$file\", \"command\": \"c++ $* -o x.o -c $file\"}")
}
compiled one -DA
compiled two -DA
compiled other -DB
compiled one -DC
compiled wrong -DD
compiled brother -DE
compiled twin -DE
compiled sister -DE
(IFS=, && echo "[${entries[*]}]") >build/compile_commands.json

# expect STATUS CALLS FILE…
expect() {
  local wanted=$1 calls=$2 status=0 output
  shift 2
  rm -f called
  output=$(python3 "$tidy" build "${@/#/rules/}" 2>&1) || status=$?
  [[ $status -eq $wanted ]] || fail "$*: expected status $wanted, found $status: $output"
  [[ $(sort called) == "$calls" ]] || fail "$*: expected '$calls', found '$(cat called)'"
  echo "$output" >output
}

expect 0 'one two : -DA' one.cpp two.cpp
expect 0 $'one two : -DA\nother : -DB' one.cpp two.cpp other.cpp
TIDY_BATCH=1 expect 0 $'one : -DA\ntwo : -DA' one.cpp two.cpp
expect 1 'wrong : -DD' wrong.cpp
[[ $(cat output) == '/x/wrong.cpp:2:3: error: found [some-check]' ]] || fail "a finding is not shown: $(cat output)"
expect 0 $'brother sister : -DE\ntwin : -DE' brother.cpp twin.cpp sister.cpp
[[ $(cat output) == '' ]] || fail "an error of a batch is shown: $(cat output)"
expect 0 'one : -DA' one.cpp absent.cpp
grep -qx 'rules/absent.cpp: not compiled' output || fail "a file that is not compiled is not named: $(cat output)"
