// SPDX-License-Identifier: Apache-2.0
// Lanes that write the same address, compared with tests/data/hardware/collisions.jsonl. ask/collisions.py recorded the
// file on an H200 and describes its format.
#include "tests/hardware/emulated.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <sstream>

namespace warplens::tests {
namespace collisions_test {

constexpr std::size_t kArea = 4096; // bytes of memory a case

using Bytes = std::vector<std::byte>;

Bytes bytes_of(const std::string& text) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoul(text.substr(i, 2), nullptr, 16)));
  return bytes;
}

std::vector<std::uint32_t> words_of(const Bytes& bytes) {
  std::vector<std::uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), 4 * words.size());
  return words;
}

Bytes repeated(const Bytes& bytes, std::size_t size) {
  Bytes all(size);
  for (std::size_t i = 0; i < size; ++i) all[i] = bytes[i % bytes.size()];
  return all;
}

struct Form {
  explicit Form(const nlohmann::json& line) : json(line), bytes(line["bytes"]) {}
  [[nodiscard]] bool is(const char* what) const { return json.value(what, false); }

  nlohmann::json json;
  std::size_t bytes;
};

class Collisions {
public:
  Collisions() : machine_(data_file("hardware/collisions.ptx"), "collisions.ptx") {
    std::istringstream lines(data_file("hardware/collisions.jsonl"));
    for (std::string text; std::getline(lines, text);) {
      const auto line = nlohmann::json::parse(text);
      if (line.contains("op"))
        forms.emplace_back(line);
      else if (line.contains("cases"))
        cases_ = line["cases"].get<std::vector<std::vector<int>>>();
      else
        values_[line["values"]] = bytes_of(line["bytes"]);
    }
  }

  /// What the emulator says, in the words of the record: an answer, or a hash, for each case.
  std::vector<std::string> ask(const Form& form) {
    const std::size_t count = form.json.value("cases", cases_.size());
    std::vector<std::uint32_t> table;
    for (std::size_t i = 0; i < count; ++i)
      for (const int slot : cases_[i]) table.push_back(slot < 0 ? 0 : static_cast<std::uint32_t>(slot) | 1u << 31);
    const std::uint64_t memory = machine_.buffer(words_of(repeated(bytes_of(form.json["initial"]), count * kArea)));
    const std::uint64_t returned = machine_.buffer(std::vector<std::uint32_t>(count * 128));
    constexpr std::uint64_t kSurface = 7;
    Emulated::Request request;
    request.kernel = form.json["kernel"];
    request.shape.block[0] = 32;
    request.shape.grid[0] = static_cast<std::uint32_t>(count) * (form.is("cluster") ? 2 : 1);
    request.shape.cluster[0] = form.is("cluster") ? 2 : 1;
    request.shape.explicit_cluster = form.is("cluster");
    request.arguments = {{machine_.buffer(table), 8},
                         {machine_.buffer(words_of(values_.at(form.json["values"]))), 8},
                         {memory, 8},
                         {returned, 8},
                         {kSurface, 8}};
    exec::BoundTexture bound;
    bound.kind = exec::BoundTexture::Kind::surface;
    bound.name = "surface";
    bound.image.width = kArea / 16;
    bound.image.height = static_cast<std::uint32_t>(count);
    bound.image.type = isa::Type::u32;
    bound.image.channels = 4;
    bound.image.address = memory;
    bound.image.lay_out();
    request.textures.set(kSurface, bound);
    EXPECT_EQ(machine_.run(request), "") << form.json["op"];
    std::vector<std::string> answers;
    for (std::size_t i = 0; i < count; ++i)
      answers.push_back(answer(form, cases_[i], reinterpret_cast<const std::byte*>(memory) + i * kArea,
                               reinterpret_cast<const std::byte*>(returned) + i * 512));
    machine_.free_buffers();
    return answers;
  }

