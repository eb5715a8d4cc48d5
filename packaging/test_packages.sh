#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages in a fresh Debian 12, uses them, removes them, and checks that no file remains:
# test_packages.sh FOLDER [ROOT]. FOLDER has the packages. ROOT is a Debian 12 made by debootstrap, which is copied;
# without it, debootstrap makes one. Requires root.
set -euo pipefail
source_tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly source_tree
source "$source_tree/packaging/bare_root.sh"

[[ $# -eq 1 || $# -eq 2 ]] || fail "usage: test_packages.sh FOLDER [ROOT]"
packages=$(cd "$1" && pwd) || fail "no such folder: $1"
files=$(find "$packages" -maxdepth 1 -name 'warplens_*.deb' -o -name 'libwarplens0_*.deb' -o -name 'libwarplens-dev_*.deb' \
  -o -name 'python3-warplens_*.deb' -o -name 'warplens-compiler_*.deb')
[[ $(wc -w <<<"$files") -eq 5 ]] ||
  fail "$packages does not have one of each package: run ./dev package"
new_work_folder

# Files of packages: all but what apt, dpkg and the dynamic linker change with each installation.
files() {
  (cd "$root" && find usr etc opt srv var/lib \( -path var/lib/apt -o -path var/lib/dpkg \) -prune -o -print |
    grep -vxE 'etc/ld.so.cache|etc/resolv.conf' | sort)
}

# Each package has the synopsis of its own description.
own_synopsis() {
  local name synopsis
  for name in warplens warplens-compiler libwarplens0 libwarplens-dev python3-warplens; do
    synopsis=$(dpkg-deb --field "$packages/${name}"_*.deb Description | sed -n 1p)
    [[ $synopsis == "$(head -n 1 "$source_tree/packaging/debian/$name.description")" ]] ||
      fail "$name has the synopsis of another package: $synopsis"
  done
}

# The second stage of the Dockerfile: its commands, in a folder /packages that has what it copies.
as_in_the_dockerfile() {
  local line
  mkdir "$root/packages"
  cp "$packages"/warplens_*.deb "$root/packages"
  sed -n '/^FROM .*-slim/,$s/^RUN //p' "$source_tree/packaging/Dockerfile" >"$work/lines"
  while read -r line; do quiet sh -ec "$line"; done <"$work/lines"
  [[ ! -e $root/packages ]] || fail "the Dockerfile left /packages"
  quiet apt-get purge -y warplens
}

use_program() {
  local triplet
  triplet=$(inside gcc -print-multiarch)
  expect "^/usr/lib/$triplet/libwarplens\.so\.0$" dpkg -L libwarplens0
  expect "^/usr/lib/$triplet/warplens/cuda/libcuda\.so\.1$" dpkg -L warplens
  expect "^warplens [0-9.]+$" warplens --version
  expect 'c: as expected' warplens run /usr/share/warplens/samples/vector_add
  expect 'Tesla C1060' warplens run /usr/share/warplens/samples/saxpy --device /usr/share/warplens/devices/c1060.toml
  expect '^vector_add.*bytes of code' sh -c \
    'warplens run --compile always --explain-compiled /usr/share/warplens/samples/vector_add 2>&1'
  expect '</html>' sh -c 'warplens run /usr/share/warplens/samples/saxpy --html /tmp/a.html && cat /tmp/a.html && rm /tmp/a.html'
}

use_python() {
  expect '^\[1. 3. 5. 7.\] GeForce' python3 -c 'import numpy, warplens
y = numpy.ones(4, numpy.float32)
module = warplens.load("/usr/share/warplens/samples/saxpy/saxpy.ptx")
report = module.saxpy[1, 32](4, 2.0, numpy.arange(4, dtype=numpy.float32), y, device="8800gtx")
print(y, warplens.device(report.device).name)'
  expect '^warplens [0-9.]+$' python3 -m warplens --version
}

# The client builds with what its packages bring, and runs with the library alone.
use_library() {
  local client=$source_tree/tests/install/client
  cp -r "$client" "$root/tmp/client"
  quiet sh -ec 'cd /tmp/client && cc -o client_c client.c $(pkg-config --cflags --libs warplens)'
  expect '^C, warplens [0-9.]+: 126' /tmp/client/client_c
  quiet cmake -S /tmp/client -B /tmp/client/build
  quiet cmake --build /tmp/client/build
  expect '^C\+\+, warplens [0-9.]+: 1 warp' /tmp/client/build/client_cpp
  ! has_proc || expect 'driver of an? .*T4' warplens exec --device t4 -- /tmp/client/build/client_driver
}

own_synopsis
say "a fresh Debian 12"
make_root "$work/root" "${2:-}"
quiet apt-get update
say "the commands of the Dockerfile"
as_in_the_dockerfile
say "compilers for the client"
quiet apt-get update
quiet apt-get install -y --no-install-recommends gcc g++ make cmake pkg-config
quiet apt-get autoremove -y --purge
files >"$work/before"
say "apt-get install of the packages"
mkdir "$root/debs"
cp "$packages"/*.deb "$root/debs"
quiet sh -c "apt-get install -y --no-install-recommends /debs/*.deb"
say "the program and the library"
use_program
use_library
use_python
quiet dpkg --verify warplens warplens-compiler libwarplens0 libwarplens-dev python3-warplens
say "libwarplens-dev without libwarplens0 is refused"
! inside dpkg --remove libwarplens0 >"$work/log" 2>&1 || fail "libwarplens0 can be removed alone"
say "removal"
quiet apt-get purge -y --autoremove warplens warplens-compiler libwarplens0 libwarplens-dev python3-warplens
files >"$work/after"
left=$(comm -13 "$work/before" "$work/after")
# What other packages of Debian leave behind is not ours.
left=$(grep -i warplens <<<"$left" || true)
[[ -z $left ]] || fail "left behind: $left"
say "passed"
