// SPDX-License-Identifier: Apache-2.0
// Ranks of one machine, without MPI: they meet at a Unix socket, and wait in the kernel. MPI_Init alone would take
// more processor time than many launches.
//
// Where nothing forbids it, rank 0 alone reads the input, and forks the other ranks when they first take part. They
// have its modules and buffers, whose pages the system shares until one of them is written. The processes that the
// launcher started for these ranks only wait for the end of rank 0.
//
//   LocalConnection ranks(place, name);     // on rank 0: returns when all ranks have met
//   ranks.fork_ranks();                     // on rank 0
//   ranks.from_first(…)                     // on rank 0: returns count() times, in as many processes
//
// On other ranks, the first line returns when rank 0 calls start() without having called fork_ranks() before, or not at
// all.
#pragma once

#include "tools/ranks/connection.hpp"
#include "tools/ranks/meeting.hpp"

#include <sys/types.h>

#include <sched.h>

#include <string>

namespace warplens::tools {

class LocalConnection final : public Connection {
public:
  /// Ends this process if it is another one than rank 0 and not needed. Throws std::runtime_error if not all ranks
  /// come.
  LocalConnection(unsigned rank, unsigned count, const MeetingName& name);

  [[nodiscard]] unsigned rank() const override { return rank_; }
  [[nodiscard]] unsigned count() const override { return count_; }
  [[nodiscard]] unsigned count_here() const override { return count_; }
  void start() override;
  std::vector<exec::Bytes> to_first(exec::Bytes own) override;
  exec::Bytes from_first(exec::Bytes of_first) override;
  bool can_read() override;
  bool read_pages(unsigned rank, std::span<const std::uint64_t> pages, std::byte* to) override;

  bool leave(std::optional<std::chrono::milliseconds> patience) override;
  void abort(int status) override;
  [[nodiscard]] Traffic traffic() const override { return traffic_; }

  /// From now on, rank 0 runs alone until it first calls start(), from_first() or to_first(), and then forks the
  /// others. `in_rank` is called in each forked process.
  void fork_ranks(void (*in_rank)()) { in_rank_ = in_rank; }
  /// Whether this process is not the one that the launcher started: it must not run what the program does at its end.
  [[nodiscard]] bool is_forked() const { return forked_; }

private:
  enum class Kind : std::uint64_t { data, leave };
  struct Header {
    Kind kind{};
    std::uint64_t size = 0;
  };
  void gather(int listener);
  void meet(const MeetingName& name);
  void fork_now();
  void become(unsigned rank, int socket);
  void send(int socket, const exec::Bytes& bytes);
  [[nodiscard]] exec::Bytes receive(unsigned from);
  [[noreturn]] void is_gone(unsigned other) const;

  unsigned rank_, count_;
  std::vector<int> sockets_;          ///< by rank: of rank 0, to the others; of another one, only [0]
  std::vector<int> launched_;         ///< rank 0, after fork_ranks(): to the processes of the launcher
  std::vector<pid_t> children_;       ///< by rank
  std::vector<cpu_set_t> processors_; ///< of each rank
  void (*in_rank_)() = nullptr;       ///< rank 0, until it forks
  bool others_wait_ = false;          ///< rank 0, until start()
  bool forked_ = false;
  Traffic traffic_;
};

} // namespace warplens::tools
