// SPDX-License-Identifier: Apache-2.0
// Before main(): a rank that only waits for rank 0 waits here. The initialisers of the program and of its libraries,
// which take longer than this, do not run in it.
#include "tools/ranks/meeting.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace {

using namespace warplens::tools;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

/// The variables, which getenv() does not know yet.
const char* variable(char** environment, const char* name) {
  const std::size_t size = std::strlen(name);
  for (; *environment != nullptr; ++environment)
    if (std::strncmp(*environment, name, size) == 0 && (*environment)[size] == '=') return *environment + size + 1;
  return nullptr;
}

unsigned number(const char* text) {
  return text == nullptr ? 0 : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

void wait_early(int count, char** arguments, char** environment) {
  const unsigned rank = number(variable(environment, "OMPI_COMM_WORLD_RANK"));
  if (rank == 0 || count < 2) return;
  // Those that join_ranks().
  if (std::strcmp(arguments[1], "run") != 0 && std::strcmp(arguments[1], "analyze") != 0) return;
  const unsigned ranks = number(variable(environment, "OMPI_COMM_WORLD_SIZE"));
  const char* const job = variable(environment, "PMIX_NAMESPACE");
  const char* const server = variable(environment, "PMIX_SERVER_URI2");
  const char* const by = variable(environment, "WARPLENS_RANKS_BY");
  if (job == nullptr || server == nullptr || number(variable(environment, "OMPI_COMM_WORLD_LOCAL_SIZE")) != ranks)
    return;
  if (by != nullptr && std::strcmp(by, "mpi") == 0) return;
  const int socket = meet_first(rank, MeetingName(job, server));
  if (socket < 0) return; // main() tries again, and says why
  if (!first_wants_us(socket)) _exit(0);
  early_meeting = socket;
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const kBeforeAll)(int, char**, char**) = wait_early;

#endif

} // namespace
