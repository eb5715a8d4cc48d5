// SPDX-License-Identifier: Apache-2.0
#include "tests/exec/tensor_products.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

namespace warplens::tests {

ElementType element_type(const std::string& name) {
  for (const ElementType& t : {ElementType{"f16", 16, 0x3c00, 0x4000, 0x8000, 0},
                               {"bf16", 16, 0x3f80, 0x4000, 0x8000, 1},
                               {"tf32", 32, 0x3f800000, 0x40000000, 0x80000000, 2},
                               {"u8", 8, 1, 2, 0, 0},
                               {"s8", 8, 1, 2, 0, 1},
                               {"e4m3", 8, 0x38, 0x40, 0x80, 0},
                               {"e5m2", 8, 0x3c, 0x40, 0x80, 1},
                               {"e2m3", 6, 0x08, 0x10, 0x20, 3},
                               {"e3m2", 6, 0x0c, 0x10, 0x20, 4},
                               {"e2m1", 4, 0x2, 0x4, 0x8, 5},
                               {"packed", 4, 0x2, 0x4, 0x8, 1}})
    if (name == t.name) return t;
  throw std::runtime_error("no type " + name);
}

namespace {

constexpr int kUnitBits = 128;

std::uint32_t code(const ElementType& t, int value) {
  if (t.sign == 0) return static_cast<std::uint32_t>(value) & 0xff; // integers
  const std::uint32_t magnitude = value == 0 ? 0 : std::abs(value) == 1 ? t.one : t.two;
  return magnitude | (value < 0 ? t.sign : 0);
}

bool is_packed(const ElementType& t) { return std::string(t.name) == "packed"; }
int bits_in_row(const ElementType& t) { return is_packed(t) ? 4 : t.bits < 8 ? 8 : t.bits; }

// Some bits of words.
void put_bits(std::uint32_t* words, int at, int count, std::uint32_t value) {
  for (int i = 0; i < count; ++i) {
    std::uint32_t& w = words[(at + i) / 32];
    const std::uint32_t bit = 1u << (at + i) % 32;
    w = (value >> i & 1) != 0 ? w | bit : w & ~bit;
  }
}

int span_of(std::uint64_t mode) { return mode == 0 ? 0 : mode <= 2 ? 128 : mode == 4 ? 64 : 32; }

// Of a number that is exact in 11 bits.
std::uint32_t half_code(double value) {
  if (value == 0) return 0;
  int exponent = 0;
  const double fraction = std::frexp(std::abs(value), &exponent); // 1/2 to 1
  const auto bits = static_cast<std::uint32_t>((fraction * 2 - 1) * 1024);
  return (value < 0 ? 0x8000u : 0u) | static_cast<std::uint32_t>(exponent + 14) << 10 | bits;
}

} // namespace

std::uint32_t TensorForm::descriptor() const {
  const ElementType of_a = element_type(a), of_b = element_type(b);
  std::uint32_t bits = more_bits | of_a.number << 7 | of_b.number << 10 | static_cast<std::uint32_t>(n / 8) << 17;
  if (sparse()) bits |= 1u << 2;
  if (k == 96) bits |= 1u << 31;
  if (negate_a) bits |= 1u << 13;
  if (negate_b) bits |= 1u << 14;
  if (a_transposed) bits |= 1u << 15;
  if (b_transposed) bits |= 1u << 16;
  if (scales() != 0) return bits | static_cast<std::uint32_t>(m / 128) << 27 | (scales_with_fraction ? 0u : 1u << 23);
  return bits | static_cast<std::uint32_t>(m / 16) << 24 | (d == "f16" ? 0u : d == "s32" ? 2u : 1u) << 4;
}

TensorProductTest::TensorProductTest(const TensorForm& form, unsigned seed) : form_(form), random_(seed) {
  blocks_.resize(form.pair() ? 2 : 1);
  for (Block& b : blocks_) b.tensor.assign(std::size_t{kLanes} * kColumns, 0xdeadbeef);
}

int TensorProductTest::parts() const {
  return form_.has(".ws") || (form_.pair() && !form_.sparse()) ? kLanes / rows() : 1;
}

// 9.7.16.10.5, layouts A to G.
std::pair<std::uint32_t, int> TensorProductTest::place_of_d(int row, int n) const {
  const int each = form_.n / parts();
  if (parts() != 1) return {static_cast<std::uint32_t>(n / each * rows() + row), n % each};
  if (rows() == 64) return {form_.d_lane + static_cast<std::uint32_t>(row / 16 * 32 + row % 16), n};
  return {static_cast<std::uint32_t>(row), n};
}
std::vector<std::uint32_t> TensorProductTest::lanes_of_row(int row) const {
  std::vector<std::uint32_t> lanes;
  for (int part = 0; part < parts(); ++part) lanes.push_back(place_of_d(row, part * form_.n / parts()).first);
  return lanes;
}

std::uint64_t TensorProductTest::shared_descriptor(int at, bool transposed, int rows, int k_stored,
                                                   const ElementType& type) const {
  const int span = span_of(form_.swizzling);
  std::uint64_t leading = 0, stride = 0;
  if (transposed && span == 0)
    stride = 128 * static_cast<std::uint64_t>(k_stored / 8), leading = 128;
  else if (transposed)
    leading = static_cast<std::uint64_t>(k_stored * span),
    stride = (form_.swizzling == 1 ? 4u : 8u) * static_cast<unsigned>(span);
  else if (span == 0)
    leading = 128 * static_cast<std::uint64_t>(rows / 8), stride = 128;
  else
    stride = 8 * static_cast<std::uint64_t>(span);
  (void)type;
  if (form_.continued) leading = static_cast<std::uint64_t>(at == kB ? kOtherB : at), at += kBegin;
  return static_cast<std::uint64_t>(at / 16) | leading / 16 << 16 | stride / 16 << 32 | std::uint64_t{1} << 46 |
         std::uint64_t{form_.continued} << 52 | form_.swizzling << 61;
}

void TensorProductTest::put_shared(int block, int at, bool transposed, int rows, int k_stored, int row, int k,
                                   const ElementType& type, int value) {
  const int span = span_of(form_.swizzling), width = bits_in_row(type);
  const int along = (transposed ? row : k) * width; // bits
  int bit = along % kUnitBits, byte = at;
  if (type.bits < 8 && !is_packed(type)) bit = (transposed ? row : k) % 16 * type.bits;
  const int unit = along / kUnitBits;
  if (transposed && span == 0)
    byte += unit * 128 * (k_stored / 8) + k % 8 * 16 + k / 8 * 128;
  else if (transposed) {
    const int lines = form_.swizzling == 1 ? 4 : 8;
    byte += unit * 16 % span + unit * 16 / span * k_stored * span + k % lines * span + k / lines * lines * span;
  } else if (span == 0)
    byte += row % 8 * 16 + row / 8 * 128 + unit * 128 * (rows / 8);
  else if (const int in_chunk = kBegin + unit * 16; form_.continued)
    byte = (in_chunk < 128 || at != kB ? at : kOtherB) + row * 128 + in_chunk % 128;
  else
    byte += row % 8 * span + row / 8 * 8 * span + unit * 16;
  if (form_.swizzling == 1)
    byte ^= (byte >> 7 & 3) << 5;
  else if (span != 0)
    byte ^= (byte >> 7) << 4 & (span - 16);
  put_bits(blocks_[static_cast<std::size_t>(block)].shared.data() + byte / 4, bit, type.bits, code(type, value));
}

void TensorProductTest::put_a(int block, int row, const std::vector<int>& kept,
                              const std::vector<std::uint32_t>& metadata) {
  const ElementType type = element_type(form_.a);
  const int width = bits_in_row(type);
  for (int k = 0; k < static_cast<int>(kept.size()); ++k) {
    if (!form_.a_in_tensor_memory) {
      put_shared(block, 0, form_.a_transposed, rows(), static_cast<int>(kept.size()), row, k, type,
                 kept[static_cast<std::size_t>(k)]);
      continue;
    }
    const std::uint32_t bits = code(type, kept[static_cast<std::size_t>(k)]) << (type.bits == 4 && width == 8 ? 2 : 0);
    for (const std::uint32_t lane : lanes_of_row(row)) put_bits(&word(block, lane, kA), k * width, width, bits);
  }
  for (int g = 0; g < static_cast<int>(metadata.size()); ++g)
    for (const std::uint32_t lane : lanes_of_row(row)) {
      if (width <= 8) {
        put_bits(&word(block, lane, kMetadata), 4 * g, 4, metadata[static_cast<std::size_t>(g)]);
      } else { // of 16 rows, the halves of K are in eight lanes each
        const std::uint32_t of = lane / 16 * 16 + lane % 8 + 8 * static_cast<std::uint32_t>(g / 4);
        put_bits(&word(block, of, kMetadata + static_cast<int>(form_.more_bits & 3)),
                 static_cast<int>(lane % 16 / 8) * 16 + g % 4 * 4, 4, metadata[static_cast<std::size_t>(g)]);
      }
    }
}

void TensorProductTest::fill() {
  const ElementType of_a = element_type(form_.a), of_b = element_type(form_.b);
  const auto any = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); };
  const auto element = [&](const ElementType& t) { return std::string(t.name) == "u8" ? any(0, 2) : any(-2, 2); };
  const int group = of_a.bits == 32 ? 2 : is_packed(of_a) ? 8 : 4, m = form_.m;
  a_.assign(static_cast<std::size_t>(m), std::vector<int>(static_cast<std::size_t>(form_.k)));
  for (int i = 0; i < m; ++i) {
    std::vector<int>& row = a_[static_cast<std::size_t>(i)];
    std::vector<int> kept;
    std::vector<std::uint32_t> metadata;
    for (int k = 0; k < form_.k; k += form_.sparse() ? group : 1) {
      if (!form_.sparse()) {
        kept.push_back(row[static_cast<std::size_t>(k)] = element(of_a));
        continue;
      }
      constexpr std::uint32_t kPairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0x6, 0xe};
      const std::uint32_t which = group == 2 ? (any(0, 1) != 0 ? 0xeu : 0x4u) : kPairs[any(0, 6)];
      metadata.push_back(which);
      for (int e = 0; e < group / 2; ++e) {
        const int to = group == 2   ? static_cast<int>(which & 3) / 2
                       : group == 8 ? static_cast<int>(which >> (e & 2) & 3) * 2 + (e & 1)
                                    : static_cast<int>(which >> 2 * e & 3);
        kept.push_back(row[static_cast<std::size_t>(k + to)] = element(of_a));
      }
    }
    put_a(i / rows(), i % rows(), kept, metadata);
  }
  const int stored = form_.n + shift, each = stored / static_cast<int>(blocks_.size());
  b_.assign(static_cast<std::size_t>(stored), std::vector<int>(static_cast<std::size_t>(form_.k)));
  for (int j = 0; j < stored; ++j)
    for (int k = 0; k < form_.k; ++k)
      put_shared(j / each, kB, form_.b_transposed, (each + 15) / 16 * 16, form_.k, j % each, k, of_b,
                 b_[static_cast<std::size_t>(j)][static_cast<std::size_t>(k)] = element(of_b));
  d_.assign(static_cast<std::size_t>(m), std::vector<double>(static_cast<std::size_t>(form_.n)));
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < form_.n; ++j) {
      const int value = form_.d_base + any(-8, 8);
      d_[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = value;
      const auto [lane, column] = place_of_d(i % rows(), j);
      word(i / rows(), lane, column) = form_.d == "s32"   ? static_cast<std::uint32_t>(value)
                                       : form_.d == "f16" ? half_code(value)
                                                          : std::bit_cast<std::uint32_t>(static_cast<float>(value));
    }
  // Scales: powers of two from 1/2 to 2; each 32 lanes have all.
  const auto scale = [&](std::uint32_t& to, int byte) {
    const int exponent = any(-1, 1);
    const auto bits = static_cast<std::uint32_t>(form_.scales_with_fraction ? (exponent + 7) << 3 : exponent + 127);
    put_bits(&to, 8 * byte, 8, bits);
    return std::ldexp(1.0, exponent);
  };
  const int first_a = static_cast<int>(form_.more_bits >> 29 & 3), first_b = static_cast<int>(form_.more_bits >> 4 & 3);
  a_scales_.resize(static_cast<std::size_t>(m)), b_scales_.resize(static_cast<std::size_t>(form_.n));
  for (int i = 0; i < m && form_.scales() != 0; ++i)
    for (int s = 0; s < form_.scales(); ++s) {
      const int block = i / rows(), row = i % rows();
      const int column = kScalesOfA + row / 32 + (first_a + s) / 4 * 4;
      std::uint32_t& first = word(block, static_cast<std::uint32_t>(row % 32), column);
      a_scales_[static_cast<std::size_t>(i)].push_back(scale(first, (first_a + s) % 4));
      for (std::uint32_t q = 1; q < 4; ++q) word(block, 32 * q + static_cast<std::uint32_t>(row % 32), column) = first;
    }
  const int in_part = form_.n / parts();
  for (int j = 0; j < form_.n && form_.scales() != 0; ++j)
    for (int s = 0; s < form_.scales(); ++s) {
      const int local = j % in_part;
      const auto lane = static_cast<std::uint32_t>(j / in_part * rows() % 128 + local % 32);
      const int column = kScalesOfB + local / 32 + (first_b + s) / 4 * ((form_.n + 127) / 128 * 4 / parts());
      std::uint32_t& first = word(0, lane, column);
      b_scales_[static_cast<std::size_t>(j)].push_back(scale(first, (first_b + s) % 4));
      for (int block = 0; block < static_cast<int>(blocks_.size()); ++block)
        for (int l = 0; l < (parts() == 1 ? 128 : rows()); l += 32)
          word(block, lane + static_cast<std::uint32_t>(l), column) = first;
    }
}