  std::vector<Form> forms;

private:
  static std::string answer(const Form& form, const std::vector<int>& slots, const std::byte* memory,
                            const std::byte* returned) {
    std::set<std::size_t> used;
    const std::size_t all = form.json.value("all", std::size_t{0});
    for (std::size_t lane = 0; lane < slots.size(); ++lane)
      if (all != 0 ? lane < all : slots[lane] >= 0) used.insert(static_cast<std::size_t>(std::max(slots[lane], 0)));
    if (!form.json.contains("hashes")) {
      std::string text;
      for (const std::size_t slot : used) text += digit(memory + slot * form.bytes, form.bytes);
      return text;
    }
    std::uint32_t hash = 0x811c9dc5;
    const auto add = [&](const std::byte* bytes) {
      for (std::size_t i = 0; i < form.bytes; ++i) hash = (hash ^ static_cast<std::uint32_t>(bytes[i])) * 0x01000193;
    };
    for (const std::size_t slot : used) add(memory + slot * form.bytes);
    for (std::size_t lane = 0; lane < slots.size() && form.is("returns"); ++lane)
      if (slots[lane] >= 0) add(returned + 16 * lane);
    char text[9];
    std::snprintf(text, sizeof text, "%08x", hash);
    return text;
  }

  // The lane all of whose bytes these are.
  static char digit(const std::byte* bytes, std::size_t size) {
    const auto lane = static_cast<std::size_t>(bytes[0]);
    const bool whole = std::all_of(bytes, bytes + size, [&](std::byte b) { return b == bytes[0]; });
    return whole && lane < 32 ? "0123456789abcdefghijklmnopqrstuv"[lane] : '?';
  }

  Emulated machine_;
  std::vector<std::vector<int>> cases_;
  std::map<std::string, Bytes> values_;
};

std::vector<std::string> recorded(const Form& form, std::map<std::string, std::vector<std::string>>& known) {
  std::vector<std::string> answers;
  if (form.json.contains("hashes")) {
    const std::string all = form.json["hashes"];
    for (std::size_t i = 0; i < all.size(); i += 8) answers.push_back(all.substr(i, 8));
    return answers;
  }
  const std::string text = form.json["answers"];
  if (const auto same = known.find(text); same != known.end()) return same->second;
  std::istringstream in(text);
  for (std::string answer; in >> answer;) answers.push_back(answer);
  known[form.json["kernel"]] = answers;
  return answers;
}

// Where hardware does not say the same each time, or by no rule that was found: the part of the cases in which the
// emulator agrees. docs/limits.md names them.
double least_agreement(const Form& form) {
  const std::string op = form.json["op"];
  if (op.starts_with("cp.async")) return form.is("varies") ? 0.75 : op.find(".cg.") != std::string::npos ? 0.5 : 1;
  if (op.starts_with("sust")) return form.is("varies") ? 0.9 : 1;
  // Loops that compare and swap 64 bits of shared memory take turns of their own when several addresses collide.
  const bool loops = op.ends_with("add.u64") || op.ends_with("xor.b64") || op.ends_with("add.f64");
  return form.json["place"].get<std::string>().starts_with("shared") && loops ? 0.85 : 1;
}

TEST(Collisions, AsOnHardware) {
  Collisions collisions;
  std::map<std::string, std::vector<std::string>> known;
  std::size_t exact = 0;
  ASSERT_EQ(collisions.forms.size(), 320u);
  for (const Form& form : collisions.forms) {
    const std::vector<std::string> expected = recorded(form, known), got = collisions.ask(form);
    ASSERT_EQ(got.size(), expected.size()) << form.json["op"];
    std::size_t same = 0, first = got.size();
    for (std::size_t i = 0; i < got.size(); ++i)
      if (got[i] == expected[i])
        ++same;
      else
        first = std::min(first, i);
    if (first == got.size())
      ++exact;
    else
      EXPECT_GE(static_cast<double>(same), least_agreement(form) * static_cast<double>(got.size()))
          << form.json["op"] << " " << form.json["place"] << " differs first in case " << first << ": " << got[first]
          << ", hardware " << expected[first];
  }
  EXPECT_EQ(exact, 299u);
}

} // namespace collisions_test
} // namespace warplens::tests
