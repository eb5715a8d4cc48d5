// SPDX-License-Identifier: Apache-2.0
#include "tests/hardware/tensor_questions.hpp"

#include "tests/hardware/matrix_inputs.hpp"

#include <algorithm>

namespace warplens::tests {

using gpu::Fill;
using gpu::Interleave;
using gpu::Swizzle;
using gpu::Tensor;
using gpu::Type;

namespace {

constexpr int kSizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
std::uint64_t size_of(Type type) { return static_cast<std::uint64_t>(kSizes[static_cast<int>(type)]); }

// Strides are multiples of `unit`, at least what a row takes and `gap` more.
TensorQuestion tile(Type type, const std::vector<std::uint64_t>& sizes, const std::vector<std::uint32_t>& box,
                    const std::vector<int>& at, std::uint64_t gap = 0, std::uint64_t unit = 16) {
  TensorQuestion q;
  q.tensor.type = type;
  q.tensor.address = 4096;
  q.tensor.sizes = sizes;
  std::uint64_t bytes = size_of(type);
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    bytes = (bytes * sizes[i] + gap + unit - 1) / unit * unit;
    q.tensor.strides.push_back(bytes);
  }
  q.box = box;
  q.at = at;
  return q;
}

using List = std::vector<TensorQuestion>;

bool aligned(const TensorQuestion& q) { return q.at[0] * static_cast<int>(size_of(q.tensor.type)) % 16 == 0; }

// Where the innermost coordinate may lie, by type. Each failure costs a context: of most types only one.
void add_innermost(List& list) {
  for (int type = 0; type < 13; ++type)
    for (const int x : {-1000000, -33, -32, -17, -16, -15, -8, -7, -4, -2, -1, 0,  1,  2,      3,
                        4,        6,   8,   12,  15,  16,  17, 24, 31, 32, 40, 41, 48, 1000000})
      for (const Fill fill : {Fill::zero, Fill::nan}) {
        if (fill == Fill::nan && (type < 6 || x % 5 != 0)) continue;
        TensorQuestion q =
            tile(static_cast<Type>(type), {40, 6}, {16, 4}, {x, x % 2 == 0 ? 0 : 3}, x % 3 == 0 ? 16 : 0);
        q.tensor.fill = fill;
        const bool full = type == 0 || type == 6 || type == 7 || type == 8;
        if (full ? aligned(q) || fill == Fill::zero : aligned(q) || x == 1) list.push_back(q);
      }
}

void add_outer(List& list) {
  for (const Type type : {Type::u8, Type::f16, Type::u32, Type::f64})
    for (const int y : {-5, -4, -3, -1, 0, 3, 5, 6, 7, 1 << 30, -(1 << 30)})
      for (const int z : {-2, 0, 2, 3}) list.push_back(tile(type, {48, 6, 3}, {16, 4, 2}, {16, y, z}));
  for (const int w : {-1, 0, 1, 4}) {
    list.push_back(tile(Type::u16, {24, 5, 3, 4}, {8, 3, 2, 2}, {8, 1, w, w}));
    list.push_back(tile(Type::u16, {24, 3, 3, 2, 3}, {16, 2, 2, 2, 2}, {-8, w, 1, 0, w}));
    list.push_back(tile(Type::f32, {64}, {32}, {w * 24}));
  }
}

void add_swizzles(List& list) {
  for (const Swizzle swizzle : {Swizzle::none, Swizzle::of_32, Swizzle::of_64, Swizzle::of_128}) {
    const int span = 16 << static_cast<int>(swizzle);
    for (const Type type : {Type::u8, Type::f16, Type::f32, Type::f64})
      for (const int part : {1, 2}) {
        const auto inner = static_cast<std::uint32_t>(span / part) / static_cast<std::uint32_t>(size_of(type));
        if (inner * size_of(type) < 16) continue;
        for (const int shared : {0, 128, 256, 384, 512, 640, 896, 1024, 1152})
          for (const int x : {0, -1, 16}) {
            if (shared % 512 != 0 && x != 0) continue;
            TensorQuestion q = tile(type, {256, 24}, {inner, 16}, {x * 16 / static_cast<int>(size_of(type)), x}, 32);
            q.tensor.swizzle = swizzle;
            q.shared = shared;
            list.push_back(q);
          }
      }
  }
  for (const int shared : {16, 32, 64, 8, 1, 144, 8192}) { // where a copy may begin
    TensorQuestion q = tile(Type::u32, {32, 16}, {8, 4}, {0, 0});
    q.shared = shared;
    list.push_back(q);
    q.what = "store";
    list.push_back(q);
  }
}

// Slices of 16 or 32 bytes of channels: the dimensions are width, height, channels and images.
void add_interleaves(List& list) {
  for (const Interleave interleave : {Interleave::of_16, Interleave::of_32})
    for (const Type type : {Type::u8, Type::f16, Type::f32}) {
      const int slice = interleave == Interleave::of_16 ? 16 : 32, in_slice = slice / static_cast<int>(size_of(type));
      const auto add = [&](const std::vector<int>& at, const std::vector<std::uint32_t>& box) {
        TensorQuestion q = tile(type, {7, 5, static_cast<std::uint64_t>(2 * in_slice + in_slice / 2), 2}, box, at);
        const auto row = static_cast<std::uint64_t>(slice) * 8;
        q.tensor.strides = {row, 5 * row, 15 * row};
        q.tensor.interleave = interleave;
        q.tensor.swizzle = interleave == Interleave::of_32 ? Swizzle::of_32 : Swizzle::none;
        list.push_back(q);
      };
      const auto n = static_cast<std::uint32_t>(in_slice);
      for (const int c : {0, 1, in_slice / 2, in_slice, in_slice + 1, 2 * in_slice, 3 * in_slice, -1, -in_slice, 2, 3})
        for (const std::uint32_t box : {1u, n, n + 1, 2 * n, 3 * n}) add({0, 0, c, 0}, {4, 3, box, 1});
      for (const int x : {-2, -1, 1, 3, 5, 7}) {
        add({x, 0, 0, 0}, {4, 3, n, 2});
        add({1, x, 0, 1}, {4, 3, 2 * n, 2});
      }
    }
}

void add_steps(List& list) {
  for (const std::uint32_t step : {2u, 3u, 5u, 8u})
    for (const int dimension : {0, 1, 2})
      for (const int x : {0, 8, -8, 1}) {
        if (x == 1 && (dimension != 0 || step > 2)) continue;
        TensorQuestion q = tile(Type::u16, {64, 9, 7}, {16, 8, 4}, {x, x > 1 ? 1 : 0, x < 0 ? -1 : 0});
        q.tensor.steps[static_cast<std::size_t>(dimension)] = step;
        list.push_back(q);
        q.what = "store";
        q.at[0] = std::max(q.at[0], 0);
        q.at[2] = 0;
        list.push_back(q);
      }
}

TensorQuestion pixels(Type type, const std::vector<std::uint64_t>& sizes, const std::vector<int>& lower,
                      const std::vector<int>& upper, std::uint32_t channels, std::uint32_t count,
                      const std::vector<int>& at, const std::vector<int>& offsets) {
  TensorQuestion q = tile(type, sizes, {}, at);
  q.im2col = true;
  q.lower = lower;
  q.upper = upper;
  q.channels = channels;
  q.pixels = count;
  q.offsets = offsets;
  return q;
}

void add_pixels(List& list) {
  for (const int count : {1, 5, 16, 40})
    for (const int x : {-1, 0, 2, 5})
      for (const int y : {-1, 0, 3})
        for (const int offset : {0, 1, 2}) {
          const auto n = static_cast<std::uint32_t>(count);
          const int o = (offset + count) % 3;
          list.push_back(
              pixels(Type::f16, {24, 7, 5, 3}, {-1, -1}, {-1, -1}, 16, n, {8 * (x > 2 ? 1 : 0), x, y, 0}, {offset, o}));
          if (offset == 1)
            list.push_back(pixels(Type::f32, {8, 7, 5, 3}, {0, 0}, {-2, -2}, 8, n, {0, x, y, 1}, {offset, o}));
          if (count > 16 || y == 3) continue;
          list.push_back(pixels(Type::u8, {48, 12, 3}, {-1}, {-1}, 32, n, {16 * y, x, 1}, {offset}));
          list.push_back(
              pixels(Type::bf16, {8, 5, 4, 3, 2}, {-1, 0, -1}, {0, -1, 0}, 8, n, {0, x, y, 1, 0}, {offset, o, 1}));
        }
  for (const std::uint32_t step : {2u, 3u})
    for (const int x : {-1, 0, 1}) {
      TensorQuestion q = pixels(Type::f16, {16, 9, 8, 2}, {-1, -1}, {-1, -1}, 16, 12, {0, x, 0, 0}, {1, 0});
      q.tensor.steps[1] = q.tensor.steps[2] = step;
      list.push_back(q);
      q.tensor.fill = Fill::nan;
      q.tensor.swizzle = Swizzle::of_32;
      list.push_back(q);
    }
  for (const int x : {-1, 0, 1, 2}) { // stores
    TensorQuestion q = pixels(Type::f16, {16, 6, 5, 3}, {0, 0}, {0, 0}, 8, 20, {8 * (x == 2), x, 1, 0}, {});
    q.what = "store";
    list.push_back(q);
    q.lower = {-1, -1};
    q.upper = {-1, -1};
    list.push_back(q);
    q.what = "add";
    list.push_back(q);
  }
}

void add_stores(List& list) {
  for (const Type type : {Type::u8, Type::f16, Type::f32, Type::f64, Type::tf32})
    for (const int x : {-16, -1, 0, 1, 2, 4, 8, 16, 24, 32, 40})
      for (const int y : {-2, 0, 4, 6}) {
        TensorQuestion q = tile(type, {40, 6}, {16, 4}, {x, y}, 16);
        if ((x < 0 || !aligned(q)) && y != 0) continue;
        q.what = "store";
        list.push_back(q);
        q.what = "add";
        if (type == Type::f32 && y != 4) list.push_back(q);
      }
  for (const Swizzle swizzle : {Swizzle::of_32, Swizzle::of_64, Swizzle::of_128})
    for (const int shared : {0, 256, 512}) {
      TensorQuestion q = tile(Type::u32, {64, 16}, {4u << static_cast<unsigned>(swizzle), 8}, {0, 10});
      q.tensor.swizzle = swizzle;
      q.shared = shared;
      q.what = "store";
      list.push_back(q);
      q.what = "add";
      list.push_back(q);
    }
  for (const char* operation : {"add", "min", "max", "inc", "dec", "and", "or", "xor"})
    for (int type = 0; type < 13; ++type) {
      TensorQuestion q = tile(static_cast<Type>(type), {32, 6}, {16, 4}, {16, 3});
      q.what = operation;
      list.push_back(q);
    }
}

void add_others(List& list) {
  for (const int mask : {1, 2, 3, 8, 15})
    for (const int x : {0, -4}) {
      TensorQuestion q = tile(Type::u32, {32, 8}, {8, 4}, {x, 0});
      q.blocks = mask > 3 ? 4 : 2;
      q.mask = mask;
      list.push_back(q);
    }
  list.push_back(tile(Type::u32, {32, 8}, {8, 4}, {0, 0}));
  list.back().what = "prefetch";
  list.push_back(tile(Type::u32, {32, 8}, {8, 4}, {-8, 20}));
  list.back().what = "prefetch";
  list.push_back(tile(Type::u32, {32, 8}, {8, 4}, {1, 0}));
  list.back().what = "prefetch";
  for (const char* change :
       {"global_address 8192", "rank 2", "box_dim 0 4", "box_dim 1 2", "global_dim 0 10", "global_dim 1 2",
        "global_stride 0 256", "global_stride 0 160", "element_stride 0 2", "element_stride 1 2", "elemtype 1",
        "elemtype 10", "interleave_layout 0", "swizzle_mode 1", "swizzle_mode 3", "fill_mode 1", "box_dim 0 8"}) {
    list.push_back(tile(Type::f32, {32, 8, 3}, {8, 4, 2}, {16, 4, 0}));
    list.back().after = change;
  }
}

// Maps that the driver would not make: rows longer than the span of the swizzle, or no multiple of 16 bytes.
void add_unfit(List& list) {
  const auto add = [&](const TensorQuestion& q, const std::string& change) {
    for (const char* what : {"load", "store"}) {
      list.push_back(q);
      list.back().what = what;
      list.back().after = change;
    }
  };
  for (const auto& [columns, swizzle] :
       {std::pair{16u, 1}, {12u, 1}, {32u, 1}, {32u, 2}, {20u, 2}, {64u, 2}, {64u, 3}, {36u, 3}, {128u, 3}})
    add(tile(Type::u32, {160, 16}, {columns, 8}, {16, 3}), "swizzle_mode " + std::to_string(swizzle));
  TensorQuestion wide = tile(Type::u32, {160, 16}, {32, 8}, {16, 3});
  wide.tensor.swizzle = Swizzle::of_128;
  for (const char* change : {"box_dim 0 33", "box_dim 0 36", "box_dim 0 64", "box_dim 0 30", "elemtype 4"})
    add(wide, change);
  const TensorQuestion plain = tile(Type::u32, {160, 16}, {32, 8}, {16, 3});
  for (const char* change : {"box_dim 0 1", "box_dim 0 3", "box_dim 0 5", "elemtype 4"}) add(plain, change);
}

// ---- text

template <class T> std::string list_of(const std::vector<T>& values) {
  std::string text = "[";
  for (std::size_t i = 0; i < values.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(values[i]);
  return text + "]";
}

std::string braces(const std::string& letter, std::size_t count) {
  std::string text = "{";
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "%" : ", %") + letter + std::to_string(i);
  return text + "}";
}

// The copy, of coordinates %c, offsets %h, with the mask %mask, by the map at %m.
std::string instruction(const TensorQuestion& q) {
  const std::string rank = "." + std::to_string(q.at.size()) + "d", map = "[%m, " + braces("c", q.at.size()) + "]";
  if (q.what == "prefetch") return "cp.async.bulk.prefetch.tensor" + rank + ".L2.global.tile " + map + ";\n";
  const std::string end = "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n";
  const std::string mode = q.im2col ? ".im2col_no_offs" : ".tile";
  if (q.what == "store")
    return "cp.async.bulk.tensor" + rank + ".global.shared::cta" + mode + ".bulk_group " + map + ", [%to];\n" + end;
  if (!q.loads())
    return "cp.reduce.async.bulk.tensor" + rank + ".global.shared::cta." + q.what + mode + ".bulk_group " + map +
           ", [%to];\n" + end;
  return "cp.async.bulk.tensor" + rank + ".shared::cluster.global" + (q.im2col ? ".im2col" : ".tile") +
         ".mbarrier::complete_tx::bytes" + (q.mask != 0 ? ".multicast::cluster" : "") + " [%to], " + map + ", [%bar]" +
         (q.im2col ? ", " + braces("h", q.offsets.size()) : "") + (q.mask != 0 ? ", %mask" : "") + ";\n";
}

// The map is copied to memory after `out`'s image, changed there, and used from there.
std::string replacement(const std::string& change) {
  const std::string field = change.substr(0, change.find(' ')), values = change.substr(change.find(' ') + 1);
  const bool indexed = values.find(' ') != std::string::npos;
  const std::string value = indexed ? values.substr(values.find(' ') + 1) : values;
  const bool wide = field == "global_address" || field == "global_stride";
  const bool immediate =
      field == "elemtype" || field == "interleave_layout" || field == "swizzle_mode" || field == "fill_mode";
  std::string text = "mov.u32 %i, 0;\nchange:\ncvt.u64.u32 %w0, %i; add.u64 %w1, %m, %w0; ld.b32 %w, [%w1];\n"
                     "add.u64 %w1, %changed, %w0; st.global.b32 [%w1], %w; add.u32 %i, %i, 4;\n"
                     "setp.lt.u32 %q, %i, 128; @%q bra change;\n";
  text += wide ? "mov.u64 %w0, " + value + ";\n" : "mov.u32 %w, " + value + ";\n";
  if (field == "global_address") text += "ld.param.u64 %w1, [memory]; add.u64 %w0, %w0, %w1;\n";
  text += "tensormap.replace.tile." + field + ".global.b1024." + (wide ? "b64" : "b32") + " [%changed], " +
          (indexed ? values.substr(0, values.find(' ')) + ", " : "") +
          (wide        ? "%w0"
           : immediate ? value
                       : "%w") +
          ";\nfence.proxy.tensormap::generic.release.gpu; fence.proxy.tensormap::generic.acquire.gpu [%changed], "
          "128;\nmov.u64 %m, %changed;\n";
  return text;
}

} // namespace

