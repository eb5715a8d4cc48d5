#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The folder of the reports.
set -euo pipefail
mkdir reports
