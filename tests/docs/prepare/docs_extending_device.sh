#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The device of the page.
set -euo pipefail
cp "$WARPLENS_EXAMPLES/devices/gtx260.toml" .
