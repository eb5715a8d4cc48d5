// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/matrix/instruction_descriptor.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::exec {

namespace {

using ProductKind = TensorProductSite::Kind;

class DescriptorFields {
public:
  explicit DescriptorFields(std::uint32_t bits) : bits_(bits) {}
  [[nodiscard]] int operator()(int first, int width) const {
    return static_cast<int>(bits_ >> first & ((1u << width) - 1));
  }
  [[nodiscard]] bool flag(int bit) const { return (bits_ >> bit & 1) != 0; }
  /// The bits that must be 0: a message if they are not.
  [[nodiscard]] std::string reserved(std::initializer_list<std::pair<int, int>> ranges) const {
    for (const auto& [first, width] : ranges)
      if ((*this)(first, width) != 0)
        return width == 1 ? fmt::format("its bit {} must be 0", first)
                          : fmt::format("its bits {} to {} must be 0", first, first + width - 1);
    return {};
  }

private:
  std::uint32_t bits_;
};

bool is_packed_kind(ProductKind kind) { return kind == ProductKind::mxf4 || kind == ProductKind::mxf4nvf4; }
bool is_mixed_kind(ProductKind kind) { return kind == ProductKind::f8f6f4 || kind == ProductKind::mxf8f6f4; }

// The type of a factor; false: there is none with this number.
bool read_element(ProductKind kind, int number, MatrixElement& element) {
  using E = MatrixElement;
  if (kind == ProductKind::f16 && number <= 1) return element = number == 0 ? E::f16 : E::bf16, true;
  if (kind == ProductKind::tf32 && number == 2) return element = E::tf32, true;
  if (kind == ProductKind::i8 && number <= 1) return element = number == 0 ? E::u8 : E::s8, true;
  if (is_packed_kind(kind) && number == 1) return element = E::packed_e2m1, true;
  if (!is_mixed_kind(kind)) return false;
  switch (number) {
  case 0: return element = E::e4m3, true;
  case 1: return element = E::e5m2, true;
  case 3: return element = E::e2m3, true;
  case 4: return element = E::e3m2, true;
  case 5: return element = E::e2m1, true;
  default: return false;
  }
}

bool read_accumulator(ProductKind kind, int number, MatrixElement& element) {
  const bool halves = number == 0 && (kind == ProductKind::f16 || kind == ProductKind::f8f6f4);
  element = halves ? MatrixElement::f16 : kind == ProductKind::i8 ? MatrixElement::s32 : MatrixElement::f32;
  return halves || number == (kind == ProductKind::i8 ? 2 : 1);
}

constexpr int kDepthOfPacked = 64; // K of elements of 4 bits

// K: 32 bytes of a row of A; twice as much of a sparse one.
int depth_of(const TensorProductSite& site, const TensorProduct& p) {
  constexpr int kBits = 256;
  return kBits / bits(p.a) * (site.sparse ? 2 : 1);
}

// Table 39, and table 50 for N.
std::string wrong_shape(const TensorProductSite& site, const TensorProduct& p) {
  const bool scaled = site.scales != 0;
  const auto is_one_of = [](int x, std::initializer_list<int> list) {
    return std::find(list.begin(), list.end(), x) != list.end();
  };
  const bool m_fits = site.weights_stationary              ? is_one_of(p.m, {32, 64, 128})
                      : site.pair && scaled && site.sparse ? p.m == 256
                      : site.pair                          ? is_one_of(p.m, {128, 256})
                      : scaled                             ? p.m == 128
                                                           : is_one_of(p.m, {64, 128});
  if (!m_fits) return fmt::format("M = {} is not possible", p.m);
  const bool bytes_transposed = p.b_transposed && bits(p.b) == 8;
  const int least = site.pair ? 16 : 8;
  int step = bytes_transposed ? 2 * least : least;
  if (site.kind == ProductKind::i8 && (site.pair || p.n > 32)) step = 2 * least;
  const bool n_fits = site.weights_stationary ? is_one_of(p.n, {64, 128}) || (p.n == 256 && !site.sparse)
                                              : p.n >= step && p.n <= 256 && p.n % step == 0;
  return n_fits ? std::string{} : fmt::format("N = {} is not possible with M = {}", p.n, p.m);
}

std::string wrong_transposition(const TensorProductSite& site, const TensorProduct& p) {
  const auto is_wrong = [](MatrixElement e) {
    return bits(e) < 8 || e == MatrixElement::e2m3 || e == MatrixElement::e3m2 || e == MatrixElement::e2m1;
  };
  if (p.a_transposed && site.a_in_tensor_memory) return "A cannot be transposed in tensor memory";
  if ((p.a_transposed && is_wrong(p.a)) || (p.b_transposed && is_wrong(p.b)))
    return "elements of less than 8 bits cannot be transposed";
  return {};
}

std::string read_plain(const TensorProductSite& site, const DescriptorFields& field, TensorProduct& p) {
  if (std::string why = field.reserved({{6, 1}, {23, 1}, {29, 1}}); !why.empty()) return why;
  p.selector = field(0, 2);
  p.saturate = field.flag(3);
  p.m = field(24, 5) * 16;
  constexpr int kShifts[] = {0, 8, 16, 32};
  p.most_shift = kShifts[field(30, 2)];
  if (p.saturate && site.kind != ProductKind::i8) return "its bit 3 (saturation) is only for integers";
  if (!read_accumulator(site.kind, field(4, 2), p.d)) return fmt::format("D cannot have type {}", field(4, 2));
  if (p.d == MatrixElement::f16 && site.kind == ProductKind::f16 &&
      (p.a != MatrixElement::f16 || p.b != MatrixElement::f16))
    return "a D of .f16 needs factors of .f16";
  if (site.kind == ProductKind::i8 && (p.negate_a || p.negate_b)) return "integers cannot be negated";
  if (site.sparse && p.selector > 1) return fmt::format("sparsity selector {} is not supported", p.selector);
  if (site.sparse && p.selector != 0 && bits(p.a) == 8) return "the sparsity selector must be 0";
  return {};
}

std::string read_scaled(const TensorProductSite& site, const DescriptorFields& field, TensorProduct& p) {
  if (std::string why = field.reserved({{0, 2}, {3, 1}, {6, 1}, {24, 3}}); !why.empty()) return why;
  p.d = MatrixElement::f32;
  p.m = field(27, 2) * 128;
  p.a_scale = field(29, 2), p.b_scale = field(4, 2);
  p.scales_with_fraction = !field.flag(23);
  if (field.flag(31) && (!is_packed_kind(site.kind) || site.sparse)) return "its bit 31 must be 0";
  p.scales = site.scales;
  if (field.flag(31)) p.k = kLongDepth, p.scales = site.scales * kLongDepth / kDepthOfPacked;
  if (is_packed_kind(site.kind) && (p.a_transposed || p.b_transposed)) return "elements of 4 bits cannot be transposed";
  if (p.scales_with_fraction && (site.kind != ProductKind::mxf4nvf4 || site.scales != 4))
    return "scales of .ue4m3 need .kind::mxf4nvf4 with four scales";
  // Table 54: an odd number of scales begins at any byte, six at each second one.
  const int step = p.scales == 6 ? 2 : p.scales == 3 ? 1 : p.scales;
  for (const int first : {p.a_scale, p.b_scale})
    if (first % step != 0 || (p.scales <= 4 && step != 1 && first + p.scales > 4))
      return fmt::format("{} is no scale factor ID of {} scales", first, p.scales);
  return {};
}

} // namespace

