// SPDX-License-Identifier: Apache-2.0
#include "tools/run_arguments.hpp"

#include "tools/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace warplens::tools {

namespace {

using api::Initial;
using api::Number;

constexpr std::string_view kForms =
    "arguments: TYPE=VALUE such as f32=1.5, NAME:TYPE[COUNT]=INITIAL such as x:f32[1024]=iota, buffer=NAME";

[[noreturn]] void fail(std::string_view text, std::string_view why) {
  throw UsageError{fmt::format("--arg {}: {}", text, why), std::string(kForms)};
}

template <class T> T value_or_fail(Expected<T> expected, std::string_view text) {
  if (!expected) {
    const Diagnostic& d = expected.error().list().front();
    throw UsageError{fmt::format("--arg {}: {}", text, d.message), d.hint.empty() ? std::string(kForms) : d.hint};
  }
  return std::move(*expected);
}

/// The numbers of "0,1,7".
std::vector<Number> numbers(std::string_view list, std::string_view text) {
  std::vector<Number> result;
  while (!list.empty()) {
    const std::string_view one = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), one.size() + 1));
    result.push_back(value_or_fail(api::parse_number(one), text));
  }
  return result;
}

// zeros | fill:V | iota[:START,STEP] | random[:LOW,HIGH[,SEED]] | file:PATH
Initial initial(std::string_view form, api::Type type, std::string_view text) {
  const std::string_view word = form.substr(0, form.find(':'));
  const std::string_view rest = form.substr(std::min(form.size(), word.size() + 1));
  Initial result;
  if (word == "file") {
    result.kind = Initial::Kind::file;
    result.file = rest;
    if (rest.empty()) fail(text, "'file:' needs a path");
    return result;
  }
  const std::vector<Number> n = numbers(rest, text);
  const auto want = [&](std::size_t least, std::size_t most, std::string_view shape) {
    if (n.size() < least || n.size() > most) fail(text, fmt::format("expected {}", shape));
  };
  if (word == "zeros") {
    want(0, 0, "zeros");
  } else if (word == "fill") {
    want(1, 1, "fill:VALUE");
    result.kind = Initial::Kind::fill;
    result.first = n[0];
  } else if (word == "iota") {
    if (!n.empty()) want(2, 2, "iota:START,STEP");
    result.kind = Initial::Kind::iota;
    if (!n.empty()) result.first = n[0], result.second = n[1];
  } else if (word == "random") {
    if (!n.empty()) want(2, 3, "random:LOW,HIGH,SEED");
    result.kind = Initial::Kind::random;
    if (!n.empty()) result.first = n[0], result.second = n[1];
    if (n.size() == 3) {
      if (n[2].index() != 0) fail(text, "the seed must be an integer");
      result.seed = static_cast<std::uint64_t>(std::get<std::int64_t>(n[2]));
    }
  } else {
    fail(text, fmt::format("unknown initial value '{}': expected zeros, fill, iota, random or file", word));
  }
  for (const Number& number : {result.first, result.second}) value_or_fail(api::encode(type, number), text);
  return result;
}

// NAME:TYPE[COUNT]=INITIAL; INITIAL is optional, and with a file also COUNT.
api::BufferPlan buffer(std::string_view text) {
  api::BufferPlan b;
  const std::size_t colon = text.find(':');
  const std::size_t equals = std::min(text.find('='), text.size());
  b.name = text.substr(0, colon);
  std::string_view type = text.substr(colon + 1, equals - colon - 1);
  if (const std::size_t bracket = type.find('['); bracket != type.npos) {
    const std::string_view count = type.substr(bracket + 1);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), value);
    if (error != std::errc{} || std::string_view(end, count.data() + count.size()) != "]")
      fail(text, "invalid number of elements");
    b.count = value;
    type = type.substr(0, bracket);
  }
  b.type = value_or_fail(api::value_type_named(type), text);
  if (equals != text.size()) b.initial = initial(text.substr(equals + 1), b.type, text);
  if (!b.count && b.initial.kind != Initial::Kind::file)
    fail(text, "expected the number of elements, such as x:f32[1024]");
  if (b.name.empty()) fail(text, "the buffer has no name");
  return b;
}

} // namespace

CommandLineArguments parse_arguments(const std::vector<std::string>& texts) {
  CommandLineArguments result;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    const std::string_view key = std::string_view(text).substr(0, equals);
    if (key.find(':') != key.npos) {
      api::BufferPlan b = buffer(text);
      // A repeated name gets a number: buf, buf2, buf3.
      const std::string name = b.name;
      for (int n = 2;
           std::any_of(result.buffers.begin(), result.buffers.end(), [&](const auto& o) { return o.name == b.name; });
           ++n)
        b.name = fmt::format("{}{}", name, n);
      result.arguments.push_back({b.name, {}});
      result.buffers.push_back(std::move(b));
      continue;
    }
    if (equals == text.npos) fail(text, "expected '='");
    const std::string value = text.substr(equals + 1);
    if (key == "buffer") {
      result.arguments.push_back({value, {}});
      continue;
    }
    const api::Type type = value_or_fail(api::value_type_named(key), text);
    const Number number = value_or_fail(api::parse_number(value), text);
    value_or_fail(api::encode(type, number), text);
    result.arguments.push_back({api::ScalarPlan{type, number}, {}});
  }
  return result;
}

api::Override parse_override(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos || equals == 0) throw UsageError{fmt::format("--set {}: expected key=value", text), ""};
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

} // namespace warplens::tools
