// SPDX-License-Identifier: Apache-2.0
#include "tools/ranks/local.hpp"

#include <fmt/format.h>

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

namespace warplens::tools {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kPage = std::tuple_size_v<exec::ByteMask> * 64;
constexpr int kStatusOfRank = 3; ///< of a process whose peer has ended: the launcher ends the others
constexpr auto kLauncher = 3s;   ///< for the launcher to end a job whose rank has ended, and to say why

/// False: the other end is closed.
bool send_all(int socket, const void* data, std::size_t size) {
  for (const char* at = static_cast<const char*>(data); size > 0;) {
    const ssize_t sent = ::send(socket, at, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_all(int socket, void* data, std::size_t size) {
  for (char* at = static_cast<char*>(data); size > 0;) {
    const ssize_t got = recv(socket, at, size, MSG_WAITALL);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

/// False: nothing came in this time.
bool has_news(int socket, std::optional<std::chrono::milliseconds> patience) {
  pollfd one{socket, POLLIN, 0};
  const auto end = Clock::now() + patience.value_or(0ms);
  for (;;) {
    int left = -1;
    if (patience)
      left =
          static_cast<int>(std::max<long>(0, std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count()));
    const int ready = poll(&one, 1, left);
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error(fmt::format("{}: {}", what, std::system_category().message(errno)));
}

// For the handler of SIGCHLD, in rank 0.
const std::vector<pid_t>* forked_ranks = nullptr;

void tell_end(unsigned rank, std::size_t count, int status) {
  char text[96];
  const bool killed = WIFSIGNALED(status);
  const int size = std::snprintf(text, sizeof text, "warplens: rank %u of %zu has ended: %s %d\n", rank, count,
                                 killed ? "signal" : "status", killed ? WTERMSIG(status) : WEXITSTATUS(status));
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, static_cast<std::size_t>(size));
}

// A rank that fails while rank 0 runs its own blocks: it would notice only at the end of the launch.
void on_child(int) {
  const int error = errno;
  for (unsigned rank = 1; rank < forked_ranks->size(); ++rank) {
    int status = 0;
    const pid_t child = (*forked_ranks)[rank];
    if (child <= 0 || waitpid(child, &status, WNOHANG) != child || status == 0) continue;
    tell_end(rank, forked_ranks->size(), status);
    _exit(kStatusOfRank);
  }
  errno = error;
}

} // namespace

LocalConnection::LocalConnection(unsigned rank, unsigned count, const MeetingName& name)
    : rank_(rank), count_(count), sockets_(count, -1), children_(count, -1), processors_(count) {
  meet(name);
}

void LocalConnection::meet(const MeetingName& name) {
  if (rank_ == 0) {
    const int own = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (own < 0) fail("cannot create a socket");
    if (bind(own, name.address(), name.size()) != 0 || listen(own, static_cast<int>(std::min(count_, 4096u))) != 0)
      fail("cannot listen for the other ranks");
    gather(own);
    close(own);
    others_wait_ = true;
    return;
  }
  sockets_[0] = early_meeting;
  if (early_meeting >= 0) return;
  sockets_[0] = meet_first(rank_, name);
  if (sockets_[0] < 0 && errno == EPERM)
    throw std::runtime_error("cannot reach rank 0: the socket belongs to another user");
  if (sockets_[0] < 0) fail("cannot reach rank 0");
  if (!first_wants_us(sockets_[0])) _exit(0);
}

void LocalConnection::gather(int listener) {
  const auto end = Clock::now() + std::chrono::seconds(kPatience);
  for (unsigned missing = count_ - 1; missing > 0;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    if (left < 0ms || !has_news(listener, left))
      throw std::runtime_error(fmt::format("{} of {} ranks have not come", missing, count_));
    const int one = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (one < 0) continue;
    Hello hello;
    const bool fine = is_ours(one) && receive_all(one, &hello, sizeof hello) && hello.rank > 0 && hello.rank < count_ &&
                      sockets_[hello.rank] < 0;
    if (!fine) {
      close(one);
      continue;
    }
    sockets_[hello.rank] = one;
    processors_[hello.rank] = hello.processors;
    --missing;
  }
}

void LocalConnection::start() {
  if (!others_wait_) return;
  others_wait_ = false;
  if (in_rank_ != nullptr) return fork_now();
  for (unsigned rank = 1; rank < count_; ++rank)
    if (!want(sockets_[rank])) is_gone(rank);
}

void LocalConnection::fork_now() {
  // The launcher's processes get nothing from this one: they wait for its end.
  launched_ = std::exchange(sockets_, std::vector<int>(count_, -1));
  forked_ranks = &children_;
  struct sigaction action {};
  action.sa_handler = on_child;
  action.sa_flags = SA_RESTART | SA_NOCLDSTOP;
  sigaction(SIGCHLD, &action, nullptr);
  std::fflush(nullptr); // otherwise, each process would write what is buffered
  for (unsigned rank = 1; rank < count_; ++rank) {
    int ends[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail("cannot create a socket");
    const pid_t parent = getpid(), child = fork();
    if (child < 0) fail("cannot fork a rank");
    if (child == 0) {
      close(ends[0]);
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(kStatusOfRank);
      return become(rank, ends[1]);
    }
    close(ends[1]);
    sockets_[rank] = ends[0];
    children_[rank] = child;
  }
  in_rank_ = nullptr;
}

void LocalConnection::become(unsigned rank, int socket) {
  for (const auto& list : {launched_, sockets_})
    for (const int one : list)
      if (one >= 0) close(one);
  if (CPU_COUNT(&processors_[rank]) != 0) sched_setaffinity(0, sizeof processors_[rank], &processors_[rank]);
  launched_.clear();
  sockets_.assign(count_, -1);
  sockets_[0] = socket;
  rank_ = rank;
  forked_ = true;
  traffic_ = {};
  children_.assign(count_, -1);
  std::signal(SIGCHLD, SIG_DFL);
  in_rank_();
  in_rank_ = nullptr;
}

void LocalConnection::send(int socket, const exec::Bytes& bytes) {
  const Header header{Kind::data, bytes.size()};
  const bool sent = send_all(socket, &header, sizeof header) && send_all(socket, bytes.data(), bytes.size());
  if (!sent) is_gone(static_cast<unsigned>(std::find(sockets_.begin(), sockets_.end(), socket) - sockets_.begin()));
  traffic_.messages += 2;
  traffic_.bytes += sizeof header + bytes.size();
}

exec::Bytes LocalConnection::receive(unsigned from) {
  Header header;
  exec::Bytes bytes;
  // A rank that leaves where another one still works has failed: it ends itself after a while.
  do {
    if (!receive_all(sockets_[from], &header, sizeof header)) is_gone(from);
  } while (header.kind != Kind::data);
  bytes.resize(header.size);
  if (!receive_all(sockets_[from], bytes.data(), bytes.size())) is_gone(from);
  traffic_.messages += 2;
  traffic_.bytes += sizeof header + bytes.size();
  return bytes;
}

/// The launcher ends all ranks if a process of its own ends, and says which; it does not know those that were forked.
void LocalConnection::is_gone(unsigned other) const {
  if (rank_ == 0 && children_[other] > 0) {
    int status = 0;
    if (waitpid(children_[other], &status, 0) == children_[other]) tell_end(other, count_, status);
  } else {
    std::this_thread::sleep_for(kLauncher);
    if (rank_ == 0) std::fputs(fmt::format("warplens: rank {} of {} has ended\n", other, count_).c_str(), stderr);
  }
  std::fflush(nullptr);
  _exit(kStatusOfRank);
}

std::vector<exec::Bytes> LocalConnection::to_first(exec::Bytes own) {
  std::vector<exec::Bytes> all;
  start();
  if (rank_ != 0) {
    send(sockets_[0], own);
    return all;
  }
  all.push_back(std::move(own));
  for (unsigned from = 1; from < count_; ++from) all.push_back(receive(from));
  return all;
}

exec::Bytes LocalConnection::from_first(exec::Bytes of_first) {
  start();
  if (rank_ != 0) return receive(0);
  for (unsigned to = 1; to < count_; ++to) send(sockets_[to], of_first);
  return of_first;
}

// The system may forbid this, or permit it for children only.
bool LocalConnection::can_read() {
  start();
  const char* const by = std::getenv("WARPLENS_RANKS_BY");
  if (rank_ != 0 || (by != nullptr && std::string_view(by) == "sockets")) return false;
  const pid_t child = children_[1];
  std::uint64_t here = 0;
  static const std::uint64_t there = 0;
  const iovec to{&here, sizeof here}, from{const_cast<std::uint64_t*>(&there), sizeof there};
  return child > 0 && process_vm_readv(child, &to, 1, &from, 1, 0) == sizeof here;
}

bool LocalConnection::read_pages(unsigned rank, std::span<const std::uint64_t> pages, std::byte* to) {
  std::vector<iovec> ranges;
  for (const std::uint64_t page : pages) {
    void* const at = reinterpret_cast<void*>(page);
    if (!ranges.empty() && static_cast<std::byte*>(ranges.back().iov_base) + ranges.back().iov_len == at)
      ranges.back().iov_len += kPage;
    else
      ranges.push_back({at, kPage});
  }
  const std::size_t size = pages.size() * kPage;
  const iovec all{to, size};
  const ssize_t got = process_vm_readv(children_[rank], &all, 1, ranges.data(), ranges.size(), 0);
  if (got > 0) traffic_.bytes += static_cast<std::uint64_t>(got);
  return got == static_cast<ssize_t>(size);
}

bool LocalConnection::leave(std::optional<std::chrono::milliseconds> patience) {
  if (others_wait_) return true; // they end with this process
  const Header header{Kind::leave, 0};
  Header theirs;
  if (rank_ != 0) {
    if (!send_all(sockets_[0], &header, sizeof header)) return false;
    return !patience || (has_news(sockets_[0], patience) && receive_all(sockets_[0], &theirs, sizeof theirs) &&
                         theirs.kind == Kind::leave);
  }
  bool all = true;
  for (unsigned rank = 1; all && rank < count_; ++rank) {
    if (patience && !has_news(sockets_[rank], patience)) return false;
    if (!receive_all(sockets_[rank], &theirs, sizeof theirs)) is_gone(rank);
    all = theirs.kind == Kind::leave;
  }
  for (unsigned rank = 1; all && rank < count_; ++rank) send_all(sockets_[rank], &header, sizeof header);
  for (const pid_t child : children_)
    if (all && child > 0) waitpid(child, nullptr, 0);
  return all;
}

void LocalConnection::abort(int status) {
  std::fflush(nullptr);
  for (const pid_t child : children_)
    if (child > 0) kill(child, SIGKILL);
  _exit(status);
}

} // namespace warplens::tools