std::string read_instruction(const TensorProductSite& site, std::uint32_t bits_of_all, TensorProduct& p) {
  const DescriptorFields field(bits_of_all);
  const int width_of_b = is_packed_kind(site.kind) ? 2 : 3;
  if (is_packed_kind(site.kind) && field.flag(12)) return "its bit 12 must be 0";
  if (!read_element(site.kind, field(7, 3), p.a)) return fmt::format("A cannot have type {}", field(7, 3));
  if (!read_element(site.kind, field(10, width_of_b), p.b))
    return fmt::format("B cannot have type {}", field(10, width_of_b));
  p.sparse = field.flag(2);
  p.negate_a = field.flag(13), p.negate_b = field.flag(14);
  p.a_transposed = field.flag(15), p.b_transposed = field.flag(16);
  p.n = field(17, 6) * 8;
  p.k = depth_of(site, p);
  if (p.sparse != site.sparse)
    return p.sparse ? "its bit 2 says that A is sparse" : "its bit 2 says that A is not sparse";
  std::string why = site.scales != 0 ? read_scaled(site, field, p) : read_plain(site, field, p);
  if (why.empty()) why = wrong_shape(site, p);
  if (why.empty()) why = wrong_transposition(site, p);
  if (why.empty() && site.shifts_a && p.m < 128) why = fmt::format("'.ashift' needs M = 128 or M = 256, got {}", p.m);
  return why;
}

TensorLayout layout_of(const TensorProductSite& site, const TensorProduct& p) {
  const int rows = site.pair ? p.m / 2 : p.m;
  if (site.weights_stationary || (site.pair && !site.sparse)) return {rows, TensorLayout{}.rows / rows, false};
  return {rows, 1, rows == 64};
}

std::string ColumnMask::fault(const TensorProduct& p) const {
  const int most = std::min(p.most_shift, p.m == 32 ? 16 : 32);
  if ((bits_ >> 36 & 7) != 0 || bits_ >> 62 != 0) return "its bits 36 to 38, 62 and 63 must be 0";
  return shift() <= most ? std::string{} : fmt::format("it shifts by {} columns, more than {}", shift(), most);
}

// Masks are in the order of the examples in the manual: spans of used columns have "use span" + 1 of them.
bool ColumnMask::is_zero(const TensorProduct& p, int n) const {
  if ((bits_ >> 39 & 1) == 0) return false;
  const int columns = p.n / (128 / p.m), mask = n / columns;
  const auto number = [&](int bit) { return static_cast<int>(bits_ >> bit & 0xff); };
  const int zeros = number(40) + 1, used = number(48) + 1;
  const bool zeros_first = (bits_ >> (32 + mask) & 1) != 0;
  const int position = (n % columns + number(8 * mask)) % (zeros + used);
  return zeros_first ? position < zeros : position >= used;
}

} // namespace warplens::exec
