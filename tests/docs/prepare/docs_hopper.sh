#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The kernel without its waits.
set -euo pipefail
sed '/wgmma.wait_group/d' tests/programs/hopper/attention.ptx >early.ptx
