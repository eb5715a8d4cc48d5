// SPDX-License-Identifier: Apache-2.0
#include "api/files/npy.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace warplens::api {
namespace npy_test {

std::string npy(std::string header, std::string data, char version = 1) {
  std::string text("\x93NUMPY", 6);
  text += {version, '\0', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  if (version == 2) text += std::string(2, '\0');
  return text + header + data;
}

constexpr const char* kHeader = "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 2), }\n";
const std::string kData("\1\0\2\0\3\0\4\0", 8);

TEST(Npy, ReadsBothVersions) {
  for (const char version : {char{1}, char{2}}) {
    const auto array = decode_npy(npy(kHeader, kData, version), Type::u16, "a.npy");
    ASSERT_TRUE(array) << render(array.error(), "");
    EXPECT_EQ(array->count, 4u);
    EXPECT_EQ(std::memcmp(array->bytes.data(), kData.data(), 8), 0);
  }
}

TEST(Npy, RoundTripOfEveryType) {
  for (const Type type : {Type::u8, Type::u16, Type::u32, Type::u64, Type::s8, Type::s16, Type::s32, Type::s64,
                          Type::b8, Type::b32, Type::f16, Type::f32, Type::f64}) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(isa::bytes(type)) * 3);
    fill_iota(type, bytes, std::int64_t{1}, std::int64_t{2});
    const std::string text = encode_npy(type, bytes);
    EXPECT_EQ(text.find('\n') % 64, 63u) << "data begin at a multiple of 64";
    const auto array = decode_npy(text, type, "a.npy");
    ASSERT_TRUE(array) << isa::name(type);
    EXPECT_EQ(array->bytes, bytes);
  }
  EXPECT_EQ(decode_npy(encode_npy(Type::f32, {}), Type::f32, "empty.npy")->count, 0u);
}

TEST(Npy, UntypedTakesAnyKindOfItsWidth) {
  EXPECT_TRUE(decode_npy(npy(kHeader, kData), Type::b16, "a.npy"));
  EXPECT_FALSE(decode_npy(npy(kHeader, kData), Type::b32, "a.npy"));
}

TEST(Npy, BadFiles) {
  const auto message = [](const std::string& content) {
    const auto array = decode_npy(content, Type::u16, "a.npy");
    return array ? std::string("no error") : array.error().list().front().message;
  };
  const auto with = [](std::string from, std::string to) {
    std::string header = kHeader;
    return npy(header.replace(header.find(from), from.size(), to), kData);
  };
  const std::string good = npy(kHeader, kData);
  for (const auto& [content, part] : std::vector<std::pair<std::string, std::string>>{
           {"", "not a .npy file"},
           {"PK\3\4 something else", "not a .npy file"},
           {good.substr(0, 9), "not a .npy file"},
           {good.substr(0, 20), "truncated"},
           {good.substr(0, good.size() - 1), "7 bytes follow"},
           {good + "x", "9 bytes follow"},
           {npy(kHeader, kData, 3), "version 3"},
           {with("<u2", "<i2"), "expected elements of type '<u2', got '<i2'"},
           {with("<u2", ">u2"), "got '>u2'"},
           {with("False", "True"), "C order"},
           {with("(2, 2)", "(2, 3)"), "6 elements"},
           {with("(2, 2)", "(2; 2)"), "shape"},
           {with("(2, 2)", "(-2,)"), "shape"},
           {with("(2, 2)", "(4294967296, 4294967296)"), "shape"},
           {with("'shape'", "'shaep'"), "shape"},
           {with("(2, 2)", "(2, 2"), "shape"},
           {with("'descr'", "'desrc'"), "got ''"}}) {
    EXPECT_NE(message(content).find(part), std::string::npos) << part << " / " << message(content);
  }
  EXPECT_FALSE(read_npy("/nowhere/a.npy", Type::u16));
  EXPECT_FALSE(read_npy("/", Type::u16));
  EXPECT_FALSE(write_npy("/nowhere/a.npy", Type::u16, {}));
}

} // namespace npy_test
} // namespace warplens::api
