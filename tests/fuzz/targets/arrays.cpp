// SPDX-License-Identifier: Apache-2.0
// NumPy arrays.
#include "tests/fuzz/target.hpp"

#include "api/files/npy.hpp"

namespace warplens::fuzz {

namespace {

void run_npy(std::string_view content) {
  using isa::Type;
  for (const Type type : {Type::f32, Type::b8, Type::s64, Type::u16, Type::f16}) {
    const auto array = api::decode_npy(content, type, "fuzz.npy");
    if (!array) {
      render(array.error(), "");
      continue;
    }
    const auto again = api::decode_npy(api::encode_npy(type, array->bytes), type, "again.npy");
    if (!again || again->bytes != array->bytes || again->count != array->count) wrong("an array changes when written");
  }
}

std::vector<std::string> words_of_npy() {
  return {"\x93NUMPY", "{'descr': '<f4', ",   "'fortran_order': False, ", "'shape': (3,), }", "(2, 3)", "<i8", "|u1",
          "True",      "18446744073709551615"};
}

} // namespace

const Target target::npy{"npy", run_npy, mutate_bytes, words_of_npy};

} // namespace warplens::fuzz
