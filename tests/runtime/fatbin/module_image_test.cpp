// SPDX-License-Identifier: Apache-2.0
// From images to PTX: the selected architecture, and the message if there is no PTX.
#include "runtime/fatbin/module_image.hpp"
#include "tests/runtime/fatbin/specimens.hpp"

#include <gtest/gtest.h>

#include <array>

namespace warplens::fatbin {
namespace module_image_test {

constexpr model::ComputeCapability kHopper{9, 0};

std::string chosen(std::vector<CodeTarget> targets, model::ComputeCapability device) {
  std::vector<Image> images;
  for (const CodeTarget& t : targets) images.push_back({.kind = Kind::ptx, .target = t});
  images.push_back({.kind = Kind::elf, .target = {static_cast<unsigned>(device.major * 10 + device.minor)}});
  const Image* best = best_ptx(images, device);
  return best == nullptr ? "none" : name(best->target);
}

TEST(BestPtx, IsTheNewestThatTheDeviceRuns) {
  EXPECT_EQ(chosen({{75}, {90}, {80}, {120}}, kHopper), "compute_90");
  EXPECT_EQ(chosen({{75}, {90}, {80}, {120}}, {8, 6}), "compute_80");
  EXPECT_EQ(chosen({}, kHopper), "none");
}

TEST(BestPtx, SpecialTargets) {
  EXPECT_EQ(chosen({{90}, {90, 'a'}}, kHopper), "compute_90a");
  EXPECT_EQ(chosen({{80}, {90, 'a'}}, {10, 0}), "compute_80"); // 90a: on 9.0 alone
  EXPECT_EQ(chosen({{90}, {100, 'f'}}, {10, 3}), "compute_100f");
  EXPECT_EQ(chosen({{90}, {103, 'f'}}, {10, 0}), "compute_90");
  EXPECT_EQ(chosen({{90}, {100, 'f'}}, {12, 0}), "compute_90"); // another family
  EXPECT_EQ(chosen({{100, 'f'}, {100, 'a'}, {100}}, {10, 0}), "compute_100a");
}

TEST(BestPtx, OfNewerDevicesTheOldest) { EXPECT_EQ(chosen({{100}, {75}, {90, 'a'}, {75, 'a'}}, {1, 3}), "compute_75"); }

TEST(LoadCode, TakesPtxFromAContainer) {
  const Bytes bytes = specimen("targets.fatbin");
  const LoadedCode code = load_code(bytes.data(), kHopper);
  ASSERT_TRUE(code);
  ASSERT_EQ(code->sources.size(), 1U);
  EXPECT_NE(code->sources[0].text.find(".target sm_90a"), std::string::npos);
  EXPECT_EQ(code->sources[0].file, "compute_90a.ptx");
  EXPECT_TRUE(code->notes.empty());
}

TEST(LoadCode, NamesTheFileOfDebugCode) {
  const Bytes bytes = specimen("debug.fatbin");
  EXPECT_EQ(load_code(bytes.data(), kHopper)->sources.at(0).file, "scale.compute_90.ptx");
}

TEST(LoadCode, SaysWhenTheDeviceIsOlderThanTheCode) {
  const Bytes bytes = specimen("targets.fatbin");
  const LoadedCode code = load_code(bytes, {2, 0});
  ASSERT_TRUE(code);
  EXPECT_NE(code->sources[0].text.find(".target sm_75"), std::string::npos);
  ASSERT_EQ(code->notes.size(), 1U);
  EXPECT_EQ(code->notes[0], "the program has PTX for compute_75, but none for compute capability 2.0: it runs here, "
                            "but a GPU of that capability would reject it");
}

TEST(LoadCode, TextIsPassedAsItIs) {
  const char* text = ".version 8.0\n.target sm_90\n.address_size 64\n";
  EXPECT_EQ(load_code(static_cast<const void*>(text), kHopper)->sources.at(0).text, text);
  const auto* const first = reinterpret_cast<const std::byte*>(text);
  EXPECT_EQ(load_code(std::span(first, strlen(text)), kHopper)->sources.at(0).text, text);
  EXPECT_EQ(load_code(std::span(first, strlen(text) + 1), kHopper)->sources.at(0).text, text);
  // Fewer bytes than a magic number has.
  const Fenced empty(std::span(reinterpret_cast<const std::byte*>(""), 1));
  EXPECT_EQ(load_code(static_cast<const void*>(empty.bytes().data()), kHopper)->sources.at(0).text, "");
}

std::string complaint(const LoadedCode& code, LoadError::Kind kind) {
  if (code) return "none";
  EXPECT_EQ(code.error().kind, kind);
  const Diagnostic& d = code.error().diagnostics.list().at(0);
  return d.message + "; " + d.hint;
}

TEST(LoadCode, NamesTheOptionWhenThereIsNoPtx) {
  using enum LoadError::Kind;
  const std::string hint = "; rebuild it with nvcc -gencode arch=compute_90,code=compute_90";
  EXPECT_EQ(complaint(load_code(specimen("machine_code.fatbin").data(), kHopper), no_ptx),
            "the program has no PTX, only code for sm_80, sm_90" + hint);
  EXPECT_EQ(complaint(load_code(specimen("lto.fatbin").data(), kHopper), no_ptx),
            "the program has no PTX, only code for lto_90" + hint);
  EXPECT_EQ(complaint(load_code(specimen("scale.cubin").data(), kHopper), no_ptx),
            "machine code without PTX (a cubin)" + hint);
  EXPECT_EQ(complaint(load_code(specimen("scale.cubin").data(), {1, 3}), no_ptx),
            "machine code without PTX (a cubin); rebuild it with nvcc -gencode arch=compute_75,code=compute_75");
  const std::array<std::uint32_t, 4> empty = {kContainerMagic, 0x00100001, 0, 0};
  EXPECT_EQ(complaint(load_code(empty.data(), kHopper), no_ptx), "the fat binary is empty" + hint);
}

TEST(LoadCode, RefusesOtherFormats) {
  using enum LoadError::Kind;
  EXPECT_EQ(complaint(load_code(static_cast<const void*>(nullptr), kHopper), invalid_image),
            "the image is a null pointer; ");
  const std::array<std::uint32_t, 4> old = {0x1EE55A01, 0, 4, 0};
  EXPECT_EQ(complaint(load_code(old.data(), kHopper), invalid_image),
            "fat binary from CUDA 3 or older; rebuild the program with CUDA 4 or later");
  Bytes bytes = specimen("zstd.fatbin");
  write(bytes, bytes.size() - 20, ~std::uint64_t{0});
  EXPECT_EQ(load_code(bytes.data(), kHopper).error().kind, invalid_image);
}

/// __fatBinC_Wrapper_t, as the compiler lays it out in a program.
struct Wrapper {
  std::uint32_t magic = 0x466243B1, version = 1;
  const void* container = nullptr;
  const void* more = nullptr;
};

TEST(LoadCode, FollowsAWrapper) {
  const Bytes bytes = specimen("lz4.fatbin");
  Wrapper wrapper{.container = bytes.data(), .more = "scale.cu"};
  EXPECT_EQ(load_code(&wrapper, kHopper)->sources.size(), 1U);
  wrapper.version = 3;
  EXPECT_EQ(complaint(load_code(&wrapper, kHopper), LoadError::Kind::invalid_image),
            "unsupported fat binary wrapper version 3: only 1 and 2 are supported; ");
  wrapper = {};
  EXPECT_FALSE(load_code(&wrapper, kHopper));
}

TEST(LoadCode, PartsOfARelocatableProgramAreLinked) {
  const Bytes caller = specimen("part_caller.fatbin"), callee = specimen("part_callee.fatbin");
  const Bytes without_ptx = specimen("machine_code.fatbin");
  const std::array<std::uint32_t, 4> linked = {kContainerMagic, 0x00100001, 0, 0};
  const std::array<const void*, 4> parts = {caller.data(), callee.data(), without_ptx.data(), nullptr};
  const Wrapper wrapper{.version = 2, .container = linked.data(), .more = parts.data()};
  const LoadedCode code = load_code(&wrapper, kHopper);
  ASSERT_TRUE(code);
  ASSERT_EQ(code->sources.size(), 2U);
  const auto module = api::Module::load(*api::Context::create(), code->sources);
  ASSERT_TRUE(module) << render(module.error(), {});
  EXPECT_TRUE((*module)->kernel("calls_twice"));
}

TEST(LoadCode, TheDeviceRuntimeIsServedWithoutItsCode) {
  const Bytes program = specimen("part_callee.fatbin"), runtime = specimen("device_runtime.fatbin");
  const std::array<std::uint32_t, 4> linked = {kContainerMagic, 0x00100001, 0, 0};
  const std::array<const void*, 3> parts = {program.data(), runtime.data(), nullptr};
  const Wrapper wrapper{.version = 2, .container = linked.data(), .more = parts.data()};
  const LoadedCode code = load_code(&wrapper, kHopper);
  ASSERT_TRUE(code);
  EXPECT_EQ(code->sources.size(), 1U);
  EXPECT_TRUE(code->notes.empty()) << code->notes[0]; // that it is for newer devices
}

TEST(LoadCode, PartsWithoutPtx) {
  const Bytes code = specimen("machine_code.fatbin");
  const std::array<std::uint32_t, 4> linked = {kContainerMagic, 0x00100001, 0, 0};
  std::array<const void*, 2> parts = {code.data(), nullptr};
  const Wrapper wrapper{.version = 2, .container = linked.data(), .more = parts.data()};
  EXPECT_EQ(complaint(load_code(&wrapper, kHopper), LoadError::Kind::no_ptx).find("the program has no PTX, only"), 0U);
  parts = {};
  EXPECT_EQ(complaint(load_code(&wrapper, kHopper), LoadError::Kind::no_ptx).find("the program has no device code"),
            0U);
}

} // namespace module_image_test
} // namespace warplens::fatbin
