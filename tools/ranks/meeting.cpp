// SPDX-License-Identifier: Apache-2.0
#include "tools/ranks/meeting.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <ctime>

namespace warplens::tools {

int early_meeting = -1;

MeetingName::MeetingName(const char* job, const char* server) {
  address_.sun_family = AF_UNIX;
  constexpr std::size_t kRoom = sizeof address_.sun_path - 1;
  const int length = std::snprintf(address_.sun_path + 1, kRoom, "warplens %u %s %s", geteuid(), job, server);
  const std::size_t used = length < 0 ? 0 : static_cast<std::size_t>(length) < kRoom ? length : kRoom - 1;
  size_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + used);
}

bool is_ours(int socket) {
  ucred of{};
  socklen_t size = sizeof of;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &of, &size) == 0 && of.uid == geteuid();
}

int meet_first(unsigned rank, const MeetingName& name) {
  const int own = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (own < 0) return -1;
  const auto fail = [&](int error) {
    close(own);
    errno = error;
    return -1;
  };
  const std::time_t end = std::time(nullptr) + kPatience;
  constexpr long kFirst = 500'000, kLongest = 20'000'000; // nanoseconds
  for (long pause = kFirst; connect(own, name.address(), name.size()) != 0;
       pause = pause < kLongest ? 2 * pause : pause) {
    const bool later = errno == ECONNREFUSED || errno == ENOENT || errno == EINTR || errno == EAGAIN;
    if (!later || std::time(nullptr) > end) return fail(errno);
    const timespec time{0, pause};
    nanosleep(&time, nullptr);
  }
  if (!is_ours(own)) return fail(EPERM);
  Hello hello{rank, {}};
  sched_getaffinity(0, sizeof hello.processors, &hello.processors);
  if (::send(own, &hello, sizeof hello, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof hello)) return fail(errno);
  return own;
}

bool want(int socket) {
  const char word = 1;
  return ::send(socket, &word, 1, MSG_NOSIGNAL) == 1;
}

bool first_wants_us(int socket) {
  char word = 0;
  ssize_t got = 0;
  do got = recv(socket, &word, 1, 0);
  while (got < 0 && errno == EINTR);
  return got == 1;
}

} // namespace warplens::tools
