#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The rule of the page.
set -euo pipefail
cp "$WARPLENS_EXAMPLES/rules/full_warp.toml" .
