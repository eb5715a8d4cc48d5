#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The commands of a workflow for continuous integration run, in a repository like that of a user: they fail if, and only
# if, a program has an error that the tool finds, and they write what the workflow uploads.
#   ci_test.sh WORKFLOW      with WARPLENS, the program; PLAY, the player of tests/data/faults; FAULTS, that folder
set -euo pipefail

workflow=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "ci_test.sh: $*" >&2
  exit 1
}

# The shell commands: what follows "run:" in a workflow of GitHub, and the entries of "script:" in one of GitLab.
commands() {
  awk '
    { match($0, /^ */); indent = RLENGTH }
    inside && (indent > base || $0 ~ /^ *$/) { print; next }
    { inside = 0 }
    /^ *(run:|-) \|$/ { inside = 1; base = indent; next }
    script && indent > script_indent && /^ *- / { sub(/^ *- /, ""); print; next }
    script && indent <= script_indent { script = 0 }
    /^ *script:$/ { script = 1; script_indent = indent; next }
    /^ *run: [^|]/ { sub(/^ *run: /, ""); print }' "$1"
}
commands "$workflow" >"$work/script"
grep -q '^ *warplens exec --tool' "$work/script" || fail "no command was read: $(cat "$work/script")"
grep -q '^make build/tests' "$work/script" || fail "the tests are not built: $(cat "$work/script")"

# repository VARIANT: a Makefile that builds one test, with the fault or without it.
repository() {
  rm -rf "$work/repository" && mkdir "$work/repository" && cd "$work/repository"
  cat >sums.sh <<TEXT
#!/bin/sh
exec "$PLAY" libcuda.so.1 "$FAULTS/races.$1.ptx" 'alloc a 256' 'launch shared_no_barrier 1 64 a' free-rest
TEXT
  printf 'build/tests: sums.sh\n\tmkdir -p build/tests\n\tcp sums.sh build/tests/sums\n\tchmod +x build/tests/sums\n' >Makefile
}
mkdir "$work/bin" && ln -s "$WARPLENS" "$work/bin/warplens"
run() {
  TOOL=$1 PATH=$work/bin:$PATH bash -e "$work/script" >"$work/log" 2>&1
}

repository fixed
for tool in memcheck racecheck synccheck; do
  run "$tool" || fail "$tool fails without an error: $(cat "$work/log")"
  [[ -s reports/sums-$tool.sarif && -s reports/sums-$tool.xml ]] || fail "$tool wrote no reports: $(ls reports)"
  ! grep -q '"ruleId"' "reports/sums-$tool.sarif" || fail "$tool reports something: $(cat "reports/sums-$tool.sarif")"
done

repository faulty
run memcheck || fail "memcheck fails because of a race: $(cat "$work/log")"
! run racecheck || fail "a race does not fail the workflow: $(cat "$work/log")"
grep -q '"ruleId": *"\(raw\|war\)"' reports/sums-racecheck.sarif || fail "$(cat reports/sums-racecheck.sarif)"
grep -q '<failure' reports/sums-racecheck.xml || fail "$(cat reports/sums-racecheck.xml)"
