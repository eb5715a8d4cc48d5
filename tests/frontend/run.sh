#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh PROGRAM LAUNCHES STREAMS FOLDER TEST…: tests the HTML reports of `warplens` PROGRAM in Chromium. Playwright is
# installed into FOLDER as package-lock.json says. Exit status 77: skipped, because Chromium is missing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export WARPLENS_PROGRAM=$1 WARPLENS_LAUNCHES=$2 WARPLENS_STREAMS=$3 WARPLENS_FOLDER=$4
shift 4

for name in chromium chromium-browser google-chrome; do
  [[ -n ${CHROMIUM:-} ]] || CHROMIUM=$(command -v "$name") || true
done
if [[ -z ${CHROMIUM:-} ]]; then
  echo "skipped: Chromium is not installed (Debian's package chromium)"
  exit 77
fi
export CHROMIUM

mkdir -p "$WARPLENS_FOLDER"
if ! cmp -s "$here/package-lock.json" "$WARPLENS_FOLDER/package-lock.json" || [[ ! -d $WARPLENS_FOLDER/node_modules ]]; then
  cp "$here/package.json" "$WARPLENS_FOLDER"
  (cd "$WARPLENS_FOLDER" && cp "$here/package-lock.json" . && npm ci --ignore-scripts --no-audit --no-fund)
fi
cd "$here"
exec node --test "$@"
