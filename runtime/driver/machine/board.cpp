// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/machine/board.hpp"

#include "runtime/driver/machine/serve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <numeric>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace warplens::runtime {

namespace {

constexpr const char* kName = "warplens board";
constexpr std::uint64_t kMagic = 0x3163'7069'7370'6c57; // "Wlspipc1"
constexpr std::uint64_t kBytes = sizeof(SharedEntry) * Board::kEntries;
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<SharedKind>::is_always_lock_free);

std::string path_of(std::int32_t process, std::int32_t file) { return fmt::format("/proc/{}/fd/{}", process, file); }

std::string link_at(const std::string& path) {
  std::array<char, 256> target{};
  const ssize_t length = readlink(path.c_str(), target.data(), target.size());
  return {target.data(), length < 0 ? 0 : static_cast<std::size_t>(length)};
}

int make_file() {
  const int file = memfd_create(kName, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  require(file >= 0, CUDA_ERROR_OUT_OF_MEMORY);
  if (ftruncate(file, static_cast<off_t>(kBytes)) == 0 && fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) == 0)
    return file;
  close(file);
  throw Failure{CUDA_ERROR_OUT_OF_MEMORY, {}};
}

} // namespace

// A handle may name any file of any process. Only one with this name is opened: opening a device or a pipe may have
// effects. A file that can shrink would end this process with SIGBUS.
int open_file_of(std::int32_t process, std::int32_t file, const std::string& name, std::uint64_t size) {
  const std::string path = path_of(process, file);
  if (link_at(path) != fmt::format("/memfd:{} (deleted)", name)) return -1;
  const int opened = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (opened < 0) return -1;
  struct stat status {};
  const int seals = fcntl(opened, F_GET_SEALS);
  const bool fits = fstat(opened, &status) == 0 && S_ISREG(status.st_mode) &&
                    static_cast<std::uint64_t>(status.st_size) >= size && seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
  if (fits) return opened;
  close(opened);
  return -1;
}

// A process that has ended and that nobody has waited for has no program any more.
bool has_ended(std::int32_t process) {
  std::array<char, 1> text{};
  return readlink(fmt::format("/proc/{}/exe", process).c_str(), text.data(), text.size()) < 0 && errno == ENOENT;
}

Board::Board(int file, bool own) : file_(own ? file : -1) {
  void* const at = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (!own || at == MAP_FAILED) close(file);
  require(at != MAP_FAILED, CUDA_ERROR_OUT_OF_MEMORY);
  entries_ = static_cast<SharedEntry*>(at);
  if (!own) return;
  free_.resize(kEntries);
  std::iota(free_.rbegin(), free_.rend(), 0u);
}

Board::~Board() {
  munmap(entries_, kBytes);
  if (file_ >= 0) close(file_);
}

std::shared_ptr<Board> Board::own() {
  static auto& mutex = *new std::mutex;
  static auto& board = *new std::shared_ptr<Board>; // never destroyed, like the machine
  const std::lock_guard lock(mutex);
  if (!board) board = std::shared_ptr<Board>(new Board(make_file(), true));
  return board;
}

std::shared_ptr<Board> Board::of(const Ticket& ticket) {
  const int file = open_file_of(ticket.process, ticket.file, kName, kBytes);
  require(file >= 0, CUDA_ERROR_INVALID_HANDLE);
  return std::shared_ptr<Board>(new Board(file, false));
}

std::uint32_t Board::take(SharedKind kind) {
  Token token{};
  require(getrandom(token.data(), sizeof token, 0) == sizeof token, CUDA_ERROR_OUT_OF_MEMORY);
  const std::lock_guard lock(mutex_);
  require(!free_.empty(), CUDA_ERROR_OUT_OF_MEMORY,
          [] { return fmt::format("a process can share {} allocations and events with others", kEntries); });
  const std::uint32_t number = free_.back();
  free_.pop_back();
  SharedEntry& e = entries_[number];
  e.offset = e.size = e.recorded = e.reached = 0;
  e.file = e.recorder = 0;
  e.token[0] = token[0];
  e.token[1] = token[1];
  e.kind = kind; // last
  return number;
}

void Board::give_back(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  entries_[number].kind = SharedKind::none;
  entries_[number].token[0] = entries_[number].token[1] = 0;
  free_.push_back(number);
}

std::shared_ptr<Shared> Shared::make(SharedKind kind) {
  std::shared_ptr<Board> board = Board::own();
  const std::uint32_t number = board->take(kind);
  return std::make_shared<Shared>(std::move(board), number, true);
}

std::shared_ptr<Shared> Shared::open(const Ticket& ticket, SharedKind kind, CUresult malformed) {
  const bool is_ticket = ticket.magic == kMagic && ticket.process > 0 && ticket.file >= 0 &&
                         ticket.entry < Board::kEntries && ticket.kind == kind &&
                         std::all_of(std::begin(ticket.zero), std::end(ticket.zero), [](auto x) { return x == 0; });
  require(is_ticket, malformed);
  require(ticket.process != getpid(), CUDA_ERROR_INVALID_CONTEXT,
          [] { return "a process cannot open its own handle: use the pointer or the event itself"; });
  auto shared = std::make_shared<Shared>(Board::of(ticket), ticket.entry, false);
  require((*shared)->kind == kind && shared->token() == ticket.token, CUDA_ERROR_INVALID_HANDLE);
  return shared;
}

Shared::~Shared() {
  if (own_) board_->give_back(number_);
}

Ticket Shared::ticket() const { return {kMagic, getpid(), board_->file(), number_, (*this)->kind, token(), {}}; }

Token Shared::token() const { return {(*this)->token[0], (*this)->token[1]}; }

} // namespace warplens::runtime