std::string TensorProductTest::kernel() const {
  const ElementType of_a = element_type(form_.a), of_b = element_type(form_.b);
  const int stored_a = form_.sparse() ? form_.k / 2 : form_.k,
            n_stored = (form_.n + shift) / static_cast<int>(blocks_.size());
  const std::string group = form_.pair() ? ".cta_group::2" : ".cta_group::1";
  const auto number = [](auto x) { return std::to_string(x); };
  std::string lanes;
  for (int i = 0; form_.masks_lanes && i < (form_.pair() ? 8 : 4); ++i)
    lanes += (i == 0 ? "{" : ", ") + number(form_.masked_lanes[static_cast<std::size_t>(i)]);
  if (!lanes.empty()) lanes += "}, ";
  const std::string meet =
      form_.pair() ? "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n" : "bar.sync 0;\n";
  return ".version 9.0\n.target " + form_.target +
         "\n.address_size 64\n"
         ".shared .align 1024 .b8 s[24576];\n.shared .align 8 .b64 object;\n.shared .b32 place;\n"
         ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
         ".reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .pred %p<10>; .reg .b16 %h<2>;\n"
         "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n"
         "mul.wide.u32 %rd3, %r2, 286720; add.u64 %rd1, %rd1, %rd3;\n" // bytes of a block: 24576 and 262144
         "mul.wide.u32 %rd3, %r2, 262144; add.u64 %rd2, %rd2, %rd3;\n"
         "mov.u32 %r10, s; setp.eq.u32 %p1, %r1, 0; setp.lt.u32 %p2, %r1, 32;\n"
         "@%p1 mbarrier.init.shared::cta.b64 [object], 1;\n"
         "@%p2 tcgen05.alloc" +
         group +
         ".sync.aligned.shared::cta.b32 [place], 512;\n"
         "shl.b32 %r3, %r1, 2;\n"
         "load:\n"
         "cvt.u64.u32 %rd4, %r3; add.u64 %rd4, %rd1, %rd4; ld.global.b32 %r4, [%rd4]; add.u32 %r5, %r10, %r3;\n"
         "st.shared.b32 [%r5], %r4; add.u32 %r3, %r3, 512; setp.lt.u32 %p3, %r3, 24576; @%p3 bra load;\n"
         "bar.sync 0; ld.shared.b32 %r20, [place]; mul.wide.u32 %rd5, %r1, 2048; add.u64 %rd6, %rd1, %rd5;\n"
         "shr.u32 %r6, %r1, 5; shl.b32 %r6, %r6, 21; add.u32 %r6, %r6, %r20; mov.u32 %r7, 0;\n"
         "fill:\n"
         "ld.global.b32 %r4, [%rd6+24576]; add.u64 %rd6, %rd6, 4; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r6], {%r4};\n"
         "add.u32 %r6, %r6, 1; add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 512; @%p3 bra fill;\n"
         "tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync; fence.proxy.async;\n" +
         meet +
         "tcgen05.fence::after_thread_sync;\n"
         "mov.u64 %rd10, " +
         number(shared_descriptor(0, form_.a_transposed, rows(), stored_a, of_a)) +
         ";\n"
         "mov.u64 %rd11, " +
         number(shared_descriptor(kB, form_.b_transposed, (n_stored + 15) / 16 * 16, form_.k, of_b)) +
         ";\n"
         "mov.b32 %r22, " +
         number(form_.descriptor()) + "; setp.ne.u32 %p4, " + number(form_.accumulate ? 1 : 0) +
         ", 0;\n"
         "add.u32 %r20, %r20, " +
         number(form_.d_lane << 16) + "; add.u32 %r21, %r20, " + number(kA) +
         ";\n"
         "setp.eq.and.u32 %p5, %r2, 0, %p1;\n" +
         form_.before +
         "@!%p5 bra wait;\n"
         "tcgen05.mma" +
         form_.words + " [%r20], " + (form_.a_in_tensor_memory ? "[%r21]" : "%rd10") + ", %rd11, " +
         (form_.sparse() ? "[%r20+" + number(kMetadata) + "], " : "") + "%r22, " + lanes +
         (form_.scales() != 0 ? "[%r20+" + number(kScalesOfA) + "], [%r20+" + number(kScalesOfB) + "], " : "") + "%p4" +
         form_.operands + ";\n" +
         (form_.pair()
              ? "mov.b16 %h0, 3; mov.u32 %r8, object;\n"
                "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r8], %h0;\n"
              : "mov.u64 %rd7, object; cvta.shared.u64 %rd7, %rd7;\n"
                "tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%rd7];\n") +
         "wait:\nmbarrier.try_wait.parity.shared::cta.b64 %p6, [object], 0; @!%p6 bra wait;\n"
         "bar.sync 0; tcgen05.fence::after_thread_sync; ld.shared.b32 %r20, [place]; add.u64 %rd6, %rd2, %rd5;\n"
         "shr.u32 %r6, %r1, 5; shl.b32 %r6, %r6, 21; add.u32 %r6, %r6, %r20; mov.u32 %r7, 0;\n"
         "store:\n"
         "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r6]; tcgen05.wait::ld.sync.aligned;\n"
         "st.global.b32 [%rd6], %r4; add.u64 %rd6, %rd6, 4;\n"
         "add.u32 %r6, %r6, 1; add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 512; @%p3 bra store;\n" +
         meet + "@%p2 tcgen05.dealloc" + group + ".sync.aligned.b32 %r20, 512;\nret;\n}\n";
}

