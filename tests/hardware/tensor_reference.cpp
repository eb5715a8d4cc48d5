// SPDX-License-Identifier: Apache-2.0
#include "tests/hardware/tensor_reference.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <type_traits>

namespace warplens::tests {

using gpu::Fill;
using gpu::Interleave;
using gpu::Swizzle;
using gpu::Type;

namespace {

constexpr int kElementBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
constexpr int kIllegalInstruction = 715, kMisaligned = 716;

template <class T> T combined(const std::string& operation, T old, T value) {
  if (operation == "add") {
    if constexpr (std::is_integral_v<T>) // sums wrap
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) + static_cast<std::make_unsigned_t<T>>(value));
    return static_cast<T>(old + value);
  }
  if (operation == "min") return std::min(old, value);
  if (operation == "max") return std::max(old, value);
  if constexpr (std::is_integral_v<T>) {
    if (operation == "inc") return old >= value ? 0 : static_cast<T>(old + 1);
    if (operation == "dec") return old == 0 || old > value ? value : static_cast<T>(old - 1);
    if (operation == "and") return old & value;
    if (operation == "or") return old | value;
    if (operation == "xor") return old ^ value;
  }
  return value;
}
template <class T> void combine(const std::string& operation, const void* from, void* to) {
  T old, value;
  std::memcpy(&old, to, sizeof old);
  std::memcpy(&value, from, sizeof value);
  old = combined(operation, old, value);
  std::memcpy(to, &old, sizeof old);
}

// Of one element; `store` copies it.
void reduce(const std::string& what, Type type, const void* from, void* to) {
  if (what == "store")
    return void(std::memcpy(to, from, static_cast<std::size_t>(kElementBytes[static_cast<int>(type)])));
  switch (type) {
  case Type::s32: return combine<std::int32_t>(what, from, to);
  case Type::u64: return combine<std::uint64_t>(what, from, to);
  case Type::s64: return combine<std::int64_t>(what, from, to);
  case Type::f64: return combine<double>(what, from, to);
  case Type::u32: return combine<std::uint32_t>(what, from, to);
  default: return combine<float>(what, from, to);
  }
}

// Which reductions an H200 has.
bool has_reduction(const TensorQuestion& q) {
  const auto any = [&](std::initializer_list<Type> types) {
    return std::find(types.begin(), types.end(), q.tensor.type) != types.end();
  };
  if (q.what == "add") return !any({Type::u8, Type::u16, Type::s64});
  if (q.what == "min" || q.what == "max")
    return any({Type::u32, Type::s32, Type::u64, Type::s64, Type::f16, Type::bf16});
  if (q.what == "inc" || q.what == "dec") return any({Type::u32});
  return any({Type::u32, Type::s32, Type::u64});
}

// The question as it is after a `tensormap.replace`.
TensorQuestion replaced(TensorQuestion q) {
  std::istringstream words(q.after);
  std::string field;
  std::uint64_t index = 0, value = 0;
  words >> field >> index;
  if (!(words >> value)) value = index;
  q.after.clear();
  if (field == "global_address") q.tensor.address = value;
  if (field == "box_dim") q.box.at(index) = static_cast<std::uint32_t>(value);
  if (field == "global_dim") q.tensor.sizes.at(index) = value;
  if (field == "global_stride") q.tensor.strides.at(index) = value;
  if (field == "element_stride") q.tensor.steps.at(index) = static_cast<std::uint32_t>(value);
  if (field == "elemtype") q.tensor.type = value == 10 ? Type::bf16 : static_cast<Type>(value); // PTX's numbers
  if (field == "swizzle_mode") q.tensor.swizzle = static_cast<Swizzle>(value);
  if (field == "fill_mode") q.tensor.fill = static_cast<Fill>(value);
  return q; // "rank 2" is what it was: three
}

struct Copy {
  const TensorQuestion& q;
  TensorAnswer& answer;
  std::int64_t size;
  std::vector<std::int64_t> counts; // elements of the box

