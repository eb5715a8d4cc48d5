// SPDX-License-Identifier: Apache-2.0
// warplens sweep --submit: a script that runs the shards of a sweep, from a template.
//
//   submit_sweep(line, "rows.jsonl")      writes rows.jsonl.slurm.sh and runs: sbatch rows.jsonl.slurm.sh
#pragma once

#include "tools/command_line.hpp"

namespace warplens::tools {

/// `line`: the command, with --submit. Returns kFine, or kFound if the script could not be started. UsageError: there
/// is no such template, or the script cannot be written.
int submit_sweep(const CommandLine& line, const std::string& results);

} // namespace warplens::tools
