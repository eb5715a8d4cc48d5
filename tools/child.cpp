// SPDX-License-Identifier: Apache-2.0
#include "tools/child.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <sstream>

namespace warplens::tools {

namespace {

std::string read_all(int file) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t count = read(file, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

} // namespace

std::vector<std::string> path_folders() {
  const char* const path = std::getenv("PATH");
  std::istringstream text(path != nullptr ? path : "/usr/bin:/bin");
  std::vector<std::string> folders;
  for (std::string folder; std::getline(text, folder, ':');) folders.push_back(folder);
  return folders;
}

std::optional<std::filesystem::path> find_executable(const std::string& name, const std::vector<std::string>& folders) {
  for (const std::string& folder : folders)
    if (const std::filesystem::path file = std::filesystem::path(folder) / name;
        access(file.c_str(), X_OK) == 0 && !std::filesystem::is_directory(file))
      return file;
  return std::nullopt;
}

ChildResult run_in_child(const std::function<int()>& function) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    _exit(function());
  }
  close(ends[1]);
  ChildResult result;
  if (child > 0) result.output = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (child > 0 && WIFEXITED(status)) result.status = WEXITSTATUS(status);
  return result;
}

ChildResult run_child(const std::vector<std::string>& command) {
  return run_in_child([&] {
    std::vector<char*> words;
    words.reserve(command.size() + 1);
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execv(words[0], words.data());
    return 127;
  });
}

} // namespace warplens::tools
