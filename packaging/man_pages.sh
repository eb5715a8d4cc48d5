#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes the man pages of warplens and of each command from their --help: man_pages.sh PROGRAM FOLDER
set -eu
awk_file=$(dirname "$0")/man_page.awk
[ $# -eq 2 ] || { echo "usage: man_pages.sh PROGRAM FOLDER" >&2; exit 2; }
program=$1
folder=$2
export LC_ALL=C # the columns of --help count bytes

version=$("$program" --version)
help=$("$program" --help)
commands=$(printf '%s\n' "$help" | sed -n '/^Exit status/q; s/^  \([a-z][a-z]*\) .*   *[^ ].*/\1/p')
names=$(printf '%s\n' "$commands" | paste -sd ' ' -)
[ -n "$commands" ] || { echo "man_pages.sh: $program --help lists no commands" >&2; exit 1; }

# page NAME TITLE: the man page for the help on standard input. An empty page means that the help has another form.
page() {
  awk -v name="$1" -v title="$2" -v version="$version" -v commands="$names" -f "$awk_file" >"$folder/$1.tmp"
  mv "$folder/$1.tmp" "$folder/$1.1"
}

mkdir -p "$folder"
rm -f "$folder"/*.1
for command in $commands; do
  title=$(printf '%s\n' "$help" | sed -n "s/^  $command .*   *\([^ ].*\)/\1/p" | sed 's/.*   *//' | sed -n 1p)
  text=$("$program" "$command" --help)
  printf '%s\n' "$text" | page "warplens-$command" "$title"
done
printf '%s\n' "$help" | page warplens "emulates NVIDIA PTX kernels on a CPU and reports how a GPU would execute them"
