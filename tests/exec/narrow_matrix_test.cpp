// SPDX-License-Identifier: Apache-2.0
// Matrices of elements of 8 bits and less: ldmatrix and stmatrix with the layouts of the manual's figures (9.7.14.5.15,
// 9.7.14.5.16), and mma with .kind, compared with the exact sum where it needs no rounding, and with a program that
// follows docs/numerics.md where it does. Scales are where the manual has them (9.7.14.3).
#include "tests/hardware/emulated.hpp"

#include <gtest/gtest.h>

#include <random>

namespace warplens::tests {
namespace {

using Word = std::uint32_t;

constexpr const char* kHeader = ".version 8.8\n.target sm_120a\n.address_size 64\n";

std::string registers(char letter, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += (i == 0 ? "%" : ", %") + std::string(1, letter) + std::to_string(i);
  return text + "}";
}

std::vector<Word> run(const std::string& text, const std::vector<std::vector<Word>>& in, std::size_t out_words) {
  Emulated machine(text, "narrow.ptx");
  Emulated::Request request;
  request.kernel = "k";
  request.shape.block[0] = 32;
  for (const auto& words : in) request.arguments.push_back({machine.buffer(words), 8});
  const std::uint64_t out = machine.buffer(std::vector<Word>(out_words));
  request.arguments.push_back({out, 8});
  EXPECT_EQ(machine.run(request), "") << text;
  const auto* const p = reinterpret_cast<const Word*>(out);
  std::vector<Word> result(p, p + out_words);
  machine.free_buffers();
  return result;
}

// ---- ldmatrix, stmatrix

// Row i of 16 bytes has the address of lane i; the rows are in another order in memory.
int place_of_row(int lane) { return lane * 5 % 32; }

std::vector<Word> some_words(std::size_t count) {
  std::vector<Word> words(count);
  std::mt19937 random(7); // NOLINT: the same each time
  for (Word& w : words) w = static_cast<Word>(random());
  return words;
}

struct Load {
  const char* spelling;
  int registers;
  int bits;        ///< of an element in memory
  bool transposed; ///< matrices of 16 x 16
};

class LoadMatrix : public testing::TestWithParam<Load> {};

TEST_P(LoadMatrix, MovesElementsAsInTheFigures) {
  const Load& x = GetParam();
  std::string text =
      std::string(kHeader) +
      ".visible .entry k(.param .u64 a, .param .u64 d) {\n.shared .align 16 .b8 s[512];\n.reg .b32 %r<4>, %d<4>, "
      "%t, %n, %m; .reg .b64 %p;\nmov.u32 %t, %tid.x; mov.u32 %n, s; ld.param.u64 %p, [a]; mad.wide.u32 %p, %t, 16, "
      "%p;\nld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%p]; mad.lo.u32 %m, %t, 16, %n;\nst.shared.v4.b32 [%m], {%r0, "
      "%r1, %r2, %r3}; bar.warp.sync -1;\nmul.lo.u32 %t, %t, 5; and.b32 %t, %t, 31; mad.lo.u32 %m, %t, 16, %n;\n" +
      std::string(x.spelling) + " " + registers('d', x.registers) +
      ", [%m];\nld.param.u64 %p, [d]; mov.u32 %t, %tid.x; mad.wide.u32 %p, %t, 4, %p;\n";
  for (int i = 0; i < x.registers; ++i)
    text += "st.global.b32 [%p+" + std::to_string(128 * i) + "], %d" + std::to_string(i) + ";\n";
  const std::vector<Word> memory = some_words(128);
  const auto element = [&](int row, int column) { // of the rows in the order of the addresses
    const int at = place_of_row(row) * 128 + column * x.bits;
    Word value = 0;
    for (int b = 0; b < x.bits; ++b) value |= (memory[(at + b) / 32] >> (at + b) % 32 & 1) << b;
    return value;
  };
  const std::vector<Word> d = run(text + "ret;\n}\n", {memory}, static_cast<std::size_t>(32 * x.registers));
  for (int r = 0; r < x.registers; ++r)
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 4; ++i) {
        // Four consecutive columns of a row; of 16 rows, those of the second register are eight further on. The
        // transpose has them in a column.
        const Word wanted = x.transposed ? element(r / 2 * 16 + lane % 4 * 4 + i, lane / 4 + r % 2 * 8)
                                         : element(r * 8 + lane / 4, lane % 4 * 4 + i);
        EXPECT_EQ(d[r * 32 + lane] >> 8 * i & 0xff, wanted) << x.spelling << " " << r << " " << lane << " " << i;
      }
}

INSTANTIATE_TEST_SUITE_P(
    All, LoadMatrix,
    testing::Values(Load{"ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8", 2, 8, true},
                    Load{"ldmatrix.sync.aligned.m16n16.x2.trans.shared::cta.b8", 4, 8, true},
                    Load{"ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8x16.b6x16_p32", 2, 6, true},
                    Load{"ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8x16.b6x16_p32", 4, 6, true},
                    Load{"ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8x16.b4x16_p64", 2, 4, true},
                    Load{"ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8x16.b4x16_p64", 4, 4, true},
                    Load{"ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32", 1, 6, false},
                    Load{"ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b6x16_p32", 2, 6, false},
                    Load{"ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b6x16_p32", 4, 6, false},
                    Load{"ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64", 1, 4, false},
                    Load{"ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b4x16_p64", 2, 4, false},
                    Load{"ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b4x16_p64", 4, 4, false}));

TEST(StoreMatrix, StoresColumnsOfBytes) {
  for (const int count : {1, 2, 4}) {
    std::string text = std::string(kHeader) +
                       ".visible .entry k(.param .u64 a, .param .u64 d) {\n.shared .align 16 .b8 s[512];\n.reg .b32 "
                       "%r<4>, %t, %n, %m; .reg .b64 %p;\nmov.u32 %t, %tid.x; mov.u32 %n, s; ld.param.u64 %p, [a]; "
                       "mad.wide.u32 %p, %t, 4, %p;\n";
    for (int i = 0; i < count; ++i)
      text += "ld.global.b32 %r" + std::to_string(i) + ", [%p+" + std::to_string(128 * i) + "];\n";
    text += "mul.lo.u32 %t, %t, 5; and.b32 %t, %t, 31; mad.lo.u32 %m, %t, 16, %n;\nstmatrix.sync.aligned.m16n8.x" +
            std::to_string(count) + ".trans.shared.b8 [%m], " + registers('r', count) +
            ";\nbar.warp.sync -1; ld.param.u64 %p, [d]; mov.u32 %t, %tid.x; mad.wide.u32 %p, %t, 16, %p; mad.lo.u32 "
            "%m, %t, 16, %n;\nld.shared.v4.b32 {%r0, %r1, %r2, %r3}, [%m]; st.global.v4.b32 [%p], {%r0, %r1, %r2, "
            "%r3};\nret;\n}\n";
    const std::vector<Word> words = some_words(static_cast<std::size_t>(32 * count));
    const std::vector<Word> d = run(text, {words}, 128);
    for (int r = 0; r < count; ++r)
      for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < 4; ++i) { // as the elements of a product: rows g and g + 8, columns 2 t and 2 t + 1
          const int matrix_row = lane / 4 + i / 2 * 8, matrix_column = lane % 4 * 2 + i % 2;
          const int at = place_of_row(r * 8 + matrix_column) * 16 + matrix_row;
          EXPECT_EQ(d[at / 4] >> at % 4 * 8 & 0xff, words[r * 32 + lane] >> 8 * i & 0xff) << count << " " << lane;
        }
  }
}

} // namespace
} // namespace warplens::tests
