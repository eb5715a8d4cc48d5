#include "tests/exec/lane_machine.hpp"

#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

namespace warplens::exec {

namespace {

constexpr std::uint32_t kRowBytes = 8 * kWarpSize;
constexpr std::uint32_t kMemory = sizeof(Warp) + 64 * kRowBytes;

int bytes_of_register(const std::string& name) {
  switch (name[1]) {
  case 'h': return 2;
  case 'r':
  case 'f': return 4;
  case 'l':
  case 'd': return 8;
  default: return 0; // a predicate
  }
}

std::uint64_t read(const void* row, int bytes, int lane) {
  std::uint64_t value = 0;
  std::memcpy(&value, static_cast<const char*>(row) + lane * bytes, static_cast<std::size_t>(bytes));
  return value;
}
void write(void* row, int bytes, int lane, std::uint64_t value) {
  std::memcpy(static_cast<char*>(row) + lane * bytes, &value, static_cast<std::size_t>(bytes));
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text) {
    if (c == ' ' || c == ',' || c == '\n') {
      if (!word.empty()) words.push_back(word);
      word.clear();
    } else {
      word += c;
    }
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

} // namespace

LaneMachine::LaneMachine(const Level& level) : level_(level), next_row_(kRegisterFile) {
  void* memory = std::aligned_alloc(64, kMemory);
  std::memset(memory, 0, kMemory);
  warp_ = new (memory) Warp;
  always_ = fresh_row();
  carry_ = fresh_row();
  predicate(warp_, always_) = kFullMask;
  activate(kFullMask);
}
LaneMachine::~LaneMachine() { std::free(warp_); }

void LaneMachine::activate(Mask mask) { warp_->active = mask; }

std::uint32_t LaneMachine::fresh_row() {
  const std::uint32_t row = next_row_;
  next_row_ += kRowBytes;
  if (next_row_ > kMemory) std::abort();
  return row;
}

std::uint32_t LaneMachine::offset_of(const std::string& name) {
  const auto [at, added] = registers_.try_emplace(name, 0);
  if (added) at->second = fresh_row();
  return at->second;
}

void LaneMachine::set(const std::string& name, const LaneValues& values) {
  const int bytes = bytes_of_register(name);
  void* const row_of_register = row<std::byte>(warp_, offset_of(name));
  for (int i = 0; i < kWarpSize; ++i)
    if (bytes != 0)
      write(row_of_register, bytes, i, values[i]);
    else if (Mask& mask = predicate(warp_, offset_of(name)); values[i] != 0)
      mask |= Mask{1} << i;
    else
      mask &= ~(Mask{1} << i);
}

LaneValues LaneMachine::get(const std::string& name) {
  const int bytes = bytes_of_register(name);
  LaneValues values{};
  for (int i = 0; i < kWarpSize; ++i)
    values[i] = bytes != 0 ? read(row<std::byte>(warp_, offset_of(name)), bytes, i)
                           : predicate(warp_, offset_of(name)) >> i & 1;
  return values;
}

std::uint32_t LaneMachine::constant(const std::string& text, isa::Type type) {
  const std::uint32_t offset = fresh_row();
  const auto value = static_cast<std::uint64_t>(std::strtoll(text.c_str(), nullptr, 0));
  for (int i = 0; i < kWarpSize; ++i) write(row<std::byte>(warp_, offset), isa::bytes(type), i, value);
  return offset;
}

// A register may be wider than the type of a ~ operand: its low part counts.
std::uint32_t LaneMachine::narrowed_source(std::uint32_t source, int from, int to) {
  if (from == to) return source;
  const std::uint32_t copy = fresh_row();
  for (int i = 0; i < kWarpSize; ++i)
    write(row<std::byte>(warp_, copy), to, i, read(row<std::byte>(warp_, source), from, i));
  return copy;
}

// … and a result is zero- or sign-extended to it.
void LaneMachine::widen_destination(std::uint32_t exact, isa::Type type, std::uint32_t destination, int bytes) {
  for (int i = 0; i < kWarpSize; ++i) {
    if ((warp_->active >> i & 1) == 0) continue;
    std::uint64_t value = read(row<std::byte>(warp_, exact), isa::bytes(type), i);
    const int unused = 64 - isa::bits(type);
    if (isa::is_signed(type)) value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
    write(row<std::byte>(warp_, destination), bytes, i, value);
  }
}

std::string LaneMachine::run(std::string_view statement) {
  const std::vector<std::string> words = split(statement);
  const auto spelling = isa::lookup(words[0], 90, 90);
  if (!spelling) return "not in the table";
  const isa::Entry& entry = *spelling->entry;
  if (entry.family != isa::Family::lane) return "not lane by lane";
  const std::uint32_t mark = next_row_;
  const int register_count = static_cast<int>(registers_.size());
  Op op;
  op.run = level_.lanes()[spelling->entry_index][spelling->variant];
  op.guard = always_;
  int destinations = 0, sources = 0;
  std::size_t next = 1;
  std::uint32_t exact = 0, wide = 0;
  isa::Type exact_type{};
  int wide_bytes = 0;
  for (int i = 0; i < entry.operands.count; ++i) {
    const isa::OperandSpec& spec = entry.operands.items[i];
    const isa::Type type = spelling->types[i];
    if (spec.kind == isa::OperandClass::carry) {
      (spec.destination ? op.dst[destinations++] : op.src[sources++]) = carry_;
      continue;
    }
    if (spec.negatable) return "boolean operation of the decoder";
    const std::string& operand = words.at(next++);
    const bool pair = operand.find('|') != std::string::npos;
    if (pair && !spec.pair) return "a pair where none is allowed";
    if (pair) {
      if (type == isa::Type::pred && isa::bits(spelling->form.type()) == 32 && isa::is_float(spelling->form.type()) &&
          spelling->form.type() != isa::Type::f32) { // f16x2 and bf16x2 have a result per half
        op.dst[0] = offset_of(operand.substr(0, operand.find('|')));
        op.dst[1] = offset_of(operand.substr(operand.find('|') + 1));
        destinations = 2;
        continue;
      }
      return "second result of the decoder";
    }
    if (operand[0] != '%') {
      op.src[sources++] = constant(operand, type);
      continue;
    }
    const int bytes = bytes_of_register(operand);
    const std::uint32_t offset = offset_of(operand);
    const bool same = type == isa::Type::pred ? bytes == 0 : bytes == isa::bytes(type);
    if (!same && !spec.relaxed) return "a register of another width";
    if (!spec.destination) {
      op.src[sources++] = same ? offset : narrowed_source(offset, bytes, isa::bytes(type));
    } else if (same) {
      op.dst[destinations++] = offset;
    } else {
      exact = op.dst[destinations++] = fresh_row();
      exact_type = type;
      wide = offset;
      wide_bytes = bytes;
    }
  }
  if (next != words.size()) return "operands left over";
  if (op.run(&op, warp_) != &op + 1) return "the handler stopped";
  if (wide != 0) widen_destination(exact, exact_type, wide, wide_bytes);
  if (register_count == static_cast<int>(registers_.size())) next_row_ = mark; // temporaries are free again
  return {};
}

} // namespace warplens::exec
