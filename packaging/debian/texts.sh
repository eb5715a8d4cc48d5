#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes a package's copyright and changelog.Debian.gz from LICENSE, frontend/licences.txt and CHANGELOG.md:
# texts.sh SOURCE FOLDER VERSION-REVISION MAINTAINER
set -eu
[ $# -eq 4 ] || { echo "usage: texts.sh SOURCE FOLDER VERSION-REVISION MAINTAINER" >&2; exit 2; }
source=$1
folder=$2
version=$3
maintainer=$4
mkdir -p "$folder"

# "## 0.2.0 (2026-11-23)" begins a version; its "* …" lines are its changes.
changes() {
  awk -v wanted="${version%-*}" '
    /^## / { inside = $2 == wanted; if (inside) date = substr($3, 2, 10) }
    inside && /^\* / { text = text "  " $0 "\n" }
    inside && /^  [^ ]/ { text = text "  " $0 "\n" }
    END { if (date == "" || text == "") exit 1; print date; printf "%s", text }' "$source/CHANGELOG.md"
}
found=$(changes) || { echo "texts.sh: CHANGELOG.md has no entry '## ${version%-*} (DATE)' with changes" >&2; exit 1; }
date=$(LC_ALL=C date -u -R -d "$(printf '%s\n' "$found" | head -n 1)")

head -n 20 "$source/LICENSE" | grep -q 'Apache License' || { echo "texts.sh: LICENSE is not Apache's" >&2; exit 1; }
cat >"$folder/copyright" <<TEXT
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: warplens
Upstream-Contact: $maintainer
Comment: The page of HTML reports, which the programs contain, contains parts of
 other programs:
 .
$(sed 's/^$/./; s/^/ /' "$source/frontend/licences.txt")

Files: *
Copyright: $(date -u -d "$date" +%Y) Warplens developers
License: Apache-2.0
 Licensed under the Apache License, Version 2.0. On Debian systems, the text of the
 license is in /usr/share/common-licenses/Apache-2.0.
TEXT

{
  printf 'warplens (%s) unstable; urgency=medium\n\n' "$version"
  printf '%s\n' "$found" | tail -n +2 | sed 's/`//g; s/\[\([^]]*\)\]([^)]*)/\1/g' | fold -s -w 74 |
    sed 's/ *$//; /^  /!s/^/    /'
  printf '\n -- %s  %s\n' "$maintainer" "$date"
} | gzip -9n >"$folder/changelog.Debian.gz"