std::vector<TensorQuestion> tensor_questions() {
  List list;
  add_innermost(list);
  add_outer(list);
  add_swizzles(list);
  add_interleaves(list);
  add_steps(list);
  add_pixels(list);
  add_stores(list);
  add_others(list);
  add_unfit(list);
  return list;
}

std::string TensorQuestion::text() const {
  const auto n = [](auto value) { return std::to_string(static_cast<long long>(value)); };
  std::string t = "\"what\": \"" + what + "\", \"type\": " + n(tensor.type) + ", \"sizes\": " + list_of(tensor.sizes) +
                  ", \"strides\": " + list_of(tensor.strides);
  t += ", \"at\": " + list_of(at);
  if (im2col)
    t += ", \"lower\": " + list_of(lower) + ", \"upper\": " + list_of(upper) + ", \"channels\": " + n(channels) +
         ", \"pixels\": " + n(pixels) + ", \"offsets\": " + list_of(offsets);
  else
    t += ", \"box\": " + list_of(box);
  if (tensor.steps != std::vector<std::uint32_t>(5, 1)) t += ", \"steps\": " + list_of(tensor.steps);
  if (tensor.interleave != Interleave::none) t += ", \"interleave\": " + n(tensor.interleave);
  if (tensor.swizzle != Swizzle::none) t += ", \"swizzle\": " + n(tensor.swizzle);
  if (tensor.fill != Fill::zero) t += ", \"fill\": " + n(tensor.fill);
  if (shared != 0) t += ", \"shared\": " + n(shared);
  if (mask != 0) t += ", \"blocks\": " + n(blocks) + ", \"mask\": " + n(mask);
  if (!after.empty()) t += ", \"after\": \"" + after + "\"";
  return t;
}

