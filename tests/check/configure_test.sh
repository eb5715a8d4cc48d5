#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev configures a build folder only when something changed, so that ./dev test starts its tests at once:
# configure_test.sh SOURCE_FOLDER. Runs ./dev with stand-ins for cmake and dpkg-query in a tree without sources.
set -euo pipefail
source_tree=$1
[[ -e /var/lib/dpkg/status ]] || { echo "skipped: no dpkg"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{bin,tree/tests/check}
cp "$source_tree"/{dev,CMakePresets.json} "$work/tree"
cp "$source_tree/tests/check/parts.sh" "$work/tree/tests/check"
cd "$work/tree"

cat >"$work/bin/dpkg-query" <<'TEXT'
#!/bin/sh
shift 3
for package; do [ "$package" = "$ABSENT" ] || echo "installed $package"; done
TEXT
cat >"$work/bin/cmake" <<TEXT
#!/bin/sh
[ "\$1" != --build ] || exit 0
echo "\$*" >>$work/called
mkdir -p build
touch build/CMakeCache.txt build/build.ninja
TEXT
printf '#!/bin/sh\necho 12\n' >"$work/bin/c++"
printf '#!/bin/sh\nexit 1\n' >"$work/bin/apt-get"
chmod +x "$work"/bin/*
export PATH=$work/bin:$PATH
unset CXX WARPLENS_COMPILER

fail() {
  printf 'configure_test: %s\n' "$*" >&2
  exit 1
}

# expect CALLS SITUATION: ./dev build runs cmake so many times.
expect() {
  : >"$work/called"
  ./dev build >"$work/log" 2>&1 || fail "$2: $(cat "$work/log")"
  [[ $(wc -l <"$work/called") -eq $1 ]] || fail "$2: expected $1 calls of cmake, found: $(cat "$work/called")"
}

# later FILE: as if it were written after everything else, whatever the resolution of times is.
later() { touch -d '+2 seconds' "$1"; }

expect 1 "a new tree"
expect 0 "nothing changed"
later build/CMakeCache.txt
expect 1 "somebody ran cmake"
touch -d '-2 seconds' build/CMakeCache.txt
expect 0 "nothing changed since"
rm build/build.ninja
expect 1 "cmake was interrupted"
sed -i 's/"version": 6/"version": 7/' CMakePresets.json
expect 1 "other presets"
expect 0 "the same presets"
WARPLENS_COMPILER=ON expect 1 "another option"
expect 1 "without the option"
echo WARPLENS_LEVELS:STRING=native >build/CMakeCache.txt
touch -d '-2 seconds' build/CMakeCache.txt
expect 1 "after a demo"
touch -d '1990-01-01' build/dev.configured
touch -d '1980-01-01' build/CMakeCache.txt
expect 1 "packages were installed since"

# A package that is missing is found among those that are not.
ABSENT=ninja-build ./dev build >"$work/log" 2>&1 && fail "a missing package is not missed"
grep -q 'install --no-install-recommends ninja-build$' "$work/log" || fail "expected ninja-build: $(cat "$work/log")"
