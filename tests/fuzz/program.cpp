// SPDX-License-Identifier: Apache-2.0
// The text of a random program, and the values that it reads.
#include "tests/fuzz/generator.hpp"
#include "tests/fuzz/parts.hpp"

#include <algorithm>

namespace warplens::fuzz {

using isa::Type;

const std::vector<Register>& registers() {
  static const std::vector<Register> all = [] {
    struct Kind {
      const char* prefix;
      Type type;
      int count;
    };
    constexpr Kind kKinds[] = {{"%h", Type::b16, 5},  {"%hs", Type::s16, 2}, {"%r", Type::b32, 7},
                               {"%rs", Type::s32, 2}, {"%f", Type::f32, 4},  {"%rd", Type::b64, 5},
                               {"%ru", Type::u64, 2}, {"%d", Type::f64, 3},  {"%p", Type::pred, 5}};
    std::vector<Register> list;
    for (const Kind& k : kKinds)
      for (int i = 0; i < k.count; ++i) list.push_back({k.prefix + std::to_string(i), k.type});
    return list;
  }();
  return all;
}

namespace {

std::string width_of(Type type) { return std::to_string(isa::bits(type)); }

} // namespace

std::size_t input_words() { return registers().size(); }
std::size_t output_words() { return registers().size() + 1 + 3 * kSlotBytes / 8 + kElementWords; }

// In the array of elements of some size, the bytes before this one's.
std::uint32_t Program::array_at(std::uint32_t element_bytes, std::uint32_t blocks) const {
  std::uint32_t at = 0;
  for (const std::uint32_t bytes : kElementBytes)
    if (bytes < element_bytes) at += (kElements * bytes * places(blocks) + 63) / 64 * 64;
  return at;
}
std::size_t Program::arrays_begin() const { return (output_words() * threads() * ctas + 7) / 8 * 8; }
std::size_t Program::array_words() const { return array_at(32, ctas) / 8; }

std::string output_name(std::size_t word) {
  constexpr std::size_t kWords = kSlotBytes / 8;
  if (word < kWords) return "global memory";
  word -= kWords;
  if (word < registers().size()) return registers()[word].name;
  if (word == registers().size()) return "the carry flag";
  word -= registers().size() + 1;
  return word < kWords ? "shared memory" : word < 2 * kWords ? "local memory" : "an array in shared memory";
}

std::uint64_t Program::input(std::uint64_t thread, std::size_t word) const {
  std::uint64_t state = (number << 24 ^ thread << 8 ^ word) * 0x9e3779b97f4a7c15u;
  const auto next = [&] { // splitmix64
    std::uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  };
  return interesting(next);
}

std::string Program::ptx() const {
  const std::string slot = std::to_string(kSlotBytes);
  std::string text = ".version " + std::to_string(kPtx / 10) + "." + std::to_string(kPtx % 10) + "\n.target " +
                     std::string(target) + "\n.address_size 64\n" +
                     ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n";
  for (const Register& r : registers()) text += ".reg ." + std::string(isa::name(r.type)) + " " + r.name + ";\n";
  text += ".reg .pred %pl;\n.reg .b32 %t, %linear, %thread, %shared, %local, %c<" + std::to_string(kLoops) +
          ">;\n.reg .b64 %in, %slot, %sharedd, %locald, %sharedg, %localg;\n.shared .align 64 .b8 shared_slots[" +
          std::to_string(kSlotBytes * threads()) + "];\n.local .align 64 .b8 local_slot[" + slot + "];\n";
  text += "ld.param.u64 %in, [in]; ld.param.u64 %slot, [out];\n"
          "mov.u32 %linear, %tid.y; mov.u32 %t, %ntid.x; mul.lo.u32 %linear, %linear, %t;\n"
          "mov.u32 %t, %tid.x; add.u32 %linear, %linear, %t;\n"
          "mov.u32 %t, %ctaid.x; mad.lo.u32 %thread, %t, " +
          std::to_string(threads()) +
          ", %linear;\n"
          "mad.wide.u32 %in, %thread, " +
          std::to_string(8 * input_words()) +
          ", %in;\n"
          "mad.wide.u32 %slot, %thread, " +
          std::to_string(8 * output_words()) +
          ", %slot;\n"
          "mov.u32 %shared, shared_slots; mad.lo.u32 %shared, %linear, " +
          slot +
          ", %shared;\n"
          "mov.u32 %local, local_slot;\n"
          "cvt.u64.u32 %sharedd, %shared; cvt.u64.u32 %locald, %local;\n"
          "cvta.shared.u64 %sharedg, %sharedd; cvta.local.u64 %localg, %locald;\n";
  for (int i = 0; i < kLoops; ++i) text += "mov.u32 %c" + std::to_string(i) + ", 0;\n";
  std::size_t word = 0;
  for (const Register& r : registers()) {
    const std::string from = ", [%in+" + std::to_string(8 * word++) + "];";
    text += r.type == Type::pred
                ? "ld.global.u32 %t" + from + " and.b32 %t, %t, 1; setp.ne.u32 " + r.name + ", %t, 0;\n"
                : "ld.global.b" + width_of(r.type) + " " + r.name + from + "\n";
  }
  for (std::size_t at = 0; at < kSlotBytes; at += 8)
    text += "st.shared.b64 [%shared+" + std::to_string(at) + "], %rd" + std::to_string(at / 8 % 5) +
            "; st.local.b64 [%local+" + std::to_string(at) + "], %rd" + std::to_string(at / 8 % 5) + ";\n";
  text += element_addresses();
  text += "add.cc.u32 %t, %t, 0;\n// the statements\n";
  for (const std::string& s : statements) text += s + "\n";
  text += "END:\n";
  std::size_t to = kSlotBytes;
  const auto store = [&](const std::string& type, const std::string& value) {
    text += "st.global." + type + " [%slot+" + std::to_string(to) + "], " + value + ";\n";
    to += 8;
  };
  for (const Register& r : registers()) {
    if (r.type == Type::pred) {
      text += "selp.u32 %t, 1, 0, " + r.name + ";\n";
      store("u32", "%t");
    } else {
      store("b" + width_of(r.type), r.name);
    }
  }
  text += "addc.u32 %t, 0, 0;\n";
  store("u32", "%t");
  for (const char* space : {"shared", "local"})
    for (std::size_t at = 0; at < kSlotBytes; at += 8) {
      text += std::string("ld.") + space + ".b64 %in, [%" + space + "+" + std::to_string(at) + "];\n";
      store("b64", "%in");
    }
  for (const std::uint32_t bytes : kElementBytes)
    for (std::uint32_t e = 0; e < kElements; ++e)
      for (std::uint32_t part = 0; part < bytes; part += 8) {
        const std::string width = "b" + std::to_string(8 * std::min(bytes, 8u));
        text += "ld.shared." + width + " %in, [%es" + std::to_string(bytes) + "+" +
                std::to_string(e * bytes * places(1) + part) + "];\n";
        store("b64", "%in");
      }
  return text + "ret;\n}\n";
}

// The addresses of a thread's elements, and their first values: %es4 is that of the ones of 4 bytes in shared memory,
// %ed4 the same in 64 bits, %ec4 the generic one, and %eg4 that in global memory.
std::string Program::element_addresses() const {
  std::string text = ".reg .b32 %place, %gplace;\n.reg .b64 %same, %arrays;\n.shared .align 64 .b8 same_words[" +
                     std::to_string(8 * kSame) + "], shared_arrays[" + std::to_string(array_at(32, 1)) + "];\n";
  for (std::uint32_t i = 0; i < kSame; ++i)
    text += "mov.u64 %same, " + std::to_string(input(~std::uint64_t{0}, i)) + "U; st.shared.u64 [same_words+" +
            std::to_string(8 * i) + "], %same;\n";
  text += "ld.param.u64 %same, [in]; ld.param.u64 %arrays, [out]; add.u64 %arrays, %arrays, " +
          std::to_string(8 * arrays_begin()) +
          ";\nmov.u32 %place, %tid.y; mov.u32 %t, %tid.x; mad.lo.u32 %place, %place, " +
          std::to_string(block[0] + gap) + ", %t;\nmov.u32 %t, %ctaid.x; mad.lo.u32 %gplace, %t, " +
          std::to_string(places(1)) + ", %place;\n";
  for (const std::uint32_t bytes : kElementBytes) {
    const std::string n = std::to_string(bytes);
    text += ".reg .b32 %es" + n + ";\n.reg .b64 %ed" + n + ", %ec" + n + ", %eg" + n + ";\nmov.u32 %es" + n +
            ", shared_arrays; mad.lo.u32 %es" + n + ", %place, " + n + ", %es" + n + "; add.u32 %es" + n + ", %es" + n +
            ", " + std::to_string(array_at(bytes, 1)) + ";\ncvt.u64.u32 %ed" + n + ", %es" + n +
            "; cvta.shared.u64 %ec" + n + ", %ed" + n + ";\nmad.wide.u32 %eg" + n + ", %gplace, " + n +
            ", %arrays; add.u64 %eg" + n + ", %eg" + n + ", " + std::to_string(array_at(bytes, ctas)) + ";\n";
    for (std::uint32_t e = 0; e < kElements; ++e)
      for (std::uint32_t part = 0; part < bytes; part += 8)
        text += "st.shared.b" + std::to_string(8 * std::min(bytes, 8u)) + " [%es" + n + "+" +
                std::to_string(e * bytes * places(1) + part) + "], %rd" + std::to_string((bytes + part) % 5) + ";\n";
  }
  return text;
}

} // namespace warplens::fuzz
