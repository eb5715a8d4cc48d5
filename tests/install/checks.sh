#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks of the packages' files against the tree and the installation: checks.sh STEP. Variables as in install_test.sh.
set -euo pipefail
: "${WARPLENS_BUILD:?}" "${WARPLENS_SOURCE:?}" "${WARPLENS_TEST_FOLDER:?}" "${WARPLENS_VERSION:?}"
: "${WARPLENS_CMAKE:=cmake}"
readonly moved=$WARPLENS_TEST_FOLDER/moved/prefix bin=${WARPLENS_BINDIR:-bin} lib=${WARPLENS_LIBDIR:-lib}
readonly work=$WARPLENS_TEST_FOLDER/checks
mkdir -p "$work"

fail() {
  printf 'checks: %s\n' "$*" >&2
  exit 1
}

# The version is in project(); the files that repeat it agree.
step_version() {
  grep -q "^version: $WARPLENS_VERSION$" "$WARPLENS_SOURCE/CITATION.cff" || fail "CITATION.cff has another version"
  grep -q "^## $WARPLENS_VERSION (" "$WARPLENS_SOURCE/CHANGELOG.md" || fail "CHANGELOG.md lacks $WARPLENS_VERSION"
  grep -q "warplens-$WARPLENS_VERSION\.tar\.xz" "$WARPLENS_SOURCE/docs/install.md" ||
    fail "docs/install.md has another version"
  grep -q "^date-released: $(sed -n "s/^## $WARPLENS_VERSION (\(.*\))/\1/p" "$WARPLENS_SOURCE/CHANGELOG.md")$" \
    "$WARPLENS_SOURCE/CITATION.cff" || fail "CITATION.cff has another date than CHANGELOG.md"
}