int tensor_bytes(const TensorQuestion& q) {
  const int span = q.tensor.swizzle == Swizzle::none ? 0 : 16 << static_cast<int>(q.tensor.swizzle);
  int size = static_cast<int>(size_of(q.tensor.type)), rows = 1;
  if (q.im2col) return std::max(static_cast<int>(q.channels) * size, span) * static_cast<int>(q.pixels);
  const bool slices = q.tensor.interleave != Interleave::none;
  for (std::size_t i = 1; i < q.box.size(); ++i) {
    const int step = static_cast<int>(q.tensor.steps[i]), box = static_cast<int>(q.box[i]);
    const int in_slice = 16 * static_cast<int>(q.tensor.interleave) / size;
    rows *= slices && i + 2 == q.box.size() ? (box + in_slice - 1) / in_slice : (box + step - 1) / step;
  }
  if (slices) return rows * static_cast<int>(q.box[0]) * 16 * static_cast<int>(q.tensor.interleave);
  return rows * std::max(static_cast<int>(q.box[0]) * size, span);
}

// Of singles some are next to 0, some in the middle between two tf32, some infinite or NaN. Reductions add ordinary
// numbers.
std::vector<std::uint32_t> tensor_memory(const TensorQuestion& q) {
  std::vector<std::uint32_t> words(kTensorMemory / 4);
  const bool reduces = !q.loads() && q.what != "store" && q.tensor.type >= Type::f16;
  for (std::uint32_t i = 0; i < words.size(); ++i) {
    const std::uint32_t w = mixed(i);
    words[i] = i % 4 == 3 ? w & 0x807FFFFF : i % 8 == 5 ? (w & 0xFFFFE000) | 0x1000 : i % 32 == 9 ? w | 0x7F800000 : w;
    if (reduces) words[i] = (w & 0x8FFF8FFF) | 0x30003000;
  }
  return words;
}
std::vector<std::uint32_t> shared_memory(const TensorQuestion& q) {
  std::vector<std::uint32_t> words(kImage / 4, 0xEEEEEEEE);
  if (q.loads()) return words;
  words = tensor_memory(q);
  std::reverse(words.begin(), words.end());
  words.resize(kImage / 4);
  return words;
}

