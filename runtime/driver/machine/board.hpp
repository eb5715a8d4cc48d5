// SPDX-License-Identifier: Apache-2.0
// What a process shares with others (cuIpc*): entries of a file without a name, which others open by /proc and map. A
// handle (CUipcMemHandle, CUipcEventHandle) names the process, the file and the entry, and has the entry's token. All
// of it is untrusted: a handle may be forged, and the process that it names may have ended.
//
//   Shared entry = Board::own().add(Kind::memory);   entry->file = …;   entry.ticket()      // this process
//   Shared entry = open_entry(ticket, Kind::memory);  entry->size                            // another one
#pragma once

#include "runtime/abi/driver.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace warplens::runtime {

enum class SharedKind : std::uint32_t { none, memory, event };

using Token = std::array<std::uint64_t, 2>; ///< random

/// In memory that all processes can write: read each field once, and check it.
struct alignas(64) SharedEntry {
  std::atomic<SharedKind> kind;
  std::atomic<std::int32_t> file; ///< of memory: the descriptor in the process that has it
  std::atomic<std::uint64_t> token[2];
  std::atomic<std::uint64_t> offset, size; ///< of memory: in the file, bytes
  // Of an event: the number of the latest record, and of the latest that was reached, and the process that recorded.
  std::atomic<std::uint64_t> recorded, reached;
  std::atomic<std::int32_t> recorder;
};

/// The contents of a handle.
struct Ticket {
  std::uint64_t magic;
  std::int32_t process, file; ///< the board's descriptor in this process
  std::uint32_t entry;
  SharedKind kind;
  Token token;
  std::uint64_t zero[3];
};
static_assert(sizeof(Ticket) == 64);

/// A file with entries, mapped.
class Board {
public:
  static constexpr std::uint32_t kEntries = 4096; ///< docs/limits.md

  /// That of this process. Throws Failure: CUDA_ERROR_OUT_OF_MEMORY.
  static std::shared_ptr<Board> own();
  /// That of another one. Throws Failure: see open_entry().
  static std::shared_ptr<Board> of(const Ticket& ticket);
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  /// A free entry with a new token. Throws Failure: CUDA_ERROR_OUT_OF_MEMORY.
  std::uint32_t take(SharedKind kind);
  void give_back(std::uint32_t entry);
  [[nodiscard]] SharedEntry& entry(std::uint32_t number) const { return entries_[number]; }
  [[nodiscard]] int file() const { return file_; } ///< of this process's; otherwise negative

private:
  Board(int file, bool own);
  int file_;
  SharedEntry* entries_;
  std::mutex mutex_;
  std::vector<std::uint32_t> free_; ///< of this process's
};

/// An entry, while this process has it: of its own board, or of another's.
class Shared {
public:
  Shared(std::shared_ptr<Board> board, std::uint32_t number, bool own)
      : board_(std::move(board)), number_(number), own_(own) {}
  /// A new one on the board of this process.
  static std::shared_ptr<Shared> make(SharedKind kind);
  /// That which a handle names. Throws Failure: CUDA_ERROR_INVALID_HANDLE if the process has ended or does not share it
  /// any more, CUDA_ERROR_INVALID_CONTEXT if it is this process, `malformed` if the bytes are no handle.
  static std::shared_ptr<Shared> open(const Ticket& ticket, SharedKind kind, CUresult malformed);
  ~Shared();
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  SharedEntry* operator->() const { return &board_->entry(number_); }
  [[nodiscard]] bool own() const { return own_; }
  [[nodiscard]] Ticket ticket() const;
  [[nodiscard]] Token token() const;

private:
  std::shared_ptr<Board> board_;
  std::uint32_t number_;
  bool own_;
};

/// Opens a file without a name of another process, which must have this name and at least this size, and must not be
/// able to shrink. Negative: there is none, or it may not be opened.
int open_file_of(std::int32_t process, std::int32_t file, const std::string& name, std::uint64_t size);
/// Whether a process has ended.
bool has_ended(std::int32_t process);

} // namespace warplens::runtime