# Packages are listed by their synopses: each has another, which is short and no sentence.
step_synopses() {
  local synopses
  synopses=$(head -q -n 1 "$WARPLENS_SOURCE"/packaging/debian/*.description)
  [[ -z $(sort <<<"$synopses" | uniq -d) ]] || fail "packages share a synopsis: $synopses"
  ! grep -E '.{80}|^[A-Z][a-z]|^(a|an|the) |\.$' <<<"$synopses" || fail "this is no synopsis"
  ! grep -q '^set(CPACK_PACKAGE_DESCRIPTION_SUMMARY' "$WARPLENS_SOURCE/packaging/packages.cmake" ||
    fail "packages.cmake sets one synopsis for all packages"
}

# The changelog and the copyright of the packages are made from ours; without an entry for the version, none is made.
step_texts() {
  local texts=$WARPLENS_SOURCE/packaging/debian/texts.sh output
  "$texts" "$WARPLENS_SOURCE" "$work/texts" "$WARPLENS_VERSION-1" "A B <a@example.org>"
  output=$(zcat "$work/texts/changelog.Debian.gz")
  grep -q "^warplens ($WARPLENS_VERSION-1) " <<<"$output" || fail "the changelog begins with $output"
  grep -q '^ -- A B <a@example.org>  [A-Z]' <<<"$output" || fail "the changelog has no signature: $output"
  ! grep -qE '.{81}|`' <<<"$output" || fail "the changelog has long lines or marks"
  grep -q '^License: Apache-2.0$' "$work/texts/copyright" || fail "copyright has no licence"
  grep -q '^ d3-array, internmap: .* ISC licence:$' "$work/texts/copyright" || fail "copyright lacks the licences of D3"
  output=$("$texts" "$WARPLENS_SOURCE" "$work/texts" 99.0-1 "A B <a@example.org>" 2>&1) && fail "99.0 has a changelog"
  grep -q "no entry '## 99.0 (DATE)'" <<<"$output" || fail "99.0: $output"
}

# abi_differs DUMP: abidiff's report, if something in DUMP was changed or removed.
abi_differs() {
  ! abidiff --no-added-syms --suppressions "$WARPLENS_SOURCE/packaging/abi.suppressions" "$1" "$work/now.abi"
}

step_abi() {
  command -v abidiff >/dev/null || { echo "skipped: no abidiff (Debian package abigail-tools)"; exit 77; }
  local dump=$WARPLENS_SOURCE/tests/data/abi/libwarplens.so.0.abi report
  abidw --exported-interfaces-only --headers-dir "$moved/include" --drop-private-types --no-elf-needed \
    --no-corpus-path --no-comp-dir-path --no-show-locs --out-file "$work/now.abi" "$moved/$lib/libwarplens.so.0"
  if report=$(abi_differs "$dump"); then fail "the ABI changed: $report"; fi
  # A removed function and a changed type are found.
  sed 's/warplens_report_printed/warplens_report_removed/g' "$dump" >"$work/removed.abi"
  report=$(abi_differs "$work/removed.abi") || fail "a removed function is not found"
  grep -q 'warplens_report_removed' <<<"$report" || fail "a removed function is not named: $report"
  sed "s/\(enumerator name='WARPLENS_TRAPPED' value=\)'1'/\1'7'/" "$dump" >"$work/changed.abi"
  ! cmp -s "$dump" "$work/changed.abi" || fail "the dump has no WARPLENS_TRAPPED"
  report=$(abi_differs "$work/changed.abi") || fail "a changed enumerator is not found"
}

# The first column of a table of docs/third-party.md, by its heading.
column() {
  awk -v heading="## $1" -v n="$2" -F' *[|] *' '
    /^## /{ inside = $0 ~ "^" heading }
    inside && /^\| / && ++row > 2 { print $n }' "$WARPLENS_SOURCE/docs/third-party.md" | tr -d '`' | sort -u
}

step_third_party() {
  local needed listed packages
  needed=$(readelf -d "$moved/$bin/warplens" "$moved/$lib/libwarplens.so" "$moved/$lib"/warplens/cuda/*.so* |
    sed -n 's/.*NEEDED.*\[\(.*\)\.so.*\]/\1/p' | grep -vx libcuda | sort -u)
  listed=$(column "Linked libraries" 2)
  [[ $(wc -w <<<"$listed") -ge 10 ]] || fail "docs/third-party.md was not read"
  if ! grep -q libhdf5 <<<"$needed"; then listed=$(grep -vE 'hdf5|isal' <<<"$listed"); fi
  needed=$(sed -E 's/-[0-9]+\.[0-9]+$//; s/(antlr4-runtime|ld-linux-x86-64).*/\1/' <<<"$needed" | sort -u)
  diff <(echo "$needed") <(echo "$listed") ||
    fail "docs/third-party.md differs from what the installed files need"
  packages=$(sed -nE '/^readonly (demo|other|compiler)_packages=\($/,/^\)/{/[()]/d;p}' "$WARPLENS_SOURCE/dev" | xargs -n 1 | sort)
  listed=$({ column "Linked libraries" 5; column "Headers" 4; } | sort -u)
  diff <(echo "$packages") <(echo "$listed") || fail "docs/third-party.md differs from the packages of ./dev"
}

# The source archive has the sources and nothing else, and one library of it builds without git.
step_source_archive() {
  local archive tree=$work/source/warplens-$WARPLENS_VERSION found
  rm -rf "$work/source" && mkdir -p "$work/source"
  (cd "$work/source" && "$WARPLENS_CPACK" --config "$WARPLENS_BUILD/CPackSourceConfig.cmake" >/dev/null)
  archive=$work/source/warplens-$WARPLENS_VERSION.tar.xz
  [[ -f $archive ]] || fail "cpack made no $archive"
  tar -C "$work/source" -xf "$archive"
  found=$(find "$tree" -name .git -o -name __pycache__ -o -path "$tree/build*" -o -name CMakeCache.txt)
  [[ -z $found ]] || fail "the archive contains $found"
  if git -C "$WARPLENS_SOURCE" rev-parse >/dev/null 2>&1; then
    found=$(cd "$WARPLENS_SOURCE" && git ls-files | while read -r file; do
      [[ ! -e $file || -e $tree/$file ]] || echo "$file"
    done)
    [[ -z $found ]] || fail "the archive lacks $(head -n 5 <<<"$found")"
  fi
  env PATH="$(path_without_git)" "$WARPLENS_CMAKE" -S "$tree" -B "$work/source/build" -DWARPLENS_TESTS=OFF \
    -DWARPLENS_BENCHMARKS=OFF -DWARPLENS_LEVELS=v3 >"$work/source/log" 2>&1 || fail "cmake: $(cat "$work/source/log")"
  "$WARPLENS_CMAKE" --build "$work/source/build" --target warplens_base >>"$work/source/log" 2>&1 ||
    fail "$(tail "$work/source/log")"
}

# PATH in which git cannot be found: a folder of links to everything else.
path_without_git() {
  local folder file links=$work/no-git
  rm -rf "$links" && mkdir "$links"
  for folder in ${PATH//:/ }; do
    for file in "$folder"/*; do
      [[ ${file##*/} == git || -e $links/${file##*/} ]] || ln -s "$file" "$links/" 2>/dev/null || true
    done
  done
  echo "$links"
}

# run_lines FILE: the shell commands of a workflow, each command list after a line "# ---".
run_lines() {
  awk '
    { match($0, /^ */); indent = RLENGTH }
    inside && (indent > base || $0 ~ /^ *$/) { print; next }
    { inside = 0 }
    /^ *(- )?run: \|$/ { inside = 1; base = indent; print "# ---"; next }
    /^ *(- )?run: [^|]/ { sub(/^ *(- )?run: /, ""); print "# ---\n" $0 }' "$1"
}

# The workflow for users runs, with the installed program, in a repository like theirs.
step_workflow() {
  local repository=$work/repository script
  rm -rf "$repository" && mkdir -p "$repository/kernels" "$repository/baseline"
  cp -r "$moved"/share/warplens/samples/{vector_add,saxpy} "$repository/kernels"
  script=$(run_lines "$WARPLENS_SOURCE/packaging/github-actions.yml")
  [[ $(grep -c '^# ---' <<<"$script") -eq $(grep -c ' run: ' "$WARPLENS_SOURCE/packaging/github-actions.yml") ]] ||
    fail "the workflow was not read: $script"
  cd "$repository"
  PATH=$moved/$bin:$PATH bash -e -c "$script" >first.txt || fail "the workflow fails: $(cat first.txt)"
  [[ -s reports/vector_add.json && -s reports/saxpy.json ]] || fail "the workflow wrote no reports"
  cp reports/saxpy.json baseline/
  PATH=$moved/$bin:$PATH bash -e -c "$script" >second.txt || fail "the workflow fails: $(cat second.txt)"
  [[ -s reports/changes.txt ]] || fail "the workflow compared nothing"
  # A kernel that does not parse fails the workflow.
  echo '.version 99' >kernels/saxpy/saxpy.ptx
  ! PATH=$moved/$bin:$PATH bash -e -c "$script" >third.txt 2>&1 || fail "the workflow accepts what does not parse"
}

# What the Dockerfile copies and runs exists. Its commands run in test_packages.sh, which has a root of its own.
step_dockerfile() {
  local file=$WARPLENS_SOURCE/packaging/Dockerfile line
  [[ $(grep -c '^FROM debian:12' "$file") -eq 2 ]] || fail "the Dockerfile has not two stages on Debian 12"
  while read -r line; do
    bash -n -c "$line" || fail "the Dockerfile has a syntax error: $line"
  done < <(sed -n 's/^RUN //p' "$file")
  line=$(sed -n 's/^RUN \.\/dev //p' "$file")
  grep -qE "^  $line " <<<"$("$WARPLENS_SOURCE/dev" help)" || fail "./dev has no command $line"
  line=$(sed -n 's/^RUN warplens/warplens/p' "$file")
  [[ $(PATH=$moved/$bin:$PATH bash -c "$line") == "warplens $WARPLENS_VERSION" ]] || fail "$line fails"
}

[[ $# -eq 1 && $(type -t "step_$1") == function ]] || fail "usage: checks.sh STEP"
"step_$1"
