# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev check: what a maintainer runs before a release. dev sources this file; its functions are used here.

# Ordered by time: a mistake that is found in seconds is not reported after hours.
readonly check_parts=(format shell docs performance valgrind coverage fuzz_coverage tsan asan tidy)
readonly skipped=77 # exit status, as in CTest: the tool is missing or of another version

# The least share of lines, in per cent, that the test programs together cover, by folder. Other folders need the whole
# emulator, which takes hours to compile and run without optimisation.
readonly coverage_programs=(
  base_test table_test ir_parse_test block_dependence_test joined_accesses_test link_test registers_test model_tests
)
readonly coverage_floors=("emulator/base 97" "emulator/isa 92" "emulator/ir 90" "model 97")

# What a fuzz target is for: the files whose paths begin so, and the least share of their lines that it reaches.
readonly fuzz_floors=(
  "ptx_check emulator/ir/ 54"
  "ptx_run emulator/exec/ 22"
  "launch_file api/plan/ 66"
  "device_file model/device 64"
  "rule_file rules/ 50"
  "npy api/files/npy 88"
  "trace api/trace/trace 43"
  "accelsim api/trace/accelsim 53"
  "report_json api/sweep/json_compare 76"
  "profile_csv api/files/csv 70"
  "sweep_rows api/sweep/sweep_ 42"
  "fat_binary runtime/fatbin/ 82"
  "names api/session/kernel_name 95"
  "overrides api/plan/launch_override 97"
  "arguments tools/run_arguments 93"
  "c_api api/c/ 51"
  "driver_api runtime/driver/ 36"
)

# check [PART [ARG…]]: runs all parts, or one with arguments; reports each in a line, and all in a table.
check() {
  local parts=("${check_parts[@]}") part status=0 code start verdict table=""
  if [[ $# -gt 0 ]]; then
    [[ " ${check_parts[*]} " == *" $1 "* ]] || fail "unknown check: $1 (expected one of: ${check_parts[*]})"
    parts=("$1")
    shift
  fi
  for part in "${parts[@]}"; do
    start=$SECONDS
    # Not in a condition: there, bash ignores set -e.
    set +e
    (set -e; "check_$part" "$@")
    code=$?
    set -e
    case $code in
      0) verdict=passed ;;
      "$skipped") verdict=SKIPPED ;;
      *) verdict=FAILED ;;
    esac
    [[ $code -eq 0 || $status -ne 0 ]] || status=$code
    verdict=$(printf '%-12s %-8s %6d s' "$part" "$verdict" $((SECONDS - start)))
    say "$verdict"
    table+="  $verdict"$'\n'
  done
  printf '\n%s' "$table"
  return "$status"
}

# The output of these tools depends on their version.
require_version() {
  local tool=$1 version=$2
  [[ $("$tool" --version) =~ version:?\ $version ]] && return
  say "skipped: this check requires $tool $version"
  exit "$skipped"
}

check_format() {
  ensure clang-format
  require_version clang-format 14
  sources cpp hpp h | xargs -0 clang-format --dry-run --Werror
}

# Completions of zsh and fish are not for shellcheck; tests/install runs them.
check_shell() {
  ensure shellcheck
  require_version shellcheck 0.9
  scripts | xargs -d '\n' shellcheck
}

# scripts: the paths of our shell scripts, recognised by their first line or suffix.
scripts() {
  find . \( -path './build*' -o -path ./.git \) -prune -o -type f -size -128k -print0 |
    xargs -0 awk 'FNR == 1 && (/^#!.*[\/ ](ba|da)?sh *$/ || FILENAME ~ /\.(ba)?sh$/) { print FILENAME } { nextfile }' |
    sort
}

# In the tests of each build, commands that take long are stopped; here they run to their end.
check_docs() {
  build release warplens docs_commands_test launches
  WARPLENS_WHOLE_COMMANDS=1 build/tests/docs_commands_test
}

check_performance() {
  build release bench_gate bench_matrices
  build/bin/bench_gate "$@" && build/bin/bench_matrices --at-most 1.7 mma.s
}

# One test is left out: it requires a speed that code without optimisation does not have.
check_coverage() {
  ensure gcovr
  configure coverage
  compile coverage "${coverage_programs[@]}"
  find build-coverage -name '*.gcda' -delete
  GTEST_FILTER=-Hostile.FilesAreReadAndChecked run_programs build-coverage "${coverage_programs[@]}"
  local line folder floor failed=0
  for line in "${coverage_floors[@]}"; do
    read -r folder floor <<<"$line"
    covered "$folder/" "$floor" "${folder//\//_}" || failed=1
  done
  return "$failed"
}

