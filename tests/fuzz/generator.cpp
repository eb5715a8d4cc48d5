// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/generator.hpp"

#include "emulator/isa/table.hpp"
#include "tests/fuzz/parts.hpp"

#include <algorithm>
#include <random>
#include <set>

namespace warplens::fuzz {
namespace {

using isa::Class;
using isa::Family;
using isa::Type;
using isa::Word;

constexpr std::string_view kTargets[] = {"sm_120a", "sm_100a"};
constexpr std::size_t kSpellingsInTurn = 12;

bool is_integer_pair(Type type) { return type == Type::u16x2 || type == Type::s16x2; }

// May a register stand where an instruction wants a type? (PTX manual, 9.4; pairs of integers as ptxas takes them.)
bool fits(Type have, Type want, bool relaxed) {
  if (have == Type::pred || want == Type::pred) return have == want;
  if (is_integer_pair(want)) return have == Type::b32;
  if (isa::bits(have) < isa::bits(want) || (isa::bits(have) > isa::bits(want) && !relaxed)) return false;
  const bool wider = isa::bits(have) > isa::bits(want);
  if (isa::info(have).kind == Class::untyped || isa::info(want).kind == Class::untyped)
    return !wider || !isa::is_float(have);
  return isa::is_float(have) || isa::is_float(want) ? have == want : true;
}

void spell(const isa::Pattern& pattern, int group, const std::string& so_far, std::vector<std::string>& list) {
  if (group == pattern.count) {
    list.push_back(so_far);
    return;
  }
  const isa::Group& g = pattern.groups[group];
  if (g.optional) spell(pattern, group + 1, so_far, list);
  for (int i = 0; i < g.count; ++i)
    spell(pattern, group + 1, so_far + "." + std::string(isa::text_of(g.options[i])), list);
}

// Whether registers(), immediates and predicates can be its operands. (Video instructions have selectors, which the
// evaluator does not know; tests/hardware/video_test.cpp goes through them.)
bool can_generate(const isa::Spelling& s) {
  for (int i = 0; i < s.entry->operands.count; ++i) {
    const isa::OperandSpec& o = s.entry->operands.items[i];
    const bool known = o.kind == isa::OperandClass::value || o.kind == isa::OperandClass::predicate ||
                       o.kind == isa::OperandClass::carry;
    const Type type = s.types[i];
    if (!known || o.vector || o.optional || o.minus) return false;
    if (o.kind == isa::OperandClass::value && !o.immediate &&
        std::none_of(registers().begin(), registers().end(),
                     [&](const Register& r) { return fits(r.type, type, o.relaxed); }))
      return false;
  }
  return true;
}

// What a target offers: spellings that functors compute, in random order, neighbours strangers.
struct Offer {
  std::string text;
  isa::Spelling spelling;
};
const std::vector<Offer>& offers(std::size_t target) {
  static const std::vector<std::vector<Offer>> all = [] {
    std::vector<std::vector<Offer>> lists;
    for (const std::string_view name : kTargets) {
      std::vector<Offer>& list = lists.emplace_back();
      for (const isa::Entry& entry : isa::table()) {
        if (entry.family != Family::lane && entry.family != Family::set) continue;
        int operands = 0;
        for (int i = 0; i < entry.operands.count; ++i) operands += entry.operands.items[i].is_written() ? 1 : 0;
        std::vector<std::string> texts;
        spell(entry.pattern, 0, std::string(entry.opcode), texts);
        for (const std::string& text : texts) {
          const auto found = isa::lookup(text, kPtx, isa::target_named(name), operands);
          if (found && found->entry == &entry && can_generate(*found)) list.push_back({text, *found});
        }
      }
      std::shuffle(list.begin(), list.end(), std::mt19937_64(1));
    }
    return lists;
  }();
  return all[target];
}

class Generator {
public:
  Generator(std::uint64_t number, std::size_t length)
      : length_(length), random_(number * 0x9e3779b97f4a7c15u + 1), offers_(offers(number % std::size(kTargets))) {
    program_.number = number;
    calm_ = number % 8 == 1 || number % 8 == 6; // of each target one
    program_.target = kTargets[number % std::size(kTargets)];
  }

