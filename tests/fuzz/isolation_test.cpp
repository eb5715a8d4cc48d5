// SPDX-License-Identifier: Apache-2.0
// A kernel cannot read or write memory of the emulator: each instruction of the table that takes an address runs with
// addresses of the test's own memory and of the borders of everything that a kernel may access.
#include "tests/fuzz/ptx_statements.hpp"
#include "tests/hardware/emulated.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace warplens::fuzz {
namespace isolation_test {

constexpr int kSpellings = 3; // of each entry
constexpr std::size_t kSecretBytes = 8192;
constexpr std::uint32_t kSecret = 0x5ec2e75eu;
constexpr std::uint64_t kReached = 0x7ea54ed; // what a kernel stores after the instruction

bool takes_address(const isa::Entry& entry) {
  for (int i = 0; i < entry.operands.count; ++i) {
    const isa::OperandClass kind = entry.operands.items[i].kind;
    if (kind == isa::OperandClass::address || kind == isa::OperandClass::tensor || kind == isa::OperandClass::texture)
      return true;
  }
  return false;
}

/// Whether an access to an address outside of all memory must end the kernel.
bool must_trap(const RandomSpelling& s) {
  using isa::Family;
  const Family f = s.entry->family;
  const isa::Space space = s.form.space();
  return (f == Family::load || f == Family::store || f == Family::atomic || f == Family::reduction) &&
         (space == isa::Space::generic || space == isa::Space::global);
}

/// The instruction alone in a kernel; %rd0 is the address.
class Subject {
public:
  Subject(Random& random, const isa::Entry& entry) : spelling(random_spelling(random, entry)) {
    const std::string begin = R"(.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 address, .param .u64 result) {
  .reg .pred %p<4>; .reg .b16 %h<6>; .reg .b32 %r<10>; .reg .b64 %rd<12>; .reg .f32 %f<6>; .reg .f64 %d<4>; .reg .b128 %q<3>;
  .shared .align 128 .b8 sh[1024];
  ld.param.u64 %rd0, [address];
  ld.param.u64 %rd11, [result];
)";
    PtxNames names = names_in(begin);
    names.address = "%rd0";
    std::erase(names.registers["b64"], "%rd0");
    std::erase(names.registers["b64"], "%rd11");
    statement = random_statement(random, names, spelling);
    while (statement.front() == '@') statement = random_statement(random, names, spelling);
    text = begin + "  " + statement + "\n  st.global.u64 [%rd11], " + std::to_string(kReached) + ";\n  ret;\n}\n";
  }
  RandomSpelling spelling;
  std::string statement, text;
};

/// Memory that no kernel may access, and what lies around what it may access.
class Borders {
public:
  Borders() : secret_(kSecretBytes / 4, kSecret) {}
  [[nodiscard]] std::vector<std::uint64_t> addresses(std::uint64_t buffer, std::uint64_t bytes) const {
    const auto secret = reinterpret_cast<std::uint64_t>(secret_.data());
    const auto stack = reinterpret_cast<std::uint64_t>(&secret);
    std::vector<std::uint64_t> list{secret + 4096,         secret + 4097, stack & ~std::uint64_t{15}, 0, 8,
                                    ~std::uint64_t{0} - 15};
    for (const std::uint64_t border :
         {buffer, buffer + bytes, std::uint64_t{1} << 32, std::uint64_t{1} << 47, std::uint64_t{1} << 63})
      for (const std::uint64_t back : {128u, 16u, 1u, 0u}) list.push_back(border - back);
    return list;
  }
  [[nodiscard]] bool is_secret(std::uint64_t address) const {
    const auto begin = reinterpret_cast<std::uint64_t>(secret_.data());
    return address >= begin && address < begin + kSecretBytes;
  }
  [[nodiscard]] bool unchanged() const {
    return std::all_of(secret_.begin(), secret_.end(), [](std::uint32_t word) { return word == kSecret; });
  }

private:
  std::vector<std::uint32_t> secret_;
};

/// Runs the subject with each address. Returns whether it was accepted.
bool probe(const Subject& subject, const Borders& borders) {
  std::optional<tests::Emulated> machine;
  try {
    machine.emplace(subject.text, "isolation.ptx");
  } catch (const std::runtime_error&) {
    return false; // not every combination of words and operands is valid
  }
  const std::uint64_t buffer = machine->buffer(std::vector<std::uint32_t>(64, 0));
  const std::uint64_t result = machine->buffer({0, 0});
  for (const std::uint64_t address : borders.addresses(buffer, 256)) {
    std::memset(reinterpret_cast<void*>(result), 0, 8);
    tests::Emulated::Request request;
    request.kernel = "k";
    request.shape.block[0] = 32;
    request.arguments = {{address, 8}, {result, 8}};
    request.max_steps = 1000;
    const std::string problem = machine->run(request);
    EXPECT_TRUE(borders.unchanged()) << subject.statement << " with %rd0 = " << address << " wrote outside";
    if (must_trap(subject.spelling) && borders.is_secret(address)) {
      EXPECT_NE(problem, "") << subject.statement << " with %rd0 = " << address << " read outside";
    }
  }
  return true;
}

TEST(Isolation, NoInstructionReachesMemoryOfTheEmulator) {
  const Borders borders;
  Random random(1);
  std::size_t accepted = 0, trapping = 0;
  for (const isa::Entry& entry : isa::table()) {
    if (!takes_address(entry)) continue;
    for (int i = 0; i < kSpellings; ++i) {
      const Subject subject(random, entry);
      if (!probe(subject, borders)) continue;
      ++accepted;
      trapping += must_trap(subject.spelling) ? 1 : 0;
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(accepted, 300u) << "most combinations are valid";
  EXPECT_GT(trapping, 100u);
}

} // namespace isolation_test
} // namespace warplens::fuzz
