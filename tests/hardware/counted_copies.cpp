// SPDX-License-Identifier: Apache-2.0
#include "tests/hardware/counted_copies.hpp"

#include <algorithm>
#include <functional>

namespace warplens::tests {

namespace {

using gpu::Interleave;
using gpu::Swizzle;
using gpu::Type;
using List = std::vector<CountedCopy>;
using std::to_string;

constexpr std::uint64_t kTensor = 4096; // where copies begin in memory

// ---- loads and stores of matrices: each lane names a row of 16 bytes

struct Rows {
  std::string name;
  std::function<std::uint32_t(std::uint32_t)> offset; ///< of a lane's row
};

std::uint32_t swizzled(std::uint32_t row, std::uint32_t bytes) {
  const std::uint32_t at = row * bytes, units = bytes / 16;
  return at ^ ((at >> 7 & (units - 1)) << 4);
}

std::vector<Rows> rows_of_matrices() {
  std::vector<Rows> list;
  for (const std::uint32_t stride : {0, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 192, 256, 272, 1040})
    list.push_back({"stride " + to_string(stride), [=](std::uint32_t lane) { return lane * stride; }});
  for (const std::uint32_t bytes : {32, 64, 128})
    list.push_back({"swizzle " + to_string(bytes), [=](std::uint32_t lane) { return swizzled(lane, bytes); }});
  list.push_back({"pairs", [](std::uint32_t lane) { return lane / 2 * 144; }});
  list.push_back({"two places", [](std::uint32_t lane) { return lane % 8 * 16 + lane / 8 * 1024; }});
  list.push_back({"scattered", [](std::uint32_t lane) { return lane * lane * 7 % 61 * 16; }});
  return list;
}

std::string registers(int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += (i == 0 ? "%r" : ", %r") + to_string(i);
  return text + "}";
}

void add_matrices(List& list) {
  const std::vector<Rows> rows = rows_of_matrices();
  for (const bool loads : {true, false})
    for (const bool transposed : {false, true})
      for (const int count : {1, 2, 4})
        for (std::size_t i = 0; i < rows.size(); i += transposed ? 4 : 1) {
          const std::string form = std::string(loads ? "ldmatrix" : "stmatrix") + ".sync.aligned.m8n8.x" +
                                   to_string(count) + (transposed ? ".trans" : "") + ".shared.b16 ";
          CountedCopy c;
          c.group = "matrices";
          c.name = form + rows[i].name;
          for (std::uint32_t lane = 0; lane < 32; ++lane) c.offsets.push_back(rows[i].offset(lane));
          c.body = loads ? form + registers(count) + ", [%a];\n" : form + "[%a], " + registers(count) + ";\n";
          for (int r = 0; loads && r < count; ++r)
            c.body += "st.global.b32 [%lane+" + to_string(4096 * (r + 1)) + "], %r" + to_string(r) + ";\n";
          list.push_back(c);
        }
}

// ---- copies by lanes

void add_lane_copies(List& list) {
  for (const std::string form :
       {"ca.shared.global 4", "ca.shared.global 8", "ca.shared.global 16", "cg.shared.global 16"})
    for (const int to : {1, 2, 4, 8})
      for (const int from : {1, 2}) {
        const std::string size = form.substr(form.rfind(' ') + 1);
        const int bytes = std::stoi(size);
        CountedCopy c;
        c.group = "cp.async";
        c.name = "cp.async." + form + ", " + to_string(to * bytes) + " bytes apart, from " + to_string(from * bytes);
        for (std::uint32_t lane = 0; lane < 32; ++lane)
          c.offsets.push_back(lane * static_cast<std::uint32_t>(to * bytes));
        c.body = "mad.wide.u32 %w0, %t, " + to_string(from * bytes) + ", %m; cp.async." +
                 form.substr(0, form.rfind(' ')) + " [%a], [%w0+4096], " + size + ";\ncp.async.wait_all;\n";
        list.push_back(c);
      }
}

// ---- copies of 16 bytes by lanes whose addresses do not follow each other

// %r0: a number of five bits for each lane, from a table in the kernel.
std::string lane_number(std::uint32_t (*of)(std::uint32_t)) {
  std::string text = "mov.b32 %r0, 0;\n";
  for (std::uint32_t first = 0; first < 32; first += 4) {
    std::uint32_t word = 0;
    for (std::uint32_t i = 0; i < 4; ++i) word |= of(first + i) << 8 * i;
    text += "setp.ge.u32 %p, %t, " + to_string(first) + "; @%p mov.b32 %r0, " + to_string(word) + ";\n";
  }
  return text + "and.b32 %r1, %t, 3; shl.b32 %r1, %r1, 3; shr.u32 %r0, %r0, %r1; and.b32 %r0, %r0, 255;\n";
}

struct LaneOrder {
  const char* name;
  std::uint32_t (*of)(std::uint32_t);
};
// In units of 16 bytes.
constexpr LaneOrder kLaneOrders[] = {
    {"in order", [](std::uint32_t t) { return t; }},
    {"pairs swapped", [](std::uint32_t t) { return t ^ 1; }},
    {"fours swapped", [](std::uint32_t t) { return t ^ 2; }},
    {"eights swapped", [](std::uint32_t t) { return t ^ 8; }},
    {"reversed", [](std::uint32_t t) { return 31 - t; }},
    {"swizzled by rows of 8", [](std::uint32_t t) { return t ^ (t / 8); }},
    {"swizzled by rows of 4", [](std::uint32_t t) { return t ^ (t / 4 & 3); }},
    {"two halves", [](std::uint32_t t) { return t % 2 * 16 + t / 2; }},
    {"columns of 4", [](std::uint32_t t) { return t % 8 * 4 + t / 8; }},
    {"columns of 8", [](std::uint32_t t) { return t % 4 * 8 + t / 4; }},
    {"pairs apart", [](std::uint32_t t) { return t + t / 2; }},
    {"pairs 32 bytes apart", [](std::uint32_t t) { return t + t / 2 * 2; }},
    {"fours apart", [](std::uint32_t t) { return t + t / 4; }},
    {"eights apart", [](std::uint32_t t) { return t + t / 8; }},
    {"every second", [](std::uint32_t t) { return 2 * t; }},
    {"every third", [](std::uint32_t t) { return 3 * t; }},
    {"five steps", [](std::uint32_t t) { return t * 5 % 32; }},
};
constexpr LaneOrder kRepeated[] = {{"all the same", [](std::uint32_t) { return 0u; }},
                                   {"each twice", [](std::uint32_t t) { return t / 2; }},
                                   {"two in turn", [](std::uint32_t t) { return t % 2; }},
                                   {"each four times", [](std::uint32_t t) { return t / 4; }}};

void add_scattered_copies(List& list) {
  const auto add = [&](const LaneOrder& to, const LaneOrder& from, unsigned base, unsigned to_base, unsigned mask) {
    CountedCopy c;
    c.group = "scattered";
    c.name = std::string("cp.async.cg 16, to ") + to.name + ", from " + from.name;
    if (base != 0) c.name += " + " + to_string(base);
    if (to_base != 0) c.name += ", to + " + to_string(to_base);
    if (mask != ~0u) c.name += ", lanes " + to_string(mask);
    if (std::any_of(list.begin(), list.end(), [&](const CountedCopy& other) { return other.name == c.name; })) return;
    for (std::uint32_t lane = 0; lane < 32; ++lane) c.offsets.push_back(to.of(lane) * 16 + to_base);
    c.body = lane_number(from.of) + "mad.wide.u32 %w0, %r0, 16, %m; mov.b32 %r1, " + to_string(mask) +
             "; shr.u32 %r1, %r1, %t; and.b32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0;\n@%p cp.async.cg.shared.global "
             "[%a], [%w0+" +
             to_string(4096 + base) + "], 16;\ncp.async.wait_all;\n";
    list.push_back(c);
  };
  for (const LaneOrder& to : kLaneOrders) {
    add(to, kLaneOrders[0], 0, 0, ~0u);
    add(to, kLaneOrders[0], 16, 0, ~0u);
    add(to, kLaneOrders[0], 0, 16, ~0u);
  }
  for (const LaneOrder& from : kLaneOrders) {
    add(kLaneOrders[0], from, 0, 0, ~0u);
    add(from, from, 0, 0, ~0u);
    add(kLaneOrders[1], from, 0, 0, ~0u);
    add(kLaneOrders[5], from, 0, 0, ~0u);
    add(kLaneOrders[10], from, 0, 0, ~0u);
    add(kLaneOrders[7], from, 0, 0, ~0u);
  }
  for (const LaneOrder& from : kRepeated) {
    add(kLaneOrders[0], from, 0, 0, ~0u);
    add(kLaneOrders[14], from, 0, 0, ~0u);
    add(kLaneOrders[5], from, 0, 0, ~0u);
  }
  for (const unsigned mask : {0x55555555u, 0x33333333u, 0xffffu, 0x0f0f0f0fu, 0x3u, 0x7u, 0x12481248u})
    for (const int to : {0, 5, 14}) add(kLaneOrders[to], kLaneOrders[0], 0, 0, mask);
}

// ---- copies by one thread

std::string one_thread(const std::string& text) { return "@%first " + text; }
const std::string kWaitForGroup =
    one_thread("cp.async.bulk.commit_group;\n") + one_thread("cp.async.bulk.wait_group 0;\n");

CountedCopy bulk(const std::string& name, const std::string& body) {
  CountedCopy c;
  c.group = "bulk";
  c.name = name;
  c.body = body;
  return c;
}

void add_bulk_copies(List& list) {
  for (const int size : {16, 32, 48, 64, 128, 144, 256, 1024, 4096, 16384})
    for (const int from : {0, 16, 64}) {
      const std::string global = "[%m+" + to_string(kTensor + static_cast<std::uint64_t>(from)) + "]",
                        bytes = to_string(size);
      const std::string text = bytes + " bytes at " + to_string(from);
      CountedCopy load = bulk("load " + text,
                              one_thread("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%base], " +
                                         global + ", " + bytes + ", [%bar];\n"));
      load.bytes = size;
      list.push_back(load);
      list.push_back(bulk("store " + text, one_thread("cp.async.bulk.global.shared::cta.bulk_group " + global +
                                                      ", [%base], " + bytes + ";\n") +
                                               kWaitForGroup));
      if (from == 64) continue;
      list.push_back(bulk("add.u32 " + text, one_thread("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 " +
                                                        global + ", [%base], " + bytes + ";\n") +
                                                 kWaitForGroup));
      list.push_back(
          bulk("prefetch " + text, one_thread("cp.async.bulk.prefetch.L2.global " + global + ", " + bytes + ";\n")));
    }
  for (const int blocks : {2, 4})
    for (const int mask : {1, (1 << blocks) - 1}) {
      CountedCopy c =
          bulk("load 1024 bytes, mask " + to_string(mask) + " of " + to_string(blocks),
               "mov.b16 %h, " + to_string(mask) + ";\n" +
                   one_thread("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                              "[%base], [%m+4096], 1024, [%bar], %h;\n"));
      c.bytes = 1024;
      c.blocks = blocks;
      c.mask = mask;
      list.push_back(c);
    }
  CountedCopy c =
      bulk("to the other block 1024 bytes",
           "mapa.shared::cluster.u32 %r0, %base, 1; mapa.shared::cluster.u32 %r1, %bar, 1;\n" +
               one_thread("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r0], [%base], "
                          "1024, [%r1];\n"));
  c.bytes = 1024;
  c.blocks = 2;
  c.mask = 2;
  list.push_back(c);
}

// ---- copies by tensor map

struct Box {
  std::string name;
  std::vector<std::uint64_t> sizes, strides; ///< in elements of 4 bytes; in bytes
  std::vector<std::uint32_t> box;
  std::vector<int> at;
  Swizzle swizzle = Swizzle::none;
  Interleave interleave = Interleave::none;
  int promotion = 0;
  std::uint32_t step = 1; ///< of the second dimension
};

CountedCopy by_map(const std::string& what, const Box& b) {
  CountedCopy c;
  c.group = "tensor";
  c.name = what + " " + b.name;
  c.tensor.type = Type::u32;
  c.tensor.address = kTensor;
  c.tensor.sizes = b.sizes;
  c.tensor.strides = b.strides;
  if (b.strides.empty()) c.tensor.strides = {16}; // the driver wants a pointer, also of no strides
  c.tensor.steps = {1, b.step, 1, 1, 1};
  c.tensor.swizzle = b.swizzle;
  c.tensor.interleave = b.interleave;
  c.tensor.promotion = b.promotion;
  c.box = b.box;
  std::string place = "{";
  for (std::size_t i = 0; i < b.at.size(); ++i) place += (i == 0 ? "" : ", ") + to_string(b.at[i]);
  place += "}";
  const std::string kind = to_string(b.sizes.size()) + "d";
  int elements = b.interleave == Interleave::of_16 ? 4 : b.interleave == Interleave::of_32 ? 8 : 1;
  for (std::size_t d = b.interleave == Interleave::none ? 0 : 1; d < b.box.size(); ++d)
    elements *= static_cast<int>(d == 1 ? (b.box[d] + b.step - 1) / b.step : b.box[d]);
  if (what == "load") {
    c.bytes = 4 * elements;
    c.body =
        one_thread("cp.async.bulk.tensor." + kind +
                   ".shared::cluster.global.mbarrier::complete_tx::bytes [%base], [%map, " + place + "], [%bar];\n");
  } else if (what == "store") {
    c.body = one_thread("cp.async.bulk.tensor." + kind + ".global.shared::cta.bulk_group [%map, " + place +
                        "], [%base];\n") +
             kWaitForGroup;
  } else if (what == "add") {
    c.body = one_thread("cp.reduce.async.bulk.tensor." + kind + ".global.shared::cta.add.bulk_group [%map, " + place +
                        "], [%base];\n") +
             kWaitForGroup;
  } else {
    c.body = one_thread("cp.async.bulk.prefetch.tensor." + kind + ".L2.global [%map, " + place + "];\n");
  }
  return c;
}

// Of a matrix with 2048 columns: rows of `columns` elements, from `x` on.
Box matrix(std::uint32_t columns, std::uint32_t rows, int x = 0, std::uint64_t stride = 8192,
           Swizzle swizzle = Swizzle::none) {
  Box b;
  b.name = to_string(rows) + " rows of " + to_string(4 * columns) + " bytes, " + to_string(stride) + " apart, at " +
           to_string(4 * x);
  if (swizzle != Swizzle::none) b.name += ", swizzle " + to_string(16 << static_cast<int>(swizzle));
  b.sizes = {std::max<std::uint64_t>(columns, stride / 4), 64};
  if (stride < 4 * columns + static_cast<std::uint64_t>(4 * x)) b.sizes[0] = columns + static_cast<std::uint64_t>(x);
  b.strides = {stride};
  b.box = {columns, rows};
  b.at = {x, 0};
  b.swizzle = swizzle;
  return b;
}

std::vector<Box> other_boxes() {
  std::vector<Box> list;
  for (const int x : {0, 4}) list.push_back({"1024 bytes of a row, at " + to_string(4 * x), {4096}, {}, {256}, {x}});
  for (int promotion = 1; promotion < 4; ++promotion)
    for (const std::uint32_t columns : {4u, 32u}) {
      Box b = matrix(columns, 16, 4);
      b.promotion = promotion;
      b.name += ", promotion " + to_string(32 << promotion);
      list.push_back(b);
    }
  for (const int x : {-8, 2032, 4096}) {
    Box b = matrix(32, 16, x);
    list.push_back(b);
  }
  for (const int y : {-4, 56, 64}) {
    Box b = matrix(32, 16);
    b.at[1] = y;
    b.name += ", from row " + to_string(y);
    list.push_back(b);
  }
  Box steps = matrix(32, 16);
  steps.step = 2;
  steps.name += ", each other row";
  list.push_back(steps);
  list.push_back({"3 dimensions", {64, 16, 8}, {512, 16384}, {16, 4, 3}, {16, 2, 1}});
  list.push_back({"4 dimensions", {64, 16, 8, 4}, {512, 16384, 262144}, {8, 4, 3, 2}, {16, 2, 1, 1}});
  list.push_back({"5 dimensions", {64, 8, 4, 4, 2}, {512, 8192, 65536, 524288}, {8, 4, 3, 2, 2}, {16, 2, 1, 1, 0}});
  list.push_back({"packed rows of 16 bytes", {4, 256}, {16}, {4, 64}, {0, 3}});
  list.push_back({"packed rows of 32 bytes", {8, 256}, {32}, {8, 64}, {0, 3}});
  list.push_back({"packed rows of 64 bytes", {16, 256}, {64}, {16, 64}, {0, 3}});
  list.push_back({"packed rows of 48 bytes", {12, 256}, {48}, {12, 64}, {0, 3}});
  list.push_back({"packed rows of 80 bytes", {20, 256}, {80}, {20, 64}, {0, 3}});
  Box i16{"interleave 16", {16, 32, 4}, {16, 4096}, {4, 16, 2}, {0, 3, 1}};
  i16.interleave = Interleave::of_16;
  i16.sizes = {16, 32, 4, 1};
  i16.strides = {16, 4096, 65536};
  i16.box = {16, 16, 2, 1};
  i16.at = {0, 3, 1, 0};
  Box i32 = i16;
  i32.name = "interleave 32";
  i32.interleave = Interleave::of_32;
  i32.strides = {32, 4096, 65536};
  i32.swizzle = Swizzle::of_32;
  list.push_back(i16);
  list.push_back(i32);
  return list;
}

void add_tensor_copies(List& list) {
  for (const std::string what : {"load", "store"}) {
    for (const std::uint32_t columns : {4, 8, 12, 16, 20, 32, 64, 128, 256})
      for (const int x : {0, 4, 8}) list.push_back(by_map(what, matrix(columns, 16, x)));
    for (const std::uint64_t stride : {144, 160, 192})
      for (const int x : {0, 4}) list.push_back(by_map(what, matrix(32, 16, x, stride)));
    for (const auto& [columns, swizzle] : {std::pair{4u, Swizzle::of_32},
                                           {8u, Swizzle::of_32},
                                           {8u, Swizzle::of_64},
                                           {16u, Swizzle::of_64},
                                           {16u, Swizzle::of_128},
                                           {32u, Swizzle::of_128}}) {
      list.push_back(by_map(what, matrix(columns, 64, 0, 8192, swizzle)));
      list.push_back(by_map(what, matrix(columns, 64)));
    }
    for (const Box& b : other_boxes())
      if (what == "load" || b.at[0] >= 0) {
        if (what == "store" && b.at.size() > 1 && b.at[1] < 0) continue;
        list.push_back(by_map(what, b));
      }
  }
  for (const std::string what : {"add", "prefetch"})
    for (const std::uint32_t columns : {4, 8, 16, 32, 256})
      for (const int x : {0, 4}) list.push_back(by_map(what, matrix(columns, 16, x)));
  for (const int blocks : {2, 4})
    for (const int mask : {1, (1 << blocks) - 1}) {
      CountedCopy c = by_map("load", matrix(32, 16));
      c.name += ", mask " + to_string(mask) + " of " + to_string(blocks);
      c.body =
          "mov.b16 %h, " + to_string(mask) + ";\n" +
          one_thread(
              "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%base], "
              "[%map, {0, 0}], [%bar], %h;\n");
      c.blocks = blocks;
      c.mask = mask;
      list.push_back(c);
    }
  for (const std::uint32_t channels : {8, 32}) {
    CountedCopy c = by_map("load", {"im2col", {64, 16, 8, 4}, {512, 16384, 262144}, {}, {16, 2, 1, 0}});
    c.name += ", 20 pixels of " + to_string(4 * channels) + " bytes";
    c.im2col = true;
    c.channels = channels;
    c.pixels = 20;
    c.bytes = static_cast<int>(4 * channels * c.pixels);
    c.body = "mov.b16 %h, 1;\n" +
             one_thread("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%base], "
                        "[%map, {16, 2, 1, 0}], [%bar], {%h, %h};\n");
    list.push_back(c);
  }
}

// ---- products of a warp group, of zeros

void add_products(List& list) {
  struct Form {
    std::string types;
    int k;
    std::string more; ///< operands after the descriptors
  };
  const Form forms[] = {{"f32.f16.f16", 16, ", p, 1, 1, 0, 0"},
                        {"f32.bf16.bf16", 16, ", p, 1, 1, 0, 0"},
                        {"f32.tf32.tf32", 8, ", p, 1, 1"},
                        {"f32.e4m3.e4m3", 32, ", p, 1, 1"},
                        {"s32.s8.s8", 32, ", p"}};
  for (const Form& form : forms)
    for (const int n : {8, 64, 128, 256})
      for (const bool from_registers : {false, true})
        for (const int swizzle : {0, 1}) {
          if ((&form != forms || n != 64) && (swizzle != 1 || from_registers)) continue;
          CountedCopy c;
          c.group = "products";
          c.name = "wgmma m64n" + to_string(n) + "k" + to_string(form.k) + " " + form.types +
                   (from_registers ? ", A in registers" : "") + (swizzle == 1 ? ", swizzle 128" : "");
          c.threads = 128;
          std::string d = "{", zeros;
          for (int i = 0; i < n / 2; ++i) {
            d += (i == 0 ? "%d" : ", %d") + to_string(i);
            zeros += "mov.b32 %d" + to_string(i) + ", 0;\n";
          }
          // 1024 bytes from eight rows to the next, 128 from one core matrix to the next
          const std::string mode = swizzle == 1 ? "0x4000004000010000" : "0x0000004000080000";
          c.body =
              zeros +
              "{ .reg .pred p; setp.ne.u32 p, 0, 0; shr.u32 %r0, %base, 4; cvt.u64.u32 %w0, %r0; or.b64 %w0, %w0, " +
              mode + "; mov.b32 %r1, 0;\nwgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n" + to_string(n) +
              "k" + to_string(form.k) + "." + form.types + " " + d + "}, " +
              (from_registers ? "{%r1, %r1, %r1, %r1}" : "%w0") + ", %w0" +
              (from_registers && !form.more.ends_with("0, 0") ? form.more
               : from_registers                               ? ", p, 1, 1, 0"
                                                              : form.more) +
              ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0; }\n" +
              "st.global.b32 [%lane+4096], %d0;\n";
          list.push_back(c);
        }
}

} // namespace

std::vector<CountedCopy> counted_copies() {
  List list;
  CountedCopy nothing;
  nothing.group = "matrices";
  nothing.name = "nothing";
  list.push_back(nothing);
  add_matrices(list);
  add_lane_copies(list);
  add_bulk_copies(list);
  add_tensor_copies(list);
  add_products(list);
  add_scattered_copies(list);
  return list;
}

std::vector<std::uint32_t> counted_memory(const CountedCopy& copy) {
  std::vector<std::uint32_t> words = copy.offsets;
  words.resize(kCountedMemory / 4);
  return words;
}

std::string counted_kernel(const CountedCopy& c) {
  std::string text = ".version 9.0\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 s[];\n"
                     ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 memory)";
  if (c.blocks > 1) text += " .explicitcluster .reqnctapercluster " + to_string(c.blocks) + ", 1, 1";
  text += " {\n.reg .b32 %t, %a, %base, %bar, %b, %r<4>, %d<128>; .reg .b64 %m, %map, %lane, %w0; .reg .b16 %h; .reg "
          ".pred %first, "
          "%p, %q;\nmov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %base, s; mov.b64 %map, map; cvta.param.u64 "
          "%map, %map;\n"
          "ld.param.u64 %m, [memory]; cvta.to.global.u64 %m, %m; mad.wide.u32 %lane, %t, 4, %m;\nmov.u32 %r0, %t; "
          "mov.u32 %r1, %t; mov.u32 %r2, %t; mov.u32 "
          "%r3, %t;\n";
  if (!c.offsets.empty()) return text + "ld.global.b32 %a, [%lane]; add.u32 %a, %a, %base;\n" + c.body + "ret;\n}\n";
  text += "or.b32 %r3, %t, %b; setp.eq.u32 %first, %r3, 0; add.u32 %bar, %base, 65536;\n";
  if (c.bytes == 0) return text + c.body + "ret;\n}\n";
  const std::string together =
      c.blocks > 1 ? "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n" : "bar.sync 0;\n";
  text += "setp.eq.u32 %p, %t, 0;\n@%p mbarrier.init.shared.b64 [%bar], 1;\n@%p fence.mbarrier_init.release.cluster;\n"
          "@%p mbarrier.arrive.expect_tx.shared.b64 _, [%bar], " +
          to_string(c.bytes) + ";\nfence.proxy.async;\n" + together + c.body + "mov.u32 %r0, " + to_string(c.mask) +
          "; shr.u32 %r0, %r0, %b; and.b32 %r0, %r0, 1; setp.eq.u32 %q, %r0, 0; @%q bra done;\n"
          "mov.u32 %r1, 0;\nwait:\nmbarrier.test_wait.parity.shared.b64 %q, [%bar], 0; @%q bra done; add.u32 %r1, %r1, "
          "1; setp.lt.u32 %q, %r1, 20000; @%q bra wait;\nst.global.b32 [%m], %r1;\ndone:\n" +
          together + "ret;\n}\n";
  return text;
}

} // namespace warplens::tests
