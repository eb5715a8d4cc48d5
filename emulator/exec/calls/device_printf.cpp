// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/calls/device_printf.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>

namespace warplens::exec {

namespace {

constexpr int kMaxArguments = 32;
constexpr int kMaxWidth = 1 << 16; // limits the output of hostile formats

class Formatter {
public:
  Formatter(const std::string& format, const PrintfMemory& memory) : format_(format), memory_(memory) {}

  std::optional<Printed> run() {
    for (at_ = 0; at_ < format_.size() && readable_;) {
      const std::size_t percent = std::min(format_.find('%', at_), format_.size());
      out_.text.append(format_, at_, percent - at_);
      at_ = percent;
      if (at_ < format_.size()) specifier();
    }
    if (!readable_) return std::nullopt;
    return std::move(out_);
  }

private:
  // The part between the % and the letter of the type.
  struct Specifier {
    std::string flags;
    int width = -1, precision = -1; ///< -1: none
    bool wide = false;              ///< an 8-byte integer
    std::string size;               ///< h, hh: the value is truncated
  };

  void specifier() {
    const std::size_t start = at_++;
    const std::uint64_t offset = offset_;
    const int arguments = out_.arguments;
    Specifier s;
    while (at_ < format_.size() && std::string_view("#0 +-").find(format_[at_]) != std::string_view::npos)
      s.flags += format_[at_++];
    s.width = number();
    if (s.width < -1) s.flags += '-', s.width = -s.width;
    if (at_ < format_.size() && format_[at_] == '.') {
      ++at_;
      s.precision = std::max(number(), -1);
      if (format_[at_ - 1] == '.') s.precision = 0;
    }
    while (at_ < format_.size() && std::string_view("hljzt").find(format_[at_]) != std::string_view::npos) {
      if (format_[at_] == 'h')
        s.size += 'h';
      else
        s.wide = true;
      ++at_;
    }
    const char type = at_ < format_.size() ? format_[at_++] : '\0';
    if (type == '%' && at_ == start + 2) {
      out_.text += '%';
      return;
    }
    if (value(s, type)) return;
    offset_ = offset; // printed unchanged: no argument was taken
    out_.arguments = arguments;
    out_.text.append(format_, start, at_ - start);
  }

  // A number, or the argument for `*`; -1 if there is none.
  int number() {
    if (at_ < format_.size() && format_[at_] == '*') {
      ++at_;
      const auto given = static_cast<std::int32_t>(take(4));
      return std::clamp(given, -kMaxWidth, kMaxWidth);
    }
    int n = -1;
    for (; at_ < format_.size() && format_[at_] >= '0' && format_[at_] <= '9'; ++at_)
      n = std::min(std::max(n, 0) * 10 + (format_[at_] - '0'), kMaxWidth);
    return n;
  }

  std::uint64_t take(int bytes) {
    const auto size = static_cast<std::uint64_t>(bytes);
    offset_ = (offset_ + size - 1) / size * size;
    const auto value = memory_.argument(offset_, bytes);
    if (!value) readable_ = false;
    offset_ += size;
    ++out_.arguments;
    return value.value_or(0);
  }

  bool value(const Specifier& s, char type) {
    if (out_.arguments >= kMaxArguments) return false;
    switch (type) {
    case 'd':
    case 'i': {
      const std::uint64_t bits = take(s.wide ? 8 : 4);
      const std::int64_t number = s.wide ? static_cast<std::int64_t>(bits) : static_cast<std::int32_t>(bits);
      print(s, s.size.empty() ? "ll" : s.size, type, static_cast<long long>(number));
      return true;
    }
    case 'u':
    case 'o':
    case 'x':
    case 'X':
      print(s, s.size.empty() ? "ll" : s.size, type, static_cast<unsigned long long>(take(s.wide ? 8 : 4)));
      return true;
    case 'c': out_.text += padded(s, std::string(1, static_cast<char>(take(4)))); return true;
    case 'p': print(s, "", type, reinterpret_cast<void*>(take(8))); return true; // NOLINT: a number, for printf
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A': print(s, "", type, std::bit_cast<double>(take(8))); return true;
    case 's': {
      std::optional<std::string> text = memory_.text(take(8));
      if (!text) readable_ = false;
      if (!text) return true;
      if (s.precision >= 0) text->resize(std::min(text->size(), static_cast<std::size_t>(s.precision)));
      out_.text += padded(s, std::move(*text));
      return true;
    }
    default: return false;
    }
  }

  static std::string padded(const Specifier& s, std::string text) {
    const auto width = static_cast<std::size_t>(std::max(s.width, 0));
    if (text.size() >= width) return text;
    const std::string blanks(width - text.size(), ' ');
    return s.flags.find('-') != std::string::npos ? text + blanks : blanks + text;
  }

  // The C library of the host formats numbers, as for a GPU.
  template <class Value> void print(const Specifier& s, const std::string& size, char type, Value value) {
    std::string format = "%" + s.flags;
    if (s.width >= 0) format += std::to_string(s.width);
    if (s.precision >= 0) format += "." + std::to_string(s.precision);
    format += size + type;
    const auto write = [&](char* to, std::size_t room) -> int {
      if constexpr (std::is_integral_v<Value>) {
        if (size == "h" || size == "hh") return std::snprintf(to, room, format.c_str(), static_cast<int>(value));
      }
      return std::snprintf(to, room, format.c_str(), value);
    };
    const int length = write(nullptr, 0);
    if (length <= 0) return;
    std::string text(static_cast<std::size_t>(length) + 1, '\0');
    write(text.data(), text.size());
    text.pop_back();
    out_.text += text;
  }

  const std::string& format_;
  const PrintfMemory& memory_;
  Printed out_;
  std::size_t at_ = 0;
  std::uint64_t offset_ = 0;
  bool readable_ = true;
};

} // namespace

std::optional<Printed> printed_text(const std::string& format, const PrintfMemory& memory) {
  return Formatter(format, memory).run();
}

} // namespace warplens::exec
