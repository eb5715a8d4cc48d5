// SPDX-License-Identifier: Apache-2.0
#include "api/files/input_file.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace warplens::api {

namespace {

class Descriptor {
public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return number_; }

private:
  int number_;
};

/// Whether the name refers to a file that the process inherited, not to one in the file system.
bool is_inherited(const std::string& name) {
  return name == "/dev/stdin" || name.starts_with("/dev/fd/") || name.starts_with("/proc/self/fd/");
}

/// Why the file is refused; empty: it is accepted.
std::string_view refusal(const struct stat& info, int file, const std::string& name) {
  if (S_ISREG(info.st_mode)) return {};
  if (S_ISDIR(info.st_mode)) return "a folder, not a file";
  if (is_inherited(name) && (S_ISFIFO(info.st_mode) || isatty(file) == 1)) return {};
  if (S_ISFIFO(info.st_mode)) return "a named pipe, not a file";
  return "a device, not a file";
}

/// The next bytes; waits for them if a pipe has none yet. Negative: an error, see errno.
ssize_t read_some(int file, char* to, std::size_t size) {
  for (;;) {
    const ssize_t got = ::read(file, to, size);
    if (got >= 0 || (errno != EINTR && errno != EAGAIN)) return got;
    pollfd end{file, POLLIN, 0};
    if (errno == EAGAIN && poll(&end, 1, -1) < 0 && errno != EINTR) return -1;
  }
}

} // namespace

Expected<std::string> read_file(const std::filesystem::path& file, const Limit& limit) {
  const std::string name = file.string();
  const auto refused = [&](std::string_view why) { return failure(fmt::format("cannot read '{}': {}", name, why)); };
  // Opening a pipe would wait for a writer.
  const Descriptor in(open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat info {};
  if (in.get() < 0 || fstat(in.get(), &info) != 0) return refused(std::strerror(errno));
  if (const std::string_view why = refusal(info, in.get(), name); !why.empty()) return refused(why);
  const auto too_large = [&](std::uint64_t bytes) {
    return failure(limit.exceeded(fmt::format("'{}'", name), bytes), limit.hint());
  };
  const auto announced = static_cast<std::uint64_t>(std::max<off_t>(info.st_size, 0));
  if (!limit.admits(announced)) return too_large(announced);
  std::string text(announced + 1, '\0'); // one more, to detect the end at once
  std::size_t size = 0;
  for (;;) {
    const ssize_t got = read_some(in.get(), text.data() + size, text.size() - size);
    if (got < 0) return refused(std::strerror(errno));
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
    if (!limit.admits(size)) return too_large(size);
    constexpr std::size_t kLeast = 1 << 16;
    if (size == text.size()) text.resize(std::max(2 * size, kLeast));
  }
  text.resize(size);
  return text;
}

} // namespace warplens::api