  explicit Copy(const TensorQuestion& question, TensorAnswer& a)
      : q(question), answer(a), size(kElementBytes[static_cast<int>(question.tensor.type)]) {
    if (q.tensor.interleave != Interleave::none) size = 16 * static_cast<int>(q.tensor.interleave);
    for (std::size_t i = 0; i < q.box.size(); ++i) {
      const std::int64_t step = i == 0 ? 1 : q.tensor.steps[i];
      counts.push_back((q.box[i] + step - 1) / step);
      // One slice of channels, whatever the box says.
      if (q.tensor.interleave != Interleave::none && i + 2 == q.box.size()) counts.back() = 1;
    }
  }
  [[nodiscard]] int span() const {
    return q.tensor.swizzle == Swizzle::none ? 0 : 16 << static_cast<int>(q.tensor.swizzle);
  }
  [[nodiscard]] std::int64_t in_shared(std::int64_t offset) const {
    const std::int64_t at = q.shared + offset;
    return at ^ ((at >> 3) & (span() == 0 ? 0 : span() - 16));
  }
  // One element.
  void move(const std::vector<std::int64_t>& at, std::int64_t offset) {
    bool inside = true;
    std::int64_t from = static_cast<std::int64_t>(q.tensor.address);
    for (std::size_t i = 0; i < at.size(); ++i) {
      // Stores write whole units of 16 bytes, also where the tensor ends in one.
      const std::int64_t first = i == 0 && !q.loads() ? at[0] - at[0] * size % 16 / size : at[i];
      inside = inside && at[i] >= 0 && first < static_cast<std::int64_t>(q.tensor.sizes[i]);
      from += at[i] * (i == 0 ? size : static_cast<std::int64_t>(q.tensor.strides[i - 1]));
    }
    for (std::int64_t part = 0; part < size; part += 16) // slices can be of 32 bytes
      move_part(inside, from + part, in_shared(offset + part),
                static_cast<std::size_t>(std::min<std::int64_t>(size, 16)));
  }
  void move_part(bool inside, std::int64_t from, std::int64_t to, std::size_t bytes) {
    auto* const shared = reinterpret_cast<unsigned char*>(answer.shared.data()) + to;
    auto* const memory = reinterpret_cast<unsigned char*>(answer.memory.data()) + from;
    if (!q.loads()) {
      if (inside) reduce(q.what, q.tensor.type, shared, memory);
    } else if (!inside) {
      fill(shared, bytes);
    } else {
      std::memcpy(shared, memory, bytes);
      for (std::size_t i = 0; i < bytes; i += 4) convert(shared + i);
    }
  }
  // The same NaN for all types, of halfwords.
  void fill(unsigned char* to, std::size_t bytes) const {
    for (std::size_t i = 0; i < bytes; ++i)
      to[i] = q.tensor.fill == Fill::zero ? 0 : static_cast<unsigned char>(i % 2 == 0 ? 0xf7 : 0x7f);
  }
  // To the nearest tf32, to the even one of two. Subnormal numbers stay, also where the type's name says that they
  // become 0.
  void convert(unsigned char* to) const {
    if (q.tensor.type != Type::tf32 && q.tensor.type != Type::tf32_ftz) return;
    std::uint32_t word = 0;
    std::memcpy(&word, to, 4);
    if ((word & 0x7fffffff) > 0x7f800000)
      word = 0x7fffe000;
    else
      word = (word + 0xfff + (word >> 13 & 1)) & ~0x1fffu;
    std::memcpy(to, &word, 4);
  }
};

// All elements of a box, those of a row together. Returns their bytes.
std::int64_t copy_box(Copy& copy) {
  const TensorQuestion& q = copy.q;
  std::vector<std::int64_t> i(q.box.size()), at(q.box.size());
  const std::int64_t pitch = std::max<std::int64_t>(copy.counts[0] * copy.size, copy.span());
  std::int64_t rows = 0;
  for (bool more = true; more;) {
    for (std::size_t d = 0; d < i.size(); ++d) at[d] = q.at[d] + i[d] * (d == 0 ? 1 : q.tensor.steps[d]);
    copy.move(at, rows * pitch + i[0] * copy.size);
    more = false;
    if (i[0] + 1 == copy.counts[0]) ++rows;
    for (std::size_t d = 0; d < i.size() && !more; ++d) {
      more = ++i[d] < copy.counts[d];
      if (!more) i[d] = 0;
    }
  }
  return rows * copy.counts[0] * copy.size;
}

