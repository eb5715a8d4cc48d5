#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a folder with the arm64 libraries of Debian that Warplens is built with: aarch64_sysroot.sh FOLDER.
# cmake/aarch64.cmake uses it. The packages are downloaded and unpacked, not installed, so that this system stays as
# it is and root is not required. The packages come from the sources of apt on this system.
set -euo pipefail

readonly packages=(
  libc6-dev libstdc++-12-dev libantlr4-runtime-dev libtbb-dev libboost-program-options-dev libtomlplusplus-dev
  nlohmann-json3-dev libfmt-dev libexpected-dev liblz4-dev libzstd-dev libhdf5-dev libisal-dev libgtest-dev
  libbenchmark-dev
)

fail() {
  printf 'aarch64_sysroot: %s\n' "$*" >&2
  exit 1
}

[[ $# -eq 1 ]] || fail "usage: aarch64_sysroot.sh FOLDER"
command -v apt-get >/dev/null || fail "requires apt-get"
[[ ! -e $1 ]] || fail "$1 exists"
root=$(realpath -m "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Package lists, an empty list of installed packages, and the downloads, apart from the system's.
mkdir -p "$work"/{state/lists/partial,cache/archives/partial}
: >"$work/status"
apt() {
  apt-get -q -y -o Dir::State="$work/state" -o Dir::State::status="$work/status" -o Dir::Cache="$work/cache" \
    -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Install-Recommends=false \
    -o APT::Sandbox::User="$(id -un)" -o Debug::NoLocking=true "$@" >"$work/log" 2>&1 ||
    fail "apt-get $1 failed: $(tail -n 20 "$work/log")"
}
apt update
apt install --download-only "${packages[@]}"

# In Debian, /lib is a link to /usr/lib; packages have files in both.
mkdir -p "$work/root/usr/lib"
ln -s usr/lib "$work/root/lib"
for package in "$work"/cache/archives/*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -x -f - --keep-directory-symlink --no-same-owner -C "$work/root"
done

# Absolute links would lead out of the folder.
find "$work/root" -type l -lname '/*' -print0 | while IFS= read -r -d '' link; do
  target=$(readlink "$link")
  ln -sfn --relative "$work/root$target" "$link"
done
mkdir -p "$(dirname "$root")"
chmod 755 "$work/root"
mv "$work/root" "$root"
printf 'aarch64_sysroot: %s has %s packages\n' "$root" "$(find "$work/cache/archives" -name '*.deb' | wc -l)"
