// SPDX-License-Identifier: Apache-2.0
// How the ranks of one machine meet: rank 0 listens at a Unix socket, whose name only the processes of its job know.
// The others wait there until rank 0 ends, or wants them to take part.
//
//   const MeetingName name(job, server);
//   const int socket = meet_first(rank, name);       // -1: see errno
//   if (!first_wants_us(socket)) _exit(0);
//
// early.cpp uses this before the C++ library is ready: so this uses only the C library, and no environment.
#pragma once

#include <sys/un.h>

#include <sched.h>
#include <sys/socket.h>

namespace warplens::tools {

/// What a rank tells rank 0 when it comes.
struct Hello {
  unsigned rank = 0;
  cpu_set_t processors;
};

/// An abstract name: it ends with the socket.
class MeetingName {
public:
  /// Of the launcher's job, as OpenMPI names it in PMIX_NAMESPACE and PMIX_SERVER_URI2.
  MeetingName(const char* job, const char* server);
  [[nodiscard]] const sockaddr* address() const { return reinterpret_cast<const sockaddr*>(&address_); }
  [[nodiscard]] socklen_t size() const { return size_; }

private:
  sockaddr_un address_{};
  socklen_t size_ = 0;
};

/// In seconds, for all ranks to come.
constexpr int kPatience = 60;

/// A connection to rank 0 of the same user. -1: an error, in errno; EPERM: another user's.
int meet_first(unsigned rank, const MeetingName& name);
bool is_ours(int socket);
/// Rank 0: wakes a rank.
bool want(int socket);
/// Waits. False: rank 0 has ended, or needs no other rank.
bool first_wants_us(int socket);

/// The connection of a process that has met rank 0 before main(), and has been woken; or -1.
extern int early_meeting;

} // namespace warplens::tools
