// SPDX-License-Identifier: Apache-2.0
// Runs the warplens program on a terminal.
//
//   Output o = run_on_a_terminal({"exec", "--", "./program"});   o.out: what the terminal received, o.err is empty
#pragma once

#include "tests/tools/program.hpp"

#include <pty.h>
#include <unistd.h>

namespace warplens::testing {

inline Output run_on_a_terminal(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "warplens");
  std::vector<char*> words;
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    execv(WARPLENS_PROGRAM, words.data());
    _exit(127);
  }
  Output o;
  char buffer[1024];
  for (ssize_t count = 0; (count = read(terminal, buffer, sizeof buffer)) > 0;)
    o.out.append(buffer, static_cast<std::size_t>(count));
  int status = 0;
  waitpid(child, &status, 0);
  close(terminal);
  o.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return o;
}

} // namespace warplens::testing