std::string TensorProductTest::run() {
  fill();
  std::vector<std::uint32_t> in;
  for (const Block& b : blocks_) {
    in.insert(in.end(), b.shared.begin(), b.shared.end());
    in.insert(in.end(), b.tensor.begin(), b.tensor.end());
  }
  Emulated machine(kernel(), "product.ptx");
  Emulated::Request request;
  request.kernel = "k";
  request.shape.grid[0] = request.shape.cluster[0] = static_cast<std::uint32_t>(blocks_.size());
  request.shape.block[0] = kLanes;
  const std::size_t words = blocks_.size() * kLanes * kColumns;
  const std::uint64_t from = machine.buffer(in), to = machine.buffer(std::vector<std::uint32_t>(words));
  request.arguments = {{from, 8}, {to, 8}};
  std::string trap = machine.run(request);
  const auto* const p = reinterpret_cast<const std::uint32_t*>(to);
  out_.assign(p, p + words);
  return trap;
}

std::string TensorProductTest::differences() const {
  std::vector<std::uint32_t> expected;
  for (const Block& b : blocks_) expected.insert(expected.end(), b.tensor.begin(), b.tensor.end());
  for (int i = 0; i < form_.m; ++i)
    for (int j = 0; j < form_.n; ++j) {
      const auto at = static_cast<std::size_t>(i), column_of_d = static_cast<std::size_t>(j);
      const bool zero = std::find(zero_columns.begin(), zero_columns.end(), j) != zero_columns.end();
      double sum = form_.accumulate ? d_[at][column_of_d] * d_factor_ : 0;
      for (int k = 0; k < form_.k && !zero; ++k) {
        const auto depth = static_cast<std::size_t>(k);
        const std::size_t row_of_a = shifted_rows && i % rows() != 0 ? at - 1 : at;
        double product = a_[row_of_a][depth] * b_[column_of_d + static_cast<std::size_t>(shift)][depth];
        if (form_.negate_a != form_.negate_b) product = -product;
        if (form_.scales() != 0) {
          const std::size_t s = depth * static_cast<std::size_t>(form_.scales()) / static_cast<std::size_t>(form_.k);
          product *= a_scales_[at][s] * b_scales_[column_of_d][s];
        }
        sum += product;
      }
      const int block = i / rows();
      const auto [lane, column] = place_of_d(i % rows(), j);
      if ((form_.masked_lanes[static_cast<std::size_t>(block * 4) + lane / 32] >> lane % 32 & 1) != 0) continue;
      expected[(static_cast<std::size_t>(block) * kLanes + lane) * kColumns + static_cast<std::size_t>(column)] =
          form_.d == "s32" ? static_cast<std::uint32_t>(static_cast<std::int32_t>(std::clamp(sum, -0x1p31, 0x1p31 - 1)))
          : form_.d == "f16" ? half_code(sum)
                             : std::bit_cast<std::uint32_t>(static_cast<float>(sum) + 0.0f);
    }
  std::string text;
  int count = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (expected[i] != out_[i] && ++count <= 5)
      text += "block " + std::to_string(i / kLanes / kColumns) + " lane " + std::to_string(i / kColumns % kLanes) +
              " column " + std::to_string(i % kColumns) + ": " + std::to_string(out_[i]) + " instead of " +
              std::to_string(expected[i]) + "\n";
  return count == 0 ? "" : std::to_string(count) + " differences\n" + text;
}

void expect_product(const TensorForm& form) {
  TensorProductTest test(form);
  ASSERT_EQ(test.run(), "") << form.words;
  EXPECT_EQ(test.differences(), "") << form.words << " M " << form.m << " N " << form.n << " " << form.a << " "
                                    << form.b;
}

} // namespace warplens::tests
