# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Functions for scripts that work in a fresh Debian 12 in a folder: test_packages.sh and bare_system.sh. They require root.
#
#   new_work_folder              # sets work; it is removed at exit
#   make_root "$work/root"       # sets root
#   inside apt-get update

script=${0##*/}
script=${script%.sh}

fail() {
  printf '%s: %s\n' "$script" "$*" >&2
  exit 1
}
say() { printf '==> [%3d s] %s\n' "$SECONDS" "$*"; }

mounted=()
# Nothing outside can be removed, even if a file system is still mounted.
remove() {
  local folder
  for folder in "${mounted[@]}"; do umount "$folder" || true; done
  mounted=()
  rm -rf --one-file-system "$1"
}

new_work_folder() {
  [[ $EUID -eq 0 ]] || fail "this requires root: it makes a Debian system in a folder"
  work=$(mktemp -d)
  trap 'remove "$work"' EXIT
}

# The mirror is that of this machine, if it has one for Debian 12.
mirror() { apt-cache policy 2>/dev/null | sed -nE 's/^ *[0-9]+ (https?:[^ ]*) bookworm\/main .*/\1/p' | sed -n 1p; }

# debian FOLDER: a fresh Debian 12.
debian() {
  command -v debootstrap >/dev/null || fail "debootstrap is not installed"
  # shellcheck disable=SC2046 # without a mirror, debootstrap has its own
  debootstrap --variant=minbase bookworm "$1" $(mirror) >"$work/log" 2>&1 ||
    fail "debootstrap failed: $(tail -n 20 "$work/log")"
}

# make_root FOLDER [ROOT]: a fresh Debian 12, or a copy of ROOT, which programs inside can use.
make_root() {
  root=$1
  if [[ -n ${2:-} ]]; then cp -a "$2" "$root"; else debian "$root"; fi
  cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
  # npm trusts whom it trusts outside, too.
  if [[ -e ${NODE_EXTRA_CA_CERTS:-} ]]; then cp "$NODE_EXTRA_CA_CERTS" "$root/etc/outside.crt"; fi
  if mount -t proc proc "$root/proc" 2>/dev/null; then
    mounted+=("$root/proc")
  else
    say "/proc cannot be mounted here: warplens exec is not tested"
  fi
  # Open MPI looks for the processors there, and programs for terminals.
  if mount -t sysfs -o ro sysfs "$root/sys" 2>/dev/null; then mounted+=("$root/sys"); fi
  if mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts" 2>/dev/null; then
    mounted+=("$root/dev/pts")
    ln -sf pts/ptmx "$root/dev/ptmx"
  fi
}

has_proc() { [[ -e $root/proc/self ]]; }

inside() {
  chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 \
    ${NODE_EXTRA_CA_CERTS:+NODE_EXTRA_CA_CERTS=/etc/outside.crt} "$@"
}

quiet() { inside "$@" >"$work/log" 2>&1 || fail "$* failed: $(tail -n 30 "$work/log")"; }

# expect PATTERN COMMAND…: the command succeeds inside, and its output contains a match.
expect() {
  local pattern=$1 output
  shift
  output=$(inside "$@" 2>&1) || fail "$* failed: $output"
  grep -qE -- "$pattern" <<<"$output" || fail "$*: expected '$pattern', found: $output"
}
