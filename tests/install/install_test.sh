#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests an installation: install_test.sh STEP. CTest runs the step `install` first; CMakeLists.txt sets the variables.
set -euo pipefail
: "${WARPLENS_BUILD:?}" "${WARPLENS_SOURCE:?}" "${WARPLENS_TEST_FOLDER:?}" "${WARPLENS_VERSION:?}"
: "${WARPLENS_CMAKE:=cmake}"
readonly moved=$WARPLENS_TEST_FOLDER/moved/prefix
readonly bin=${WARPLENS_BINDIR:-bin} lib=${WARPLENS_LIBDIR:-lib}

fail() {
  printf 'install_test: %s\n' "$*" >&2
  exit 1
}

# expect PATTERN COMMAND…: the command succeeds, and its output contains a match.
expect() {
  local pattern=$1 output
  shift
  output=$("$@" 2>&1) || fail "$* failed: $output"
  grep -qE -- "$pattern" <<<"$output" || fail "$*: expected '$pattern', found: $output"
}

# refuse PATTERN COMMAND…: the command fails, and its output contains a match.
refuse() {
  local pattern=$1 output
  shift
  output=$("$@" 2>&1) && fail "$* succeeded: $output"
  output=$(tr -s '\n ' '  ' <<<"$output") # CMake wraps its messages
  grep -qE -- "$pattern" <<<"$output" || fail "$*: expected '$pattern', found: $output"
}

# The prefix is installed in one place and moved to another.
step_install() {
  rm -rf "$WARPLENS_TEST_FOLDER"
  mkdir -p "$(dirname "$moved")"
  "$WARPLENS_CMAKE" --install "$WARPLENS_BUILD" --prefix "$WARPLENS_TEST_FOLDER/first" >/dev/null
  mv "$WARPLENS_TEST_FOLDER/first" "$moved"
}

step_files() {
  local file data
  cd "$moved"
  for file in "$bin/warplens" "$lib/libwarplens.so.$WARPLENS_VERSION" include/warplens.h "$lib/pkgconfig/warplens.pc" \
    "$lib"/cmake/Warplens/Warplens{Config,ConfigVersion,Targets}.cmake \
    "$lib"/warplens/cuda/{libcuda.so.1,libcudart.so.{11.0,12,13},libwarplens_{hdf5,static,trace}.so,bin/nvcc} \
    share/warplens/samples/vector_add/launch.toml \
    share/warplens/devices/h200.toml \
    share/doc/warplens/{README.md,LICENSE,LICENSES-OF-HTML-REPORTS.txt} \
    share/doc/warplens/docs/install.md share/bash-completion/completions/warplens share/zsh/site-functions/_warplens \
    share/fish/vendor_completions.d/warplens.fish; do
    [[ -f $file ]] || fail "$file is not installed"
  done
  [[ $(readlink "$lib/libwarplens.so") == libwarplens.so.0 ]] || fail "libwarplens.so is no link to libwarplens.so.0"
  [[ $(readlink "$lib/libwarplens.so.0") == "libwarplens.so.$WARPLENS_VERSION" ]] || fail "libwarplens.so.0 is no link"
  for data in rules devices submit; do
    [[ -n $(ls "share/warplens/$data") ]] || fail "share/warplens/$data is empty"
  done
  file=$(find . -name '*.py' -not -path '*/warplens/*' -o -name __pycache__ -o -name '*.npy.tmp')
  [[ -z $file ]] || fail "installed, but of no use to users: $file"
  no_paths
}

# Text files and run paths name neither the source tree nor the first prefix; the debug information may.
no_paths() {
  local found file
  found=$(grep -rlI -e "$WARPLENS_SOURCE/" -e "$WARPLENS_TEST_FOLDER" "$moved" || true)
  [[ -z $found ]] || fail "these name the folder of the build: $found"
  for file in "$moved/$bin/warplens" "$moved/$lib"/libwarplens.so "$moved/$lib"/warplens/cuda/*.so*; do
    found=$(readelf -d "$file" | sed -nE 's/.*R(UN)?PATH.*\[(.*)\]/\2/p')
    [[ -z $found || $found == '$ORIGIN' ]] || fail "$file looks for libraries in $found"
  done
}

step_library() {
  local library=$moved/$lib/libwarplens.so symbols
  expect 'SONAME.*\[libwarplens\.so\.0\]' readelf -d "$library"
  symbols=$(nm -D --defined-only "$library" | awk '$2 == "T" { print $3 }')
  [[ -n $symbols ]] || fail "libwarplens.so exports nothing"
  ! grep -v '@@WARPLENS_0$' <<<"$symbols" || fail "these symbols have no version"
  # The list of the Debian package is that of the library.
  diff <(sed -n 's/^ \([a-z].*\)@WARPLENS_0 .*/\1/p' "$WARPLENS_SOURCE/packaging/debian/symbols" | sort) \
    <(cut -d @ -f 1 <<<"$symbols" | sort) || fail "packaging/debian/symbols differs from the library"
}

