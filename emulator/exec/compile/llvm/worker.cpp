// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/compile/llvm/worker.hpp"

#include "emulator/exec/compile/llvm/messages.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

namespace warplens::exec::compile {

namespace {

// Starts a program with a socket as its standard input and nothing else of this process: no environment, no files, no
// signals. Returns an error number.
int spawn(const std::string& program, std::string argument, int socket) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, socket, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  char* const arguments[] = {const_cast<char*>(program.c_str()), argument.data(), nullptr};
  char* const environment[] = {nullptr};
  pid_t child = 0;
  const int error = posix_spawn(&child, program.c_str(), &files, &attributes, arguments, environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  // It ends at once, when its own child serves. The program may have waited for it already.
  if (error == 0)
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  return error;
}

} // namespace

Worker& Worker::instance() {
  static Worker& worker = *new Worker(60);
  return worker;
}

bool Worker::start(const std::string& program, std::string& problem) {
  if (owner_ != getpid()) close_socket();
  if (socket_ >= 0) return true;
  int ends[2];
  int error = 0;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    error = errno;
  } else {
    error = spawn(program, std::to_string(seconds_), ends[1]);
    close(ends[1]);
    if (error != 0) close(ends[0]);
  }
  if (error != 0) {
    problem = fmt::format("cannot start {}: {}", program, std::strerror(error));
    return false;
  }
  owner_ = getpid();
  socket_ = ends[0];
  return true;
}

void Worker::close_socket() {
  const std::lock_guard lock(closing_);
  if (const int socket = socket_.exchange(-1); socket >= 0) close(socket);
}

std::optional<std::string> Worker::code_of(const std::string& program, std::string_view level, std::string_view bitcode,
                                           std::string& problem) {
  if (stopped_ || !start(program, problem)) return std::nullopt;
  const char* const dump = std::getenv("WARPLENS_DUMP_LLVM");
  std::string code;
  if (send_string(socket_, level) && send_string(socket_, dump == nullptr ? "" : dump) &&
      send_string(socket_, bitcode) && receive_string(socket_, code) && receive_string(socket_, problem))
    return code;
  close_socket();
  if (stopped_) return std::nullopt;
  problem = fmt::format("LLVM crashed, or needed more than {} seconds of processor time or 8 GiB of memory", seconds_);
  return "";
}

void Worker::stop() {
  stopped_ = true;
  const std::lock_guard lock(closing_); // its number might be that of another file by now
  if (const int socket = socket_; socket >= 0 && owner_ == getpid()) shutdown(socket, SHUT_RDWR);
}

} // namespace warplens::exec::compile
