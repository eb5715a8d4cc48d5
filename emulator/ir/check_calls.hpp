// Holds a call against the function, or the table, that it names (manual, 9.7.12.5 and 5.1.6.4 to 5.1.6.5).
#pragma once

#include "emulator/ir/callees.hpp"

#include <functional>

namespace warplens::ir {

/// Told of each thing that is wrong: the operand (null: the whole instruction), what, and a hint.
using Complaint = std::function<void(const Operand*, std::string, std::string)>;

/// Where the call is right but cannot be run, as when its function is defined nowhere: why.
std::optional<Diagnostic> check_call(const Module& module, const FunctionIndex& index, const Function& caller,
                                     const Instruction& call, const Complaint& complain);

/// The .param variables of a function: results are only written, parameters only read, and what is handed to a call has
/// no address. `variable` is an operand that names one.
void check_param_variable(const Module& module, const Function& function, const Instruction& instruction,
                          const Operand& variable, const Complaint& complain);

} // namespace warplens::ir
