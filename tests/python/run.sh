#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh PYTHON FILE: runs a file of tests with pytest; 77 means that numpy or pytest is missing.
set -euo pipefail
"$1" -c 'import numpy, pytest' 2>/dev/null || exit 77
export PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0
exec "$1" -W error::pytest.PytestUnhandledThreadExceptionWarning -m pytest -q -p no:cacheprovider --rootdir="$(dirname "$2")" "$2"
