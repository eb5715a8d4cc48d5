// SPDX-License-Identifier: Apache-2.0
// What links ANTLR's static library into the bundle. Debian compiles that library for programs (-fPIE): in a shared
// library, its code can use only variables of the same library. This file defines the two that would be elsewhere.
#include <antlr4-runtime.h>

#include <algorithm>
#include <iterator>

// In libc: whether the process has one thread, which makes std::shared_ptr faster. 0 is always correct.
extern "C" {
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0; // NOLINT: the name that compiled code refers to
}

// ANTLR's own version of this class has thread-local variables, whose place in a program is fixed. The lexer's
// automaton is started with it, and ANTLR's matcher of tree patterns refers to it.
namespace antlr4 {

ANTLRInputStream::ANTLRInputStream(const std::string& input) { ANTLRInputStream::load(input); }

void ANTLRInputStream::load(const std::string& input) {
  _data = antlrcpp::utf8_to_utf32(input.data(), input.data() + input.size());
  p = 0;
}

void ANTLRInputStream::load(std::istream& stream) {
  ANTLRInputStream::load(std::string(std::istreambuf_iterator<char>(stream), {}));
}

void ANTLRInputStream::reset() { p = 0; }

void ANTLRInputStream::consume() {
  if (p >= _data.size()) throw IllegalStateException("cannot consume EOF");
  ++p;
}

// LA(1) is the next character, LA(-1) the previous one; there is no LA(0).
size_t ANTLRInputStream::LA(ssize_t i) {
  if (i == 0) return 0;
  const ssize_t position = static_cast<ssize_t>(p) + (i > 0 ? i - 1 : i);
  return position < 0 || position >= static_cast<ssize_t>(_data.size()) ? IntStream::EOF
                                                                        : _data[static_cast<size_t>(position)];
}

size_t ANTLRInputStream::LT(ssize_t i) { return LA(i); }
size_t ANTLRInputStream::index() { return p; }
size_t ANTLRInputStream::size() { return _data.size(); }
ssize_t ANTLRInputStream::mark() { return -1; }
void ANTLRInputStream::release(ssize_t) {}
void ANTLRInputStream::seek(size_t index) { p = std::min(index, _data.size()); }

std::string ANTLRInputStream::getText(const misc::Interval& interval) {
  if (interval.a < 0 || interval.b < interval.a || static_cast<size_t>(interval.a) >= _data.size()) return {};
  const auto begin = static_cast<size_t>(interval.a);
  return antlrcpp::utf32_to_utf8(_data.substr(begin, static_cast<size_t>(interval.b) - begin + 1));
}

std::string ANTLRInputStream::getSourceName() const { return name.empty() ? IntStream::UNKNOWN_SOURCE_NAME : name; }
std::string ANTLRInputStream::toString() const { return antlrcpp::utf32_to_utf8(_data); }

} // namespace antlr4