  Program run() {
    constexpr std::array<std::uint32_t, 2> kBlocks[] = {{32, 1}, {7, 1},   {45, 1}, {64, 1}, {9, 5},  {1, 1},
                                                        {33, 1}, {100, 1}, {16, 4}, {16, 6}, {128, 1}};
    program_.block = kBlocks[below(std::size(kBlocks))];
    program_.gap = one_in(3) ? 3 : 0;
    program_.ctas = 1 + static_cast<std::uint32_t>(below(2));
    const std::size_t count = (kSpellingsInTurn + below(50)) * length_, labels = below(6) * length_;
    std::set<std::size_t> places, turns; // of the labels, and of the spellings whose turn it is
    while (places.size() < labels) places.insert(below(count));
    while (turns.size() < kSpellingsInTurn) turns.insert(below(count));
    labels_ = labels;
    std::size_t turn = program_.number / std::size(kTargets) * kSpellingsInTurn;
    if (calm_) add("bar.sync 0;");
    for (std::size_t i = 0; i < count; ++i) {
      if (places.contains(i)) add("L" + std::to_string(passed_++) + ":");
      if (turns.contains(i))
        compute(offers_[turn++ % offers_.size()]);
      else
        statement();
    }
    return std::move(program_);
  }

private:
  std::size_t below(std::size_t n) { return random_() % n; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  void add(std::string statement) { program_.statements.push_back(std::move(statement)); }

  void statement() {
    const std::size_t pick = below(100);
    if (pick < 7) return branch_forward();
    if (pick < 11 && passed_ > 0 && loops_ < kLoops) return branch_back();
    if (pick == 12 && one_in(2)) return add("bar.sync 0;");
    if (pick == 11 && one_in(3)) return add("@" + negation() + any(Type::pred) + (one_in(2) ? " exit;" : " ret;"));
    if (pick < 30 && !calm_) return access();
    if (pick < 36) return move_vector();
    return compute(offers_[below(offers_.size())]);
  }

  // ---- operands

  std::string negation() { return one_in(2) ? "!" : ""; }
  std::string guard() { return one_in(4) ? "@" + negation() + any(Type::pred) + " " : ""; }

  // A register for a type, but none of those in `taken`, to which it is added.
  std::string any(Type type, bool relaxed = false, std::set<std::string>* taken = nullptr) {
    std::vector<const Register*> candidates;
    for (const Register& r : registers())
      if (fits(r.type, type, relaxed) && (taken == nullptr || !taken->contains(r.name))) candidates.push_back(&r);
    const std::string& name = candidates[below(candidates.size())]->name;
    if (taken != nullptr) taken->insert(name);
    return name;
  }

  // Registers for the elements of a vector, which are of one kind or untyped; without `taken`, they may be the same.
  std::string elements(Type type, int count, std::set<std::string>* taken) {
    std::string text;
    bool floats = false, others = false;
    for (int i = 0; i < count; ++i) {
      std::vector<const Register*> candidates;
      for (const Register& r : registers()) {
        const bool is_untyped = isa::info(r.type).kind == Class::untyped;
        if (fits(r.type, type, false) && (is_untyped || !(isa::is_float(r.type) ? others : floats)) &&
            (taken == nullptr || !taken->contains(r.name)))
          candidates.push_back(&r);
      }
      const Register& r = *candidates[below(candidates.size())];
      if (isa::info(r.type).kind != Class::untyped) (isa::is_float(r.type) ? floats : others) = true;
      if (taken != nullptr) taken->insert(r.name);
      text += (i == 0 ? "" : ", ") + r.name;
    }
    return text;
  }

  std::string immediate(Type type, bool small) {
    if (type == Type::f32) {
      char text[16];
      std::snprintf(text, sizeof text, "0f%08X", static_cast<unsigned>(interesting(random_) >> 32));
      return one_in(4) ? "1.5" : text;
    }
    if (type == Type::f64) {
      char text[24];
      std::snprintf(text, sizeof text, "0d%016llX", static_cast<unsigned long long>(interesting(random_)));
      return one_in(4) ? "-0.1" : text;
    }
    if (small || one_in(2)) return std::to_string(below(70));
    if (one_in(8)) return "WARP_SZ";
    if (one_in(3)) return "-" + std::to_string(below(40));
    const int bits = isa::bits(type);
    const std::uint64_t value = bits >= 64 ? interesting(random_) : interesting(random_) >> (64 - bits);
    return std::to_string(value) + (bits >= 64 ? "U" : "");
  }

  std::string source(const isa::Spelling& s, int index, bool& immediates_done) {
    const isa::OperandSpec& o = s.entry->operands.items[index];
    const Type type = s.types[index];
    if (o.negatable) return negation() + any(Type::pred);
    if (o.immediate) return std::to_string(below(256));
    const bool amount = o.type_index < 0 && o.fixed == Type::u32;
    const bool numeric =
        type == Type::f32 || type == Type::f64 || isa::is_integer(type) || isa::info(type).kind == Class::untyped;
    if (numeric && !is_integer_pair(type) && o.elements == 1 && !o.register_only && !immediates_done && one_in(6)) {
      // The assembler has its own ways with bfe and bfi of two immediates: tests/hardware/immediates_test.cpp.
      immediates_done = s.entry->opcode == "bfe" || s.entry->opcode == "bfi";
      return immediate(type, amount);
    }
    const bool reads = s.entry->opcode == "mov" || (s.entry->opcode == "cvt" && isa::is_integer(s.form.type(0)));
    if (type == Type::u32 && reads && one_in(4)) {
      constexpr const char* kSpecials[] = {
          "%tid.x",       "%tid.y",       "%ntid.x",      "%ctaid.x",     "%laneid",   "%warpid", "%lanemask_eq",
          "%lanemask_lt", "%lanemask_ge", "%lanemask_le", "%lanemask_gt", "%nctaid.x", "%ntid.z"};
      return kSpecials[below(std::size(kSpecials))];
    }
    return any(type, o.relaxed);
  }

  std::string predicates(const isa::OperandSpec& o) {
    std::set<std::string> taken;
    const std::string p = any(Type::pred, false, &taken);
    if (!o.pair || one_in(2)) return p;
    if (one_in(6)) return "_|" + p;
    return p + "|" + (one_in(6) ? "_" : any(Type::pred, false, &taken));
  }

  // ---- statements

  void compute(const Offer& offer) {
    const isa::Spelling& s = offer.spelling;
    std::string text = guard() + offer.text;
    bool immediates_done = false, first = true;
    for (int i = 0; i < s.entry->operands.count; ++i) {
      const isa::OperandSpec& o = s.entry->operands.items[i];
      if (!o.is_written()) continue;
      std::string operand = !o.destination             ? source(s, i, immediates_done)
                            : s.types[i] == Type::pred ? predicates(o)
                                                       : any(s.types[i], o.relaxed);
      for (int e = 1; e < o.elements; ++e) operand += ", " + any(s.types[i]);
      if (o.elements > 1) operand = "{" + operand + "}";
      text += (first ? " " : ", ") + operand;
      first = false;
    }
    add(text + ";");
  }

  void branch_forward() {
    const std::size_t target = passed_ + below(labels_ - passed_ + 1);
    const std::string to = " bra " + (target == labels_ ? "END" : "L" + std::to_string(target)) + ";";
    if (calm_ && !one_in(4)) {
      const bool by_warp = one_in(3);
      return add((by_warp ? "shr.u32 %t, %linear, 5; setp.eq" : "mov.u32 %t, %ctaid.x; setp.le") +
                 std::string(".u32 %pl, ") + "%t, " + std::to_string(below(by_warp ? 4 : 2)) + "; @" + negation() +
                 "%pl" + to);
    }
    add(one_in(8) ? to.substr(1) : "@" + negation() + any(Type::pred) + to);
  }

  // Taken a few times in all by each thread, perhaps by some threads fewer times.
  void branch_back() {
    const std::string counter = "%c" + std::to_string(loops_++);
    const std::string times = std::to_string(1 + below(4)), label = "L" + std::to_string(below(passed_));
    const std::string also = one_in(calm_ ? 6 : 2) ? ".and.u32 %pl, " : ".u32 %pl, ";
    add("add.u32 " + counter + ", " + counter + ", 1; setp.le" + also + counter + ", " + times +
        (also[1] == 'a' ? ", " + negation() + any(Type::pred) : "") + "; @%pl bra " + label + ";");
  }

  void move_vector() {
    struct Shape {
      const char* opcode;
      Type whole, part;
      int parts;
    };
    constexpr Shape kShapes[] = {{"mov.b32 ", Type::b32, Type::b16, 2},
                                 {"mov.b64 ", Type::b64, Type::b32, 2},
                                 {"mov.b64 ", Type::b64, Type::b16, 4}};
    const Shape& shape = kShapes[below(std::size(kShapes))];
    const bool unpacks = one_in(2);
    std::set<std::string> taken;
    std::string vector = "{" + elements(shape.part, shape.parts, unpacks ? &taken : nullptr);
    if (unpacks && one_in(4)) vector.replace(vector.rfind(' ') + 1, std::string::npos, "_");
    const std::string whole = any(shape.whole);
    add(guard() + shape.opcode + (unpacks ? vector + "}, " + whole : whole + ", " + vector + "}") + ";");
  }

  // ---- memory: each thread has a slot in each space

  static bool usable(Word word) {
    constexpr Word kNot[] = {Word::w_const_, Word::w_param,         Word::w_param_entry, Word::w_param_func,
                             Word::w_mmio,   Word::w_l2_cache_hint, Word::w_cluster,     Word::w_v8};
    return std::find(std::begin(kNot), std::end(kNot), word) == std::end(kNot);
  }

  // Some spelling of a memory entry; empty where there was no luck.
  std::string spelling_of(const isa::Entry& entry) {
    std::string text(entry.opcode);
    for (int g = 0; g < entry.pattern.count; ++g) {
      const isa::Group& group = entry.pattern.groups[g];
      if (group.optional && one_in(2)) continue;
      const Word word = group.options[below(static_cast<std::size_t>(group.count))];
      if (!usable(word) || (isa::is_type(word) && isa::bits(isa::type_of(word)) > 64)) return {};
      text += "." + std::string(isa::text_of(word));
    }
    return text;
  }

  static bool can_access(const isa::Spelling& s) {
    const bool atomic = s.entry->family == Family::atomic || s.entry->family == Family::reduction;
    return !atomic || !isa::is_float(s.form.type());
  }

  std::string address(const isa::Spelling& s, std::size_t bytes) {
    const bool shared = names_shared(s), local = s.has(Word::w_local);
    const bool global = s.has(Word::w_global) || s.entry->opcode == "ldu";
    if (bytes <= 16 && !local && one_in(2)) {
      const bool in_shared = shared || (!global && one_in(2));
      const std::string base = !in_shared ? "%eg" : !shared ? "%ec" : one_in(2) ? "%es" : "%ed";
      return "[" + base + std::to_string(bytes) + "+" +
             std::to_string(below(kElements) * bytes * program_.places(in_shared ? 1 : program_.ctas)) + "]";
    }
    if (s.entry->family == Family::load && (shared || global) && one_in(4))
      return std::string(shared ? "[same_words+" : "[%same+") + std::to_string(below(kSame * 8 / bytes) * bytes) + "]";
    constexpr const char* kGeneric[] = {"%slot", "%sharedg", "%localg"};
    const std::string base = shared   ? (one_in(2) ? "%shared" : "%sharedd")
                             : local  ? (one_in(2) ? "%local" : "%locald")
                             : global ? "%slot"
                                      : kGeneric[below(3)];
    return "[" + base + "+" + std::to_string(below(kSlotBytes / bytes) * bytes) + "]";
  }

  void access() {
    std::vector<const isa::Entry*> entries;
    for (const isa::Entry& e : isa::table())
      if (e.file == "memory" && (e.family == Family::load || e.family == Family::store || e.family == Family::atomic ||
                                 e.family == Family::reduction))
        entries.push_back(&e);
    std::string spelling;
    while (spelling.empty()) {
      spelling = spelling_of(*entries[below(entries.size())]);
      const auto s = isa::lookup(spelling.empty() ? "nothing" : spelling, kPtx, isa::target_named(program_.target));
      if (!s || !can_access(*s)) spelling.clear();
    }
    const auto s = isa::lookup(spelling, kPtx, isa::target_named(program_.target));
    const int parts = s->has(Word::w_v2) ? 2 : s->has(Word::w_v4) ? 4 : 1;
    const Type type = s->form.type();
    const bool loads = s->entry->family == Family::load;
    const std::string place = address(*s, static_cast<std::size_t>(isa::bytes(type) * parts));
    std::set<std::string> taken;
    const Type held = parts > 1 && isa::bits(type) == 8 ? Type::b16 : type; // a vector's registers have one width
    const auto value = [&](bool relaxed) {
      std::set<std::string>* const taken_by_load = loads ? &taken : nullptr;
      return parts == 1 ? any(held, relaxed, taken_by_load) : "{" + elements(held, parts, taken_by_load) + "}";
    };
    std::string text = guard() + spelling + " ";
    switch (s->entry->family) {
    case Family::load: text += value(true) + ", " + place; break;
    case Family::store: text += place + ", " + value(true); break;
    case Family::atomic: text += (one_in(8) ? "_" : value(false)) + ", " + place + ", " + value(false); break;
    default: text += place + ", " + value(false);
    }
    if (s->has(Word::w_cas)) text += ", " + value(false);
    add(text + ";");
  }

  std::size_t length_;
  std::mt19937_64 random_;
  const std::vector<Offer>& offers_;
  Program program_;
  bool calm_ = false;
  std::size_t labels_ = 0, passed_ = 0;
  int loops_ = 0;
};

} // namespace

Program generate(std::uint64_t number, std::size_t length) { return Generator(number, length).run(); }

std::set<std::string> spellings() {
  std::set<std::string> all;
  for (std::size_t target = 0; target < std::size(kTargets); ++target)
    for (const Offer& offer : offers(target)) all.insert(offer.text);
  return all;
}

std::uint64_t programs_of_all_spellings() {
  std::size_t most = 0;
  for (std::size_t target = 0; target < std::size(kTargets); ++target) most = std::max(most, offers(target).size());
  return std::size(kTargets) * (most / kSpellingsInTurn + 1);
}

} // namespace warplens::fuzz
