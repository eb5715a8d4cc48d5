// SPDX-License-Identifier: Apache-2.0
#include "api/report/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace warplens::api {

namespace {
bool terminals = true;
}

void without_terminal() { terminals = false; }

bool is_terminal(int file_descriptor) { return terminals && isatty(file_descriptor) == 1; }

Style style_for(int file_descriptor) {
  const char* const no_color = std::getenv("NO_COLOR");
  if (!is_terminal(file_descriptor) || (no_color != nullptr && *no_color != '\0')) return {};
  return kColours;
}

TextOptions text_options_for(int file_descriptor) {
  TextOptions options;
  options.hints = true;
  if (!is_terminal(file_descriptor)) return options;
  options.graphics = true;
  constexpr std::size_t kNarrow = 40, kWide = 200;
  winsize size{};
  if (ioctl(file_descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col != 0)
    options.columns = std::clamp<std::size_t>(size.ws_col, kNarrow, kWide);
  return options;
}

} // namespace warplens::api