std::string tensor_kernel(const TensorQuestion& q) {
  std::string text = ".version 9.0\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 s[];\n"
                     ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 memory, .param .u64 source, "
                     ".param .u64 out)";
  if (q.blocks > 1) text += " .explicitcluster .reqnctapercluster " + std::to_string(q.blocks) + ", 1, 1";
  text += " {\n.reg .b32 %t, %i, %w, %a, %base, %to, %bar, %b; .reg .b64 %m, %in, %out, %w0, %w1, %state, "
          "%changed; .reg .pred %p, %q; .reg .b32 %c<5>; .reg .b16 %h<3>, %mask;\n"
          "mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %base, s; mov.b64 %m, map; cvta.param.u64 %m, %m;\n"
          "add.u32 %bar, %base, 16384; ld.param.u64 %in, [source]; ld.param.u64 %out, [out];\n"
          "mad.wide.u32 %out, %b, 16640, %out; add.u64 %changed, %out, 16512; shl.b32 %i, %t, 2;\n"
          "fill:\ncvt.u64.u32 %w0, %i; add.u64 %w0, %w0, %in; ld.global.b32 %w, [%w0]; add.u32 %a, %base, %i;\n"
          "st.shared.b32 [%a], %w; add.u32 %i, %i, 512; setp.lt.u32 %q, %i, 16384; @%q bra fill;\n"
          "setp.ne.u32 %p, %t, 0; @%p bra ready;\n"
          "mbarrier.init.shared.b64 [%bar], 1; fence.mbarrier_init.release.cluster;\n"
          "mbarrier.arrive.expect_tx.shared.b64 %state, [%bar], " +
          std::to_string(tensor_bytes(q)) +
          ";\n"
          "ready:\nfence.proxy.async; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
          "or.b32 %i, %t, %b; setp.ne.u32 %q, %i, 0; @%q bra done;\nadd.u32 %to, %base, " +
          std::to_string(q.shared) + ";\nmov.b16 %mask, " + std::to_string(q.mask) + ";\n";
  for (std::size_t i = 0; i < q.at.size(); ++i)
    text += "mov.b32 %c" + std::to_string(i) + ", " + std::to_string(q.at[i]) + ";\n";
  for (std::size_t i = 0; i < q.offsets.size(); ++i)
    text += "mov.b16 %h" + std::to_string(i) + ", " + std::to_string(q.offsets[i]) + ";\n";
  if (!q.after.empty()) text += replacement(q.after);
  text += instruction(q) +
          "mov.u64 %w0, %clock64;\nspin:\nmov.u64 %w1, %clock64; sub.u64 %w1, %w1, %w0; setp.lt.u64 %q, %w1, 20000; "
          "@%q bra spin;\n"
          "done:\nbarrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\nshl.b32 %i, %t, 2;\n"
          "drain:\nadd.u32 %a, %base, %i; ld.shared.b32 %w, [%a]; cvt.u64.u32 %w0, %i; add.u64 %w0, %w0, %out;\n"
          "st.global.b32 [%w0], %w; add.u32 %i, %i, 512; setp.lt.u32 %q, %i, 16384; @%q bra drain;\n"
          "@%p bra end;\nmbarrier.test_wait.parity.shared.b64 %q, [%bar], 0; selp.u32 %w, 2, 1, %q; st.global.b32 "
          "[%out+16384], %w;\nend:\nret;\n}\n";
  return text;
}

} // namespace warplens::tests