# covered PREFIX FLOOR NAME: the share of the lines of files whose paths begin so that have run; by file, in NAME.txt.
covered() {
  say "$1: at least $2 %"
  gcovr --root . --filter "$1" --object-directory build-coverage --fail-under-line "$2" --print-summary \
    --output "build-coverage/$3.txt" build-coverage
}

run_target() {
  local program=fuzz_targets
  [[ $1 != driver_api ]] || program=fuzz_driver_targets
  build-coverage/tests/"$program" "$@"
}

# check_fuzz_coverage [SECONDS]: the committed inputs of each target, and changed ones.
check_fuzz_coverage() {
  ensure gcovr
  configure coverage
  compile coverage fuzz_targets fuzz_driver_targets
  local line target prefix floor failed=0
  for line in "${fuzz_floors[@]}"; do
    read -r target prefix floor <<<"$line"
    find build-coverage -name '*.gcda' -delete
    run_target "$target" --seconds "${1:-20}" --seed 1 "tests/data/fuzz/$target"
    covered "$prefix" "$floor" "fuzz_$target" || failed=1
  done
  return "$failed"
}

# run_programs FOLDER PROGRAM…: shows the output of a test program only if it fails.
run_programs() {
  local folder=$1 program
  shift
  for program in "$@"; do
    "$folder/tests/$program" --gtest_brief=1 >"$folder/$program.log" 2>&1 || {
      cat "$folder/$program.log"
      return 1
    }
  done
}

# check_valgrind [RUNS]: reads of uninitialised memory, which neither sanitizer finds, in the fuzz targets with changed
# inputs. Valgrind has no AVX-512: the code of x86-64-v3 runs.
check_valgrind() {
  ensure valgrind
  build release fuzz_targets
  local target
  while read -r target; do
    valgrind --quiet --error-exitcode=1 --leak-check=no build/tests/fuzz_targets "$target" --runs "${1:-300}" --seed 1 \
      "tests/data/fuzz/$target"
  done < <(sed -n 's/^TARGET(\(.*\))$/\1/p' tests/fuzz/targets.def)
}

check_asan() { sanitized asan "$@"; }
check_tsan() { sanitized tsan "$@"; }

# sanitized PRESET [PROGRAM…]: the tests of all programs, or of some.
sanitized() {
  local preset=$1
  shift
  # exec loads its libraries into a program before the runtime of the sanitizer.
  export ASAN_OPTIONS="verify_asan_link_order=0"
  export TSAN_OPTIONS="suppressions=$PWD/tests/tsan.suppressions"
  export LSAN_OPTIONS="suppressions=$PWD/tests/lsan.suppressions:print_suppressions=0"
  configure "$preset"
  compile "$preset" "$@"
  if [[ $# -gt 0 ]]; then
    run_programs "build-$preset" "$@"
  else
    ctest --preset "$preset" --parallel "$(nproc)"
  fi
}

# clang 14 cannot compile these: it needs hours for the constants of the table, which g++ computes with
# -fconstexpr-ops-limit, and rejects a header of ANTLR (a const member without an initial value).
readonly not_tidy=(
  emulator/isa/table.cpp emulator/ir/parse.cpp emulator/ir/parse_bundled.cpp emulator/ir/parse_runtime.cpp
  emulator/ir/parse_syntax.cpp emulator/ir/parse_tokens.cpp
)

# check_tidy [PATH…]: the files whose path begins with one of these. clang-tidy reads generated headers, and requires
# Python itself.
check_tidy() {
  ensure clang-tidy
  require_version clang-tidy 14
  configure release -B build-lint -DWARPLENS_LEVELS=v3 -DWARPLENS_UNITY=OFF -DWARPLENS_WERROR=OFF
  cmake --build build-lint --target emulator/ir/grammar/PtxParser.h
  say "clang-tidy"
  sources cpp | tr '\0' '\n' | grep -vxF "${not_tidy[@]/#/-e}" | beginning_with "$@" |
    xargs python3 tests/check/tidy.py build-lint
}

# beginning_with [PREFIX…]: the lines of standard input that begin with one of these; without any, all lines.
beginning_with() {
  local line prefix
  while read -r line; do
    for prefix in "${@:-}"; do
      if [[ $line == "$prefix"* ]]; then
        echo "$line"
        break
      fi
    done
  done
}
