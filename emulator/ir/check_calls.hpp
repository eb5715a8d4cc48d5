// SPDX-License-Identifier: Apache-2.0
// Checks a call against the function or table that it names (manual, 9.7.12.5 and 5.1.6.4 to 5.1.6.5).
#pragma once

#include "emulator/ir/callees.hpp"

#include <functional>

namespace warplens::ir {

/// Receives each error: the operand (null: the whole instruction), the message, and a hint.
using Complaint = std::function<void(const Operand*, std::string, std::string)>;

/// The reason why a valid call cannot run, for example because its function is not defined. Errors go to `complain`.
std::optional<Diagnostic> check_call(const Module& module, const FunctionIndex& index, const Function& caller,
                                     const Instruction& call, const Complaint& complain);

/// Checks uses of the .param variables of a function: results are only written, parameters only read, and variables
/// that are passed to a call have no address. `variable` is an operand that names one.
void check_param_variable(const Module& module, const Function& function, const Instruction& instruction,
                          const Operand& variable, const Complaint& complain);

} // namespace warplens::ir
