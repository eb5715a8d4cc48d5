// SPDX-License-Identifier: Apache-2.0
// The ranks of an MPI launcher. Only this library needs MPI.
#include "tools/ranks/connection.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <thread>

namespace warplens::tools {

namespace {

using namespace std::chrono_literals;

/// MPI counts in ints.
constexpr std::size_t kPiece = std::size_t{1} << 30;

class MpiConnection final : public Connection {
public:
  MpiConnection() {
    int given = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
    MPI_Comm here = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &here_);
    MPI_Comm_free(&here);
  }
  [[nodiscard]] unsigned rank() const override { return static_cast<unsigned>(rank_); }
  [[nodiscard]] unsigned count() const override { return static_cast<unsigned>(count_); }
  [[nodiscard]] unsigned count_here() const override { return static_cast<unsigned>(here_); }

  std::vector<exec::Bytes> to_first(exec::Bytes own) override {
    std::vector<exec::Bytes> all;
    if (rank_ != 0) {
      std::uint64_t size = own.size();
      transfer<true>(&size, sizeof size, 0);
      transfer<true>(own.data(), size, 0);
      return all;
    }
    all.push_back(std::move(own));
    for (int from = 1; from < count_; ++from) {
      std::uint64_t size = 0;
      transfer<false>(&size, sizeof size, from);
      transfer<false>(all.emplace_back(size).data(), size, from);
    }
    return all;
  }

  exec::Bytes from_first(exec::Bytes of_first) override {
    std::uint64_t size = of_first.size();
    broadcast(&size, sizeof size);
    of_first.resize(size);
    broadcast(of_first.data(), size);
    return of_first;
  }

  bool leave(std::optional<std::chrono::milliseconds> patience) override {
    MPI_Request all = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &all);
    if (!wait(all, patience)) return false;
    MPI_Finalize();
    return true;
  }
  void abort(int status) override { MPI_Abort(MPI_COMM_WORLD, status); }
  [[nodiscard]] Traffic traffic() const override { return traffic_; }

private:
  /// MPI's own waits take all the time of a processor that another rank could use.
  static bool wait(MPI_Request& request, std::optional<std::chrono::milliseconds> patience = {}) {
    const auto begin = std::chrono::steady_clock::now();
    auto pause = 20us;
    while (true) {
      int done = 0;
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (done != 0) return true;
      if (patience && std::chrono::steady_clock::now() - begin > *patience) return false;
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, std::chrono::microseconds(2ms));
    }
  }

  template <bool sends> void transfer(void* data, std::size_t size, int other) {
    for (std::size_t at = 0; at < size; at += kPiece) {
      void* const piece = static_cast<std::byte*>(data) + at;
      const int bytes = static_cast<int>(std::min(kPiece, size - at));
      MPI_Request request = MPI_REQUEST_NULL;
      if constexpr (sends)
        MPI_Isend(piece, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, &request);
      else
        MPI_Irecv(piece, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, &request);
      wait(request);
      count(bytes);
    }
  }

  void broadcast(void* data, std::size_t size) {
    for (std::size_t at = 0; at < size; at += kPiece) {
      const int bytes = static_cast<int>(std::min(kPiece, size - at));
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Ibcast(static_cast<std::byte*>(data) + at, bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
      wait(request);
      count(bytes);
    }
  }

  void count(int bytes) {
    ++traffic_.messages;
    traffic_.bytes += static_cast<std::uint64_t>(bytes);
  }

  int rank_ = 0, count_ = 1, here_ = 1;
  Traffic traffic_;
};

} // namespace

} // namespace warplens::tools

extern "C" [[gnu::visibility("default")]] warplens::tools::Connection* warplens_ranks() {
  return new warplens::tools::MpiConnection;
}
