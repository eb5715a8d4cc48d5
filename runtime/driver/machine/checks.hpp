// SPDX-License-Identifier: Apache-2.0
// The tools of `warplens exec --tool`: what they learn from calls of the API, and the end of the process, when their
// messages are written.
//
//   if (api::Sanitizer* tools = sanitizer()) tools->allocated(…);
#pragma once

#include "api/check/sanitizer.hpp"
#include "runtime/abi/driver.hpp"

#include <memory>

namespace warplens::runtime {

struct Allocation;

/// Null: no tools. `warplens exec` has validated the options in the environment.
api::Sanitizer* sanitizer();
void start_tools();
/// Writes the messages so far, the summary, and --save. Call it when no kernel runs any more.
void finish_tools();

/// Tells the tools of memory that the program now has, …
void tell_allocated(const Allocation& allocation, const std::string& name);
/// … of one that a stream will free, and of one that is free.
void tell_dying(std::uint64_t begin);
void tell_freed(std::uint64_t begin);
/// For initcheck: the contents of an allocation are defined, or it does not exist any more.
void tell_defined(const Allocation& allocation);
/// For initcheck: an operation of a stream writes memory.
void tell_written(std::uint64_t begin, std::uint64_t bytes);

/// What is wrong with a free of an address, and with an access of the host's; null without memcheck.
std::shared_ptr<api::CheckMessage> wrong_free(std::uint64_t address);
std::shared_ptr<api::CheckMessage> wrong_access(std::uint64_t address, std::uint64_t bytes, bool writes);

/// A call failed. `found`: what is known about it, or null.
void tell_failure(const char* function, CUresult code, const std::shared_ptr<api::CheckMessage>& found);

} // namespace warplens::runtime