# configure NAME ARG…: configures the client in a build folder of its own, without the environment of this build.
configure() {
  local folder=$WARPLENS_TEST_FOLDER/$1
  shift
  env -u CMAKE_PREFIX_PATH "$WARPLENS_CMAKE" -S "$WARPLENS_SOURCE/tests/install/client" -B "$folder" \
    -DCMAKE_PREFIX_PATH="$moved" -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF "$@"
}

clients_work() {
  local folder=$1
  shift
  expect "^C, warplens $WARPLENS_VERSION: 126, [0-9]+ instructions" "$@" "$folder/client_c"
  expect "^C\+\+, warplens $WARPLENS_VERSION: 1 warp, A100" "$@" "$folder/client_cpp"
}

step_cmake() {
  expect "runtime in $moved/$lib/warplens/cuda, program $moved/$bin/warplens" configure cmake
  "$WARPLENS_CMAKE" --build "$WARPLENS_TEST_FOLDER/cmake" >/dev/null
  clients_work "$WARPLENS_TEST_FOLDER/cmake" env # the run path that CMake adds finds the library
  expect "driver of an? .*T4" env WARPLENS_DEVICE=t4 "$WARPLENS_TEST_FOLDER/cmake/client_driver"
}

step_cmake_refusals() {
  refuse 'compatible with requested version "0\.1"' configure refused1 -DWANTED=0.1
  refuse 'compatible with requested version "0\.9"' configure refused2 -DWANTED=0.9
  refuse 'there is no component fortran; the components are library and runtime' \
    configure refused3 '-DPARTS=library;fortran'
  rm -rf "$WARPLENS_TEST_FOLDER/partial"
  cp -r "$moved" "$WARPLENS_TEST_FOLDER/partial"
  rm "$WARPLENS_TEST_FOLDER/partial/$lib/warplens/cuda/libcudart.so.12"
  refuse 'runtime needs .*libcudart\.so\.12: install the package warplens' \
    configure refused4 -DCMAKE_PREFIX_PATH="$WARPLENS_TEST_FOLDER/partial"
  expect 'Configuring done' configure accepted -DCMAKE_PREFIX_PATH="$WARPLENS_TEST_FOLDER/partial" -DPARTS=library
}

step_pkgconfig() {
  local folder=$WARPLENS_TEST_FOLDER/pkgconfig flags=() client=$WARPLENS_SOURCE/tests/install/client
  command -v pkg-config >/dev/null || { echo "skipped: no pkg-config"; exit 77; }
  export PKG_CONFIG_PATH=$moved/$lib/pkgconfig
  expect "^${WARPLENS_VERSION//./\\.}$" pkg-config --modversion warplens
  mkdir -p "$folder"
  read -ra flags < <(pkg-config --cflags --libs warplens)
  cc -std=c11 -Wall -Wextra -Werror -o "$folder/client_c" "$client/client.c" "${flags[@]}"
  c++ -std=c++17 -Wall -Wextra -Werror -o "$folder/client_cpp" "$client/client.cpp" "${flags[@]}"
  clients_work "$folder" env LD_LIBRARY_PATH="$moved/$lib"
}

step_sample() {
  cd "$WARPLENS_TEST_FOLDER"
  expect "^warplens $WARPLENS_VERSION$" "$moved/$bin/warplens" --version
  expect 'c: as expected' "$moved/$bin/warplens" run "$moved/share/warplens/samples/vector_add"
  sed 's/^name = "1.2"/name = "mine"/' "$moved/share/warplens/rules/coalescing_1.2.toml" >mine.toml
  expect '^mine \(transactions\)' "$moved/$bin/warplens" list rules --explain mine.toml
  expect 'Tesla C1060' "$moved/$bin/warplens" run "$moved/share/warplens/samples/saxpy" \
    --device "$moved/share/warplens/devices/c1060.toml"
}

# `exec` finds the libraries of the moved prefix, whatever run path the program has.
step_exec() {
  local program=$WARPLENS_BUILD/tests/launches folder=$moved/$lib/warplens/cuda
  [[ -x $program ]] || { echo "skipped: $program is not built"; exit 77; }
  expect 'scale' "$moved/$bin/warplens" exec --analyze -- "$program" 1
  expect "calling init: $folder/libcuda.so.1" env LD_DEBUG=libs "$moved/$bin/warplens" exec -- "$program" 1
  expect "calling init: $folder/libwarplens_static.so" env LD_DEBUG=libs "$moved/$bin/warplens" exec -- "$program" 1
  mkdir -p "$WARPLENS_TEST_FOLDER/alone/$bin"
  cp "$moved/$bin/warplens" "$WARPLENS_TEST_FOLDER/alone/$bin"
  refuse 'libcuda\.so\.1 is neither in .*/alone/lib/cuda nor in .*/alone/.*warplens/cuda.*install Warplens again' \
    "$WARPLENS_TEST_FOLDER/alone/$bin/warplens" exec -- "$program" 1
}

source "$WARPLENS_SOURCE/tests/install/help_steps.sh"

[[ $# -eq 1 && $(type -t "step_$1") == function ]] || fail "usage: install_test.sh STEP"
"step_$1"
