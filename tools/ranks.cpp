// SPDX-License-Identifier: Apache-2.0
#include "tools/ranks.hpp"

#include "api/report/terminal.hpp"
#include "tools/library_folder.hpp"
#include "tools/output.hpp"
#include "tools/ranks/connection.hpp"
#include "tools/ranks/local.hpp"

#include <fmt/format.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <optional>

namespace warplens::tools {

namespace {

using namespace std::chrono_literals;

Connection* connection = nullptr;
LocalConnection* local = nullptr; ///< the same, if all ranks are on this machine
int usual_stderr = -1;            ///< of other ranks than 0

/// The first of these variables that is there: OpenMPI's, or that of MPICH, Intel MPI and Slurm.
std::optional<unsigned> number_in_environment(std::initializer_list<const char*> names) {
  for (const char* const name : names)
    if (const char* const value = std::getenv(name)) return static_cast<unsigned>(std::strtoul(value, nullptr, 10));
  return std::nullopt;
}

/// 0: there is no launcher.
unsigned ranks_in_environment() { return number_in_environment({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}).value_or(0); }

void be_silent() {
  const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC), kept = memfd_create("stderr", MFD_CLOEXEC);
  usual_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (nothing >= 0) dup2(nothing, STDOUT_FILENO);
  if (kept >= 0 && usual_stderr >= 0) dup2(kept, STDERR_FILENO);
}

/// What a silent rank would have written to stderr.
void tell_kept() {
  std::string text(static_cast<std::size_t>(std::max<off_t>(lseek(STDERR_FILENO, 0, SEEK_CUR), 0)), '\0');
  const ssize_t size = pread(STDERR_FILENO, text.data(), text.size(), 0);
  text = fmt::format("warplens: rank {} of {} fails:\n{}", connection->rank(), connection->count(),
                     text.substr(0, static_cast<std::size_t>(std::max<ssize_t>(size, 0))));
  [[maybe_unused]] const ssize_t written = ::write(usual_stderr, text.data(), text.size());
}

/// Where the ranks meet, if all of them are on this machine. Only OpenMPI tells this. As in ranks/early.cpp.
std::optional<MeetingName> local_job(const RankPlace& place) {
  const char* const job = std::getenv("PMIX_NAMESPACE");
  const char* const server = std::getenv("PMIX_SERVER_URI2");
  const char* const path = std::getenv("WARPLENS_RANKS_BY");
  if (job == nullptr || server == nullptr || place.here != place.count) return std::nullopt;
  if (path != nullptr && std::string_view(path) == "mpi") return std::nullopt;
  return MeetingName(job, server);
}

} // namespace

RankPlace rank_place() {
  RankPlace place;
  if (ranks_in_environment() != 0) api::without_terminal(); // the launcher's pseudo-terminal of rank 0 is none
  place.count = std::max(ranks_in_environment(), 1u);
  place.rank = number_in_environment({"OMPI_COMM_WORLD_RANK", "PMI_RANK"}).value_or(0);
  place.here = std::max(number_in_environment({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}).value_or(1), 1u);
  return place;
}

exec::Ranks* join_ranks() {
  const unsigned ranks = ranks_in_environment();
  if (ranks != 0) api::without_terminal();
  if (ranks < 2) return nullptr;
  const RankPlace place = rank_place();
  if (const std::optional<MeetingName> job = local_job(place)) {
    connection = local = new LocalConnection(place.rank, place.count, *job);
    if (!connection->is_first()) be_silent();
    return connection;
  }
  for (const std::filesystem::path& folder : library_folders()) {
    const std::filesystem::path file = folder / "libwarplens_mpi.so";
    if (!std::filesystem::exists(file)) continue;
    // The parts of OpenMPI look for its library among the global ones.
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) throw UsageError{fmt::format("cannot load {}: {}", file.string(), dlerror()), ""};
    connection = reinterpret_cast<decltype(&warplens_ranks)>(dlsym(library, "warplens_ranks"))();
    if (!connection->is_first()) be_silent();
    return connection;
  }
  throw UsageError{"an MPI launcher has started several processes, but this Warplens has no MPI",
                   "install MPI and build with -DWARPLENS_MPI=ON, or start one process"};
}

void share_process() {
  if (local != nullptr) local->fork_ranks(be_silent);
}

void end_rank() {
  if (local == nullptr || !local->is_forked()) return;
  const int status = leave_ranks(0);
  _exit(status);
}

// Where all ranks fail alike, such as for a wrong option, rank 0 tells it.
int leave_ranks(int status) {
  if (connection == nullptr) return status;
  std::fflush(nullptr);
  if (std::getenv("WARPLENS_RANKS_TRAFFIC") != nullptr && connection->is_first())
    std::fputs(
        fmt::format("warplens: {} messages, {} bytes\n", connection->traffic().messages, connection->traffic().bytes)
            .c_str(),
        stderr);
  const bool failed = status == kBadInput || status == kInternal;
  if (connection->leave(failed ? std::optional(2000ms) : std::nullopt)) return connection->is_first() ? status : kFine;
  if (!connection->is_first()) tell_kept();
  connection->abort(status);
  return status;
}

void tell_alone(std::string_view what, std::string_view why) {
  std::fputs(fmt::format("warplens: one rank runs {}: {}\n", what, why).c_str(), stderr);
}

} // namespace warplens::tools