// Channels of pixels: from one to the next in a bounding box, then in the next image.
std::int64_t copy_pixels(Copy& copy) {
  const TensorQuestion& q = copy.q;
  const std::int64_t pitch = std::max<std::int64_t>(q.channels * copy.size, copy.span());
  const std::size_t inner = q.at.size() - 2; // dimensions of the bounding box
  std::vector<std::int64_t> at(q.at.begin(), q.at.end());
  for (std::uint32_t pixel = 0; pixel < q.pixels; ++pixel) {
    std::vector<std::int64_t> from = at;
    for (std::size_t d = 0; d < q.offsets.size(); ++d) from[d + 1] += q.offsets[d];
    for (std::uint32_t channel = 0; channel < q.channels; ++channel, ++from[0])
      copy.move(from, pixel * pitch + channel * copy.size);
    bool more = false;
    for (std::size_t d = 0; d < inner && !more; ++d) {
      const std::int64_t last = static_cast<std::int64_t>(q.tensor.sizes[d + 1]) - 1 + q.upper[d];
      at[d + 1] += q.tensor.steps[d + 1];
      more = at[d + 1] <= last;
      if (!more) at[d + 1] = q.lower[d];
    }
    if (!more) ++at[inner + 1];
  }
  return q.pixels * q.channels * copy.size;
}

// The innermost coordinate lies at a multiple of 16 bytes. Stores begin at no negative coordinate; copies of pixels
// begin in the bounding box, and stores of pixels have one that is the tensor.
bool is_illegal(const TensorQuestion& q, std::int64_t size) {
  const std::int64_t row = q.im2col ? 0 : q.box[0] * size,
                     span = q.tensor.swizzle == Swizzle::none ? 0 : 16 << static_cast<int>(q.tensor.swizzle);
  if (q.tensor.interleave == Interleave::none && (row % 16 != 0 || (span != 0 && row > span))) return true;
  if (q.tensor.interleave == Interleave::none && q.at[0] * size % 16 != 0) return true;
  for (std::size_t d = 0; d < q.at.size() && !q.loads() && q.what != "prefetch"; ++d)
    if (q.at[d] < 0) return true;
  for (std::size_t d = 0; q.im2col && d + 2 < q.at.size(); ++d) {
    const std::int64_t last = static_cast<std::int64_t>(q.tensor.sizes[d + 1]) - 1 + q.upper[d];
    if (q.at[d + 1] < q.lower[d] || q.at[d + 1] > last) return true;
    if (!q.loads() && (q.lower[d] != 0 || q.upper[d] != 0)) return true;
  }
  return false;
}

} // namespace

std::optional<TensorAnswer> tensor_reference(const TensorQuestion& question) {
  const TensorQuestion q = question.after.empty() ? question : replaced(question);
  TensorAnswer answer;
  answer.shared = shared_memory(q);
  answer.shared.resize(1 << 16); // what lies behind the image
  answer.memory = tensor_memory(q);
  const bool stores = q.what == "store" || q.what == "prefetch", reduces = !q.loads() && !stores;
  const bool halves = q.tensor.type == Type::f16 || q.tensor.type == Type::bf16;
  Copy copy(q, answer);
  if (is_illegal(q, copy.size)) {
    answer.error = kIllegalInstruction;
    return answer;
  }
  if (reduces && !has_reduction(q)) {
    answer.error = kIllegalInstruction;
    return answer;
  }
  if (reduces && halves) return {};
  if (q.shared % 128 != 0) {
    answer.error = kMisaligned;
    return answer;
  }
  if (q.what == "prefetch") {
    answer.shared.resize(kImage / 4);
    return answer;
  }
  const std::int64_t bytes = q.im2col ? copy_pixels(copy) : copy_box(copy);
  answer.shared.resize(kImage / 4);
  answer.bytes = q.loads() ? static_cast<int>(bytes) : 0;
  return answer;
}

} // namespace warplens::tests
