// SPDX-License-Identifier: Apache-2.0
#include "tests/hardware/wgmma_forms.hpp"

#include <algorithm>

namespace warplens::tests {

using Word = std::uint32_t;

namespace {

constexpr int kBytesOfRow = 32; // of A in all forms; of B if dense

bool is_float(const std::string& kind) { return kFloatFormats.count(kind) != 0; }
int bytes_of_column(const WgmmaForm& f) { return f.sparse ? 2 * kBytesOfRow : kBytesOfRow; }

// The bytes up to the end of a matrix.
int image(const SharedMatrix& m, int rows, int bytes, int element) {
  int end = 0;
  for (int row = 0; row < rows; ++row)
    for (int byte = 0; byte < bytes; byte += element) end = std::max(end, m.place(row, byte) + element);
  return (end + 1023) / 1024 * 1024;
}

SharedMatrix by_k(int swizzle, int leading, int stride) {
  SharedMatrix m;
  m.swizzle = swizzle;
  m.leading = leading;
  m.stride = stride;
  return m;
}
SharedMatrix by_rows(int swizzle, int leading, int stride) {
  SharedMatrix m = by_k(swizzle, leading, stride);
  m.transposed = true;
  return m;
}

WgmmaForm form(const std::string& d, const std::string& a, const std::string& b, int n) {
  WgmmaForm f;
  f.d = d;
  f.a = a;
  f.b = b;
  f.n = n;
  f.in_a = by_k(0, 128, 256);
  f.in_b = by_k(0, 128, 256);
  return f;
}

struct Kinds {
  const char *d, *a, *b;
};
constexpr Kinds kKinds[] = {{"f32", "f16", "f16"},   {"f16", "f16", "f16"},   {"f32", "bf16", "bf16"},
                            {"f32", "tf32", "tf32"}, {"f32", "e4m3", "e4m3"}, {"f32", "e4m3", "e5m2"},
                            {"f32", "e5m2", "e4m3"}, {"f32", "e5m2", "e5m2"}, {"f16", "e4m3", "e4m3"},
                            {"f16", "e4m3", "e5m2"}, {"f16", "e5m2", "e4m3"}, {"f16", "e5m2", "e5m2"},
                            {"s32", "s8", "s8"},     {"s32", "s8", "u8"},     {"s32", "u8", "s8"},
                            {"s32", "u8", "u8"},     {"s32", "b1", "b1"}};

WgmmaForm sparse(WgmmaForm f) {
  f.sparse = true;
  f.in_b = by_k(0, 128, 512);
  return f;
}

// Every type, dense and sparse, A from registers and from shared memory, all modes ten times.
void add_types(std::vector<WgmmaForm>& list) {
  for (const Kinds& kinds : kKinds)
    for (const bool in_registers : {false, true}) {
      WgmmaForm f = form(kinds.d, kinds.a, kinds.b, 8);
      f.registers = in_registers;
      f.tests = 10 * kMatrixModes;
      list.push_back(f);
      if (f.a == "b1") continue;
      list.push_back(sparse(f));
      if (f.d == "s32") {
        f.saturating = true;
        list.push_back(f);
        list.push_back(sparse(f));
      } else if (f.a != "e4m3" && f.a != "e5m2") {
        f = sparse(f);
        f.selector = 1;
        list.push_back(f);
      }
    }
}

void add_shapes(std::vector<WgmmaForm>& list) {
  for (int n = 16; n <= 256; n += 8) {
    for (const Kinds& kinds : {kKinds[0], kKinds[1], kKinds[3], kKinds[4]})
      list.push_back(form(kinds.d, kinds.a, kinds.b, n));
    if (n % 16 == 0 || n == 24)
      for (const Kinds& kinds : {kKinds[13], kKinds[16]}) list.push_back(form(kinds.d, kinds.a, kinds.b, n));
    if (n % 32 == 0) list.push_back(sparse(form("f32", "f16", "f16", n)));
  }
}

void add_scales(std::vector<WgmmaForm>& list) {
  for (const Kinds& kinds : kKinds) {
    WgmmaForm f = form(kinds.d, kinds.a, kinds.b, 8);
    f.scale_d = false;
    list.push_back(f);
    f.scale_d = true;
    if (f.d == "s32") continue;
    f.negative_a = true;
    list.push_back(f);
    f.registers = true;
    list.push_back(f);
    f.negative_b = true;
    list.push_back(f);
    f.negative_a = f.registers = false;
    list.push_back(f);
  }
}

// Matrices in shared memory with all swizzles and several strides.
void add_layouts(std::vector<WgmmaForm>& list) {
  for (const Kinds& kinds : {kKinds[0], kKinds[3], kKinds[6], kKinds[14], kKinds[16]})
    for (const int swizzle : {0, 32, 64, 128}) {
      const int atom = std::max(swizzle, 32) * 8;
      for (const int stride : {atom, 3 * atom}) {
        WgmmaForm f = form(kinds.d, kinds.a, kinds.b, 32);
        f.in_a = by_k(swizzle, swizzle == 0 ? 128 : 16, stride);
        f.in_b = by_k(swizzle, swizzle == 0 ? 2048 : 16, stride == atom ? 3 * atom : atom);
        list.push_back(f);
        if (swizzle > 32) { // the second k of two
          f.in_a.start = 32;
          f.in_b.start = swizzle - 32;
          list.push_back(f);
        }
        if (f.a != "b1" && (swizzle == 0 || swizzle >= 64)) {
          f = sparse(f);
          f.in_a.start = f.in_b.start = 0;
          f.in_b = by_k(swizzle, swizzle == 0 ? 2048 : 16, swizzle == 0 ? 512 : stride);
          list.push_back(f);
        }
      }
    }
  for (const Kinds& kinds : {kKinds[0], kKinds[2]})
    for (const int swizzle : {0, 32, 64, 128}) {
      const int atom = std::max(swizzle, 16) * 8;
      for (const bool both : {false, true}) {
        WgmmaForm f = form(kinds.d, kinds.a, kinds.b, 96);
        f.in_b = by_rows(swizzle, swizzle == 0 ? 2048 : 2 * atom, swizzle == 0 ? 128 : atom);
        if (both)
          f.in_a = by_rows(swizzle, swizzle == 0 ? 128 : 2 * atom, swizzle == 0 ? 256 : atom);
        else
          f.registers = true;
        list.push_back(f);
        if (both) {
          f.in_b = form("", "", "", 8).in_b;
          list.push_back(f);
        }
        f = sparse(f);
        f.in_b = by_rows(swizzle, swizzle == 0 ? 4096 : 4 * atom, swizzle == 0 ? 128 : atom);
        list.push_back(f);
      }
    }
}

// Matrices whose rows of swizzled atoms do not begin at a multiple of the atom.
void add_starts(std::vector<WgmmaForm>& list) {
  for (const int swizzle : {32, 64, 128})
    for (const int start : {16, 128, 256, 384, 640, 896, 1008})
      for (const int base_offset : {0, start / 128, 3}) {
        WgmmaForm f = form("f32", "f16", "f16", 16);
        f.registers = start % 256 == 128;
        f.in_a = by_k(swizzle, 16, 8 * swizzle);
        f.in_a.start = start;
        f.in_a.base_offset = base_offset;
        f.in_b = f.in_a;
        list.push_back(f);
      }
}

std::string number_of(int i) { return std::to_string(i); }

std::string braced(const std::string& letter, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += (i == 0 ? "%" : ", %") + letter + number_of(i);
  return text + "}";
}

// An image of shared memory, or a fragment: elements of `kind` in words.
std::vector<Word> elements(const std::string& kind, int mode, Word start, int words, bool accumulator,
                           const std::string& of) {
  std::vector<Word> list(static_cast<std::size_t>(words));
  const bool raw = mode == 0 || !is_float(kind);
  const int width = kElementBits.at(kind), per = raw ? 1 : 32 / width;
  for (int at = 0; at < words; ++at)
    for (int i = 0; i < per; ++i) {
      const Word h = mixed(static_cast<Word>(at * 8 + i) * 0x27D4EB2F + start);
      Word value = raw ? h : static_cast<Word>(number(kind, mode, h, accumulator, of)) << (per > 1 ? i * width : 0);
      if (kind == "s32" && mode % 2 == 1) value = (h & 0x800000FF) + 0x7FFFFF00; // next to the largest, the least
      list[static_cast<std::size_t>(at)] |= value;
    }
  return list;
}

} // namespace

std::uint64_t SharedMatrix::descriptor() const {
  const std::uint64_t mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
  const auto field = [](int bytes) { return static_cast<std::uint64_t>(bytes) >> 4 & 0x3fff; };
  return field(start) | field(leading) << 16 | field(stride) << 32 | static_cast<std::uint64_t>(base_offset) << 49 |
         mode << 62;
}

int SharedMatrix::place(int row, int byte) const {
  int at = start;
  if (!transposed && swizzle == 0)
    at += row % 8 * 16 + row / 8 * stride + byte % 16 + byte / 16 * leading;
  else if (!transposed)
    at += row % 8 * swizzle + row / 8 * stride + byte;
  else if (swizzle == 0)
    at += row % 8 * 2 + row / 8 * stride + byte / 2 % 8 * 16 + byte / 16 * leading;
  else
    at += row % (swizzle / 2) * 2 + row / (swizzle / 2) * leading + byte / 2 % 8 * swizzle + byte / 16 * stride;
  const int mask = swizzle == 0 ? 0 : swizzle - 16;
  return at ^ (((at >> 3) - base_offset * 16) & mask);
}

int WgmmaForm::k() const { return (sparse ? 2 : 1) * 8 * kBytesOfRow / kElementBits.at(a); }

std::string WgmmaForm::name() const {
  std::string text = sparse ? "wgmma.mma_async.sp.sync.aligned.m64n" : "wgmma.mma_async.sync.aligned.m64n";
  text += number_of(n) + "k" + number_of(k());
  text += (saturating ? ".satfinite." : ".") + d + "." + a + "." + b;
  return text + (a == "b1" ? ".and.popc" : "");
}

std::string WgmmaForm::statement() const {
  std::string text = name() + " " + braced("d", registers_of_d()) + ", ";
  text += registers ? braced("a", 4) : "%da";
  text += ", %db";
  if (sparse) text += ", %e, " + number_of(selector);
  text += ", %p";
  if (is_float(a)) text += std::string(negative_a ? ", -1" : ", 1") + (negative_b ? ", -1" : ", 1");
  if (a == "f16" || a == "bf16") {
    if (!registers) text += in_a.transposed ? ", 1" : ", 0";
    text += in_b.transposed ? ", 1" : ", 0";
  }
  return text + ";";
}

std::string WgmmaForm::key() const {
  std::string text = statement().substr(0, statement().find(' ')) + statement().substr(statement().find("%db"));
  for (const SharedMatrix* m : {&in_a, &in_b}) {
    if (m == &in_a && registers) {
      text += " registers";
      continue;
    }
    for (const int i : {m->swizzle, m->leading, m->stride, m->start, m->base_offset}) text += " " + number_of(i);
    text += m->transposed ? " t" : "";
  }
  return text + (scale_d ? "" : " unscaled");
}

int WgmmaForm::image_a() const { return registers ? 0 : image(in_a, kRowsOfA, kBytesOfRow, in_a.transposed ? 2 : 1); }
int WgmmaForm::image_b() const { return image(in_b, n, bytes_of_column(*this), in_b.transposed ? 2 : 1); }

std::vector<WgmmaForm> wgmma_forms() {
  std::vector<WgmmaForm> list;
  add_types(list);
  add_shapes(list);
  add_scales(list);
  add_layouts(list);
  add_starts(list);
  return list;
}

WgmmaInput wgmma_input(const WgmmaForm& form, int test) {
  const int mode = test % kMatrixModes;
  const auto start = [&](Word operand) {
    return seed_of(form.key()) + static_cast<Word>(test) * 0x9E3779B1 + operand * 0x85EBCA77;
  };
  WgmmaInput in;
  in.a = elements(form.a, mode, start(0), form.registers ? 4 * kGroup : form.image_a() / 4, false, form.a);
  in.b = elements(form.b, mode, start(1), form.image_b() / 4, false, form.a);
  in.c = elements(form.d, mode, start(2), form.registers_of_d() * kGroup, true, form.a);
  for (Word i = 0; i < kGroup; ++i) in.e.push_back(metadata_word(form.a, mixed(i * 0x27D4EB2F + start(3))));
  return in;
}

namespace {

// Copies `words` of each block's input to shared memory, all threads together.
std::string copy(const std::string& from, int words, int to) {
  return "ld.param.u64 %p0, [p" + from + "]; mad.wide.u32 %p0, %c, " + number_of(4 * words) + ", %p0;\n" +
         "mad.wide.u32 %p0, %t, 4, %p0; mad.lo.u32 %s, %t, 4, %base; mov.u32 %i, %t;\ncopy_" + from + ":\n" +
         "ld.global.b32 %w, [%p0]; st.shared.b32 [%s+" + number_of(to) + "], %w;\n" +
         "add.u64 %p0, %p0, 512; add.u32 %s, %s, 512; add.u32 %i, %i, 128;\n" + "setp.lt.u32 %q, %i, " +
         number_of(words) + "; @%q bra copy_" + from + ";\n";
}
std::string fragment(const std::string& from, int count) {
  return "ld.param.u64 %p0, [p" + from + "]; mad.wide.u32 %p0, %t, 4, %p0; mad.wide.u32 %p0, %c, " +
         number_of(count * kGroup * 4) + ", %p0;\n";
}

} // namespace

std::string wgmma_kernel(const WgmmaForm& form) {
  const int count = form.registers_of_d();
  std::string text =
      ".version 9.0\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 images[];\n"
      ".visible .entry k(.param .u64 pd, .param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pe, "
      ".param .u64 da, .param .u64 db) {\n"
      ".reg .b32 %t, %c, %s, %i, %w, %e, %base; .reg .b64 %p0, %da, %db, %image; .reg .pred %p, %q;\n.reg .b32 %d<" +
      number_of(count) + ">, %a<4>;\nmov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %base, images;\n";
  if (form.registers) {
    text += fragment("a", 4);
    for (int i = 0; i < 4; ++i) text += "ld.global.b32 %a" + number_of(i) + ", [%p0+" + number_of(i * 512) + "];\n";
  } else {
    text += copy("a", form.image_a() / 4, 0);
  }
  text += copy("b", form.image_b() / 4, form.image_a()) + fragment("e", 1) + "ld.global.b32 %e, [%p0];\n" +
          fragment("c", count);
  for (int i = 0; i < count; ++i) text += "ld.global.b32 %d" + number_of(i) + ", [%p0+" + number_of(i * 512) + "];\n";
  text += "shr.u32 %s, %base, 4; cvt.u64.u32 %image, %s; ld.param.u64 %da, [da]; add.u64 %da, %da, %image;\n"
          "ld.param.u64 %db, [db]; add.u64 %db, %db, %image; add.u64 %db, %db, " +
          number_of(form.image_a() / 16) + ";\nmov.u32 %i, " + (form.scale_d ? "1" : "0") +
          "; setp.ne.u32 %p, %i, 0;\nfence.proxy.async.shared::cta; bar.sync 0;\nwgmma.fence.sync.aligned;\n" +
          form.statement() + "\nwgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n" +
          fragment("d", count);
  for (int i = 0; i < count; ++i) text += "st.global.b32 [%p0+" + number_of(i * 512) + "], %d" + number_of(i) + ";\n";
  return text + "ret;\n}\n";
}

} // namespace warplens::tests
