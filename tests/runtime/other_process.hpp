// SPDX-License-Identifier: Apache-2.0
// Another process with memory and an event for this one: the program `shares`, which obeys lines.
//
//   OtherProcess other;   other.memory<CUipcMemHandle>();   other.ask("word 3") == "103";
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace warplens::runtime {

template <class Handle> std::string hex_of(const Handle& handle) {
  static_assert(sizeof handle == 64);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&handle);
  std::string text;
  char two[3];
  for (std::size_t i = 0; i < sizeof handle; ++i) {
    std::snprintf(two, sizeof two, "%02x", bytes[i]);
    text += two;
  }
  return text;
}

template <class Handle> Handle handle_of(const std::string& text) {
  static_assert(sizeof(Handle) == 64);
  Handle handle{};
  auto* const bytes = reinterpret_cast<unsigned char*>(&handle);
  for (std::size_t i = 0; i < sizeof handle && 2 * i + 1 < text.size(); ++i)
    bytes[i] = static_cast<unsigned char>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
  return handle;
}

class OtherProcess {
public:
  OtherProcess() {
    int to[2], from[2];
    if (pipe(to) != 0 || pipe(from) != 0) std::abort();
    process_ = fork();
    if (process_ == 0) {
      dup2(to[0], STDIN_FILENO), dup2(from[1], STDOUT_FILENO);
      for (const int file : {to[0], to[1], from[0], from[1]}) close(file);
      execl(WARPLENS_SHARES, "shares", nullptr);
      _exit(127);
    }
    close(to[0]), close(from[1]);
    to_ = fdopen(to[1], "w"), from_ = fdopen(from[0], "r");
    memory_ = line();
    event_ = line();
  }
  ~OtherProcess() {
    end(SIGKILL);
    std::fclose(to_), std::fclose(from_);
  }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;

  template <class Handle> [[nodiscard]] Handle memory() const { return handle_of<Handle>(memory_); }
  template <class Handle> [[nodiscard]] Handle event() const { return handle_of<Handle>(event_); }
  std::string ask(const std::string& what) {
    std::fprintf(to_, "%s\n", what.c_str());
    std::fflush(to_);
    return line();
  }
  void end(int signal) {
    if (process_ == 0) return;
    kill(process_, signal);
    waitpid(process_, nullptr, 0);
    process_ = 0;
  }

private:
  std::string line() {
    char text[512];
    if (std::fgets(text, sizeof text, from_) == nullptr) return "the other process has ended";
    std::string got = text;
    got.pop_back();
    return got;
  }
  pid_t process_ = 0;
  FILE *to_ = nullptr, *from_ = nullptr;
  std::string memory_, event_;
};

} // namespace warplens::runtime
