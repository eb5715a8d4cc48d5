#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures how long a new user waits: bare_system.sh STEP… makes a fresh Debian 12 by debootstrap, copies a clean clone of
# this tree into it, runs the steps there, one after the other, and prints a table of the seconds. Requires root, and a
# network for apt. Each step builds what the steps before it have not built; but for demo, with all processor levels and
# without a cache.
#
#   demo        ./dev demo
#   test        ./dev test
#   install     ./dev build; installation to a prefix; a client that is built with the installed files and run
#   packages    the commands of the Dockerfile, ./dev package; then test_packages.sh with the packages

# Steps are functions that are called by name.
# shellcheck disable=SC2317
set -euo pipefail
source_tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly source_tree
source "$source_tree/packaging/bare_root.sh"

in_source() { inside sh -ec "cd /source && $1" </dev/null; }

step_demo() { in_source './dev demo'; }
step_test() { in_source './dev test'; }

step_install() {
  in_source './dev build'
  in_source 'cmake --install build --prefix /opt/warplens --strip >/dev/null'
  in_source 'cmake -S tests/install/client -B /tmp/client -G Ninja -DCMAKE_PREFIX_PATH=/opt/warplens -DPARTS=library'
  in_source 'cmake --build /tmp/client'
  inside /tmp/client/client_c
  inside /tmp/client/client_cpp
  inside /opt/warplens/bin/warplens run /opt/warplens/share/warplens/samples/vector_add
}

# The first stage of the Dockerfile; test_packages.sh runs the second one.
step_packages() {
  local line
  while read -r line; do in_source "$line"; done < <(
    sed -n '/^FROM .*-slim/q; s/^RUN //p' "$source_tree/packaging/Dockerfile")
  cp -r "$root/source/build/packages" "$work/packages"
  "$source_tree/packaging/test_packages.sh" "$work/packages" "$work/debian"
}

# timed: puts the seconds since the step began before each line that reports progress.
timed() {
  local line
  while IFS= read -r line; do
    [[ $line != '==> '* ]] || line="[$((SECONDS - began)) s] ${line#==> }"
    printf '%s\n' "$line"
  done
}

# run STEP: appends a line to the table.
run() {
  local began=$SECONDS status
  say "$1"
  set +e # with `||` after it, the step would not end at its first error
  (set -e && "step_$1") 2>&1 | timed
  status=${PIPESTATUS[0]}
  set -e
  table+=("$(printf '%-10s %8d%s' "$1" $((SECONDS - began)) "$([[ $status -eq 0 ]] || echo '  failed')")")
  [[ $status -eq 0 ]] || failed=1
}

[[ $# -gt 0 ]] || fail "usage: bare_system.sh STEP… (demo, test, install, packages)"
for step in "$@"; do
  [[ $(type -t "step_$step") == function ]] || fail "there is no step $step: demo, test, install, packages"
done
command -v git >/dev/null || fail "git is not installed"
[[ -z $(git -C "$source_tree" status --porcelain) ]] || say "uncommitted changes are not in the clone"
new_work_folder
table=()
failed=0
say "a fresh Debian 12"
debian "$work/debian"
make_root "$work/root" "$work/debian" # a copy, since test_packages.sh needs a fresh one
git clone --quiet --no-hardlinks "$source_tree" "$root/source"
for step in "$@"; do run "$step"; done
printf '\n%-10s %8s\n' step seconds
printf '%s\n' "${table[@]}"
exit "$failed"
