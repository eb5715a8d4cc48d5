// SPDX-License-Identifier: Apache-2.0
// Arrays, textures and surfaces through the driver API. tests/hardware/textures_test.cpp tests the results of texture
// instructions; this test checks that each descriptor creates the texture that it describes.
#include "tests/runtime/driver/program.hpp"

#include <array>
#include <cstring>
#include <string>
#include <vector>

namespace warplens::runtime {
namespace texture_test {

/// Kernels NAME(texture, out, x, y, z), one thread: each reads the texture in a different way and stores four words.
std::string program() {
  std::string text = ".version 7.8\n.target sm_80\n.address_size 64\n"
                     ".global .texref reference;\n.global .surfref surface_reference;\n";
  const auto kernel = [&](const std::string& name, const std::string& read) {
    text += ".visible .entry " + name +
            "(.param .u64 t, .param .u64 out, .param .f32 x, .param .f32 y, .param .f32 z)\n{\n"
            ".reg .f32 %f<8>; .reg .b32 %r<8>; .reg .b64 %d<4>;\n"
            "ld.param.u64 %d1, [t]; ld.param.u64 %d2, [out];\n"
            "ld.param.f32 %f1, [x]; ld.param.f32 %f2, [y]; ld.param.f32 %f3, [z];\n"
            "cvt.rzi.s32.f32 %r5, %f1; cvt.rzi.s32.f32 %r6, %f2; cvt.rzi.s32.f32 %r7, %f3;\n" +
            read + "\nst.global.v4.b32 [%d2], {%r1, %r2, %r3, %r4};\nret;\n}\n";
  };
  kernel("fetch_1d", "tex.1d.v4.f32.s32 {%r1, %r2, %r3, %r4}, [%d1, {%r5}];");
  kernel("sample_1d", "tex.1d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%d1, {%f1}];");
  kernel("sample_2d", "tex.2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%d1, {%f1, %f2}];");
  kernel("integers_2d", "tex.2d.v4.u32.f32 {%r1, %r2, %r3, %r4}, [%d1, {%f1, %f2}];");
  kernel("sample_3d", "tex.3d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%d1, {%f1, %f2, %f3, %f3}];");
  kernel("sample_layer", "tex.a2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%d1, {%r7, %f1, %f2, %f2}];");
  kernel("sample_cube", "tex.cube.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%d1, {%f1, %f2, %f3, %f3}];");
  kernel("sample_level", "tex.level.2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%d1, {%f1, %f2}], %f3;");
  kernel("sample_reference", "tex.2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [reference, {%f1, %f2}];");
  kernel("fetch_reference", "tex.1d.v4.f32.s32 {%r1, %r2, %r3, %r4}, [reference, {%r5}];");
  // z is stored at byte x of row y, and read again.
  kernel("store_2d", "mov.b32 %r7, %f3; sust.b.2d.b32.trap [%d1, {%r5, %r6}], %r7;\n"
                     "suld.b.2d.b32.trap %r1, [%d1, {%r5, %r6}]; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0;");
  kernel("store_reference", "mov.b32 %r7, %f3; sust.b.2d.b32.trap [surface_reference, {%r5, %r6}], %r7;\n"
                            "mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0;");
  return text;
}

using Words = std::array<std::uint32_t, 4>;

class Textures : public DriverProgram {
protected:
  void SetUp() override {
    DriverProgram::SetUp();
    ASSERT_EQ(cuModuleLoadData(&module_, program().c_str()), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc_v2(&out_, sizeof(Words)), CUDA_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(cuMemFree_v2(out_), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleUnload(module_), CUDA_SUCCESS);
    DriverProgram::TearDown();
  }

  Words words(const char* kernel, unsigned long long texture, float x, float y = 0, float z = 0) {
    CUfunction function = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&function, module_, kernel), CUDA_SUCCESS);
    void* arguments[] = {&texture, &out_, &x, &y, &z};
    EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
    Words words{};
    EXPECT_EQ(cuMemcpyDtoH_v2(words.data(), out_, sizeof words), CUDA_SUCCESS);
    return words;
  }
  /// The first channel.
  float sample(const char* kernel, unsigned long long texture, float x, float y = 0, float z = 0) {
    return value(words(kernel, texture, x, y, z)[0]);
  }
  static float value(std::uint32_t word) {
    float x = 0;
    std::memcpy(&x, &word, sizeof x);
    return x;
  }

  static CUDA_RESOURCE_DESC resource(CUarray array) {
    CUDA_RESOURCE_DESC r{};
    r.resType = CU_RESOURCE_TYPE_ARRAY;
    r.res.array.hArray = array;
    return r;
  }
  static CUDA_RESOURCE_DESC resource(CUmipmappedArray array) {
    CUDA_RESOURCE_DESC r{};
    r.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    r.res.mipmap.hMipmappedArray = array;
    return r;
  }
  static CUDA_TEXTURE_DESC clamped() {
    CUDA_TEXTURE_DESC t{};
    for (CUaddress_mode& mode : t.addressMode) mode = CU_TR_ADDRESS_MODE_CLAMP;
    t.maxMipmapLevelClamp = 100;
    return t;
  }
  static CUtexObject texture(const CUDA_RESOURCE_DESC& r, const CUDA_TEXTURE_DESC& t = clamped(),
                             const CUDA_RESOURCE_VIEW_DESC* view = nullptr) {
    CUtexObject object = 0;
    EXPECT_EQ(cuTexObjectCreate(&object, &r, &t, view), CUDA_SUCCESS);
    return object;
  }
  static CUarray array(const CUDA_ARRAY3D_DESCRIPTOR& d) {
    CUarray made = nullptr;
    EXPECT_EQ(cuArray3DCreate_v2(&made, &d), CUDA_SUCCESS);
    return made;
  }
  /// Fills an array, or a level of one, from the host.
  template <class T> static void fill(CUarray array, const std::vector<T>& texels, std::size_t row_texels) {
    CUDA_ARRAY3D_DESCRIPTOR d{};
    ASSERT_EQ(cuArray3DGetDescriptor_v2(&d, array), CUDA_SUCCESS);
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = texels.data();
    copy.srcPitch = row_texels * sizeof(T);
    copy.srcHeight = std::max<std::size_t>(d.Height, 1);
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.WidthInBytes = copy.srcPitch;
    copy.Height = copy.srcHeight;
    copy.Depth = std::max<std::size_t>(d.Depth, 1);
    ASSERT_EQ(cuMemcpy3D_v2(&copy), CUDA_SUCCESS);
  }

  CUmodule module_ = nullptr;
  CUdeviceptr out_ = 0;
};

TEST_F(Textures, TwoDimensionsNearestAndLinear) {
  const CUarray a = array({4, 2, 0, CU_AD_FORMAT_FLOAT, 1, 0});
  fill<float>(a, {0, 1, 2, 3, 10, 11, 12, 13}, 4);
  const CUtexObject nearest = texture(resource(a));
  EXPECT_EQ(sample("sample_2d", nearest, 2.9f, 1.1f), 12);
  EXPECT_EQ(sample("sample_2d", nearest, 99, 99), 13);
  CUDA_TEXTURE_DESC t = clamped();
  t.filterMode = CU_TR_FILTER_MODE_LINEAR;
  const CUtexObject linear = texture(resource(a), t);
  EXPECT_EQ(sample("sample_2d", linear, 1.0f, 1.0f), 5.5f);
  t.flags = CU_TRSF_NORMALIZED_COORDINATES;
  t.addressMode[0] = CU_TR_ADDRESS_MODE_WRAP;
  t.addressMode[1] = CU_TR_ADDRESS_MODE_BORDER;
  t.filterMode = CU_TR_FILTER_MODE_POINT;
  t.borderColor[0] = 7;
  const CUtexObject wrapped = texture(resource(a), t);
  EXPECT_EQ(sample("sample_2d", wrapped, 1.3f, 0.1f), 1);
  EXPECT_EQ(sample("sample_2d", wrapped, 0.3f, 1.1f), 7);
  for (const CUtexObject object : {nearest, linear, wrapped}) EXPECT_EQ(cuTexObjectDestroy(object), CUDA_SUCCESS);
  EXPECT_EQ(cuTexObjectDestroy(nearest), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuArrayDestroy(a), CUDA_SUCCESS);
  EXPECT_EQ(cuArrayDestroy(a), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Textures, IntegersAreReadAsTheyAreOrAsFractions) {
  const CUarray a = array({2, 1, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0});
  fill<std::uint8_t>(a, {0, 51, 255, 128, 1, 2, 3, 4}, 8);
  CUDA_TEXTURE_DESC t = clamped();
  t.flags = CU_TRSF_READ_AS_INTEGER;
  const CUtexObject integers = texture(resource(a), t);
  EXPECT_EQ(words("integers_2d", integers, 0.5f), (Words{0, 51, 255, 128}));
  t.flags = 0;
  const CUtexObject fractions = texture(resource(a), t);
  const Words read = words("sample_2d", fractions, 0.5f);
  EXPECT_EQ(value(read[1]), 51 / 255.0f);
  EXPECT_EQ(value(read[2]), 1);
  t.flags = CU_TRSF_SRGB;
  const CUtexObject srgb = texture(resource(a), t);
  EXPECT_NEAR(value(words("sample_2d", srgb, 0.5f)[1]), 0.0331, 1e-3); // ((0.2 + 0.055) / 1.055)^2.4
  EXPECT_EQ(value(words("sample_2d", srgb, 0.5f)[3]), 128 / 255.0f);
  for (const CUtexObject object : {integers, fractions, srgb}) EXPECT_EQ(cuTexObjectDestroy(object), CUDA_SUCCESS);
  t.flags = CU_TRSF_READ_AS_INTEGER;
  t.filterMode = CU_TR_FILTER_MODE_LINEAR;
  CUtexObject object = 0;
  const CUDA_RESOURCE_DESC r = resource(a);
  EXPECT_EQ(cuTexObjectCreate(&object, &r, &t, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuArrayDestroy(a), CUDA_SUCCESS);
}

TEST_F(Textures, ThreeDimensionsLayersAndCubes) {
  std::vector<float> texels(2 * 2 * 6);
  for (std::size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<float>(i);
  const CUarray deep = array({2, 2, 6, CU_AD_FORMAT_FLOAT, 1, 0});
  const CUarray layers = array({2, 2, 6, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED});
  const CUarray cube = array({2, 2, 6, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP});
  for (const CUarray a : {deep, layers, cube}) fill(a, texels, 2);
  EXPECT_EQ(sample("sample_3d", texture(resource(deep)), 1.5f, 0.5f, 4.5f), 17);
  EXPECT_EQ(sample("sample_layer", texture(resource(layers)), 0.5f, 1.5f, 5), 22);
  CUDA_TEXTURE_DESC t = clamped();
  t.flags = CU_TRSF_NORMALIZED_COORDINATES;
  const float face = sample("sample_cube", texture(resource(cube), t), 0.1f, 0.2f, -1); // -z: the last
  EXPECT_GE(face, 20);
  EXPECT_LE(face, 23);
  // Two layers of the six.
  CUDA_RESOURCE_VIEW_DESC view{};
  view.width = view.height = 2;
  view.firstLayer = 3, view.lastLayer = 4;
  const CUtexObject some = texture(resource(layers), clamped(), &view);
  EXPECT_EQ(sample("sample_layer", some, 0.5f, 0.5f, 0), 12);
  EXPECT_EQ(sample("sample_layer", some, 0.5f, 0.5f, 9), 16);
  CUDA_RESOURCE_VIEW_DESC told{};
  EXPECT_EQ(cuTexObjectGetResourceViewDesc(&told, some), CUDA_SUCCESS);
  EXPECT_EQ(told.lastLayer, 4u);
}

TEST_F(Textures, LevelsOfMipmaps) {
  CUmipmappedArray whole = nullptr;
  const CUDA_ARRAY3D_DESCRIPTOR d{4, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  ASSERT_EQ(cuMipmappedArrayCreate(&whole, &d, 99), CUDA_SUCCESS); // as many as there can be: three
  CUarray level = nullptr, again = nullptr;
  for (unsigned l = 0; l < 3; ++l) {
    ASSERT_EQ(cuMipmappedArrayGetLevel(&level, whole, l), CUDA_SUCCESS);
    const std::size_t side = 4u >> l;
    fill(level, std::vector<float>(side * side, static_cast<float>(l)), side);
  }
  ASSERT_EQ(cuMipmappedArrayGetLevel(&again, whole, 2), CUDA_SUCCESS);
  EXPECT_EQ(again, level);
  EXPECT_EQ(cuMipmappedArrayGetLevel(&again, whole, 3), CUDA_ERROR_INVALID_VALUE);
  CUDA_ARRAY3D_DESCRIPTOR told{};
  EXPECT_EQ(cuArray3DGetDescriptor_v2(&told, level), CUDA_SUCCESS);
  EXPECT_EQ(told.Width, 1u);
  CUDA_TEXTURE_DESC t = clamped();
  t.flags = CU_TRSF_NORMALIZED_COORDINATES;
  EXPECT_EQ(sample("sample_level", texture(resource(whole), t), 0.5f, 0.5f, 1), 1);
  t.mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR;
  EXPECT_EQ(sample("sample_level", texture(resource(whole), t), 0.5f, 0.5f, 1.5f), 1.5f);
  t.maxMipmapLevelClamp = 1;
  EXPECT_EQ(sample("sample_level", texture(resource(whole), t), 0.5f, 0.5f, 2), 1);
  CUDA_RESOURCE_VIEW_DESC view{};
  view.width = view.height = 4;
  view.firstMipmapLevel = view.lastMipmapLevel = 2;
  EXPECT_EQ(sample("sample_level", texture(resource(whole), clamped(), &view), 0, 0, 0), 2);
  EXPECT_EQ(cuMipmappedArrayDestroy(whole), CUDA_SUCCESS);
  EXPECT_EQ(cuArray3DGetDescriptor_v2(&told, level), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Textures, LinearAndPitchedMemory) {
  CUdeviceptr memory = 0;
  std::vector<float> texels(64);
  for (std::size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<float>(i);
  ASSERT_EQ(cuMemAlloc_v2(&memory, texels.size() * sizeof(float)), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyHtoD_v2(memory, texels.data(), texels.size() * sizeof(float)), CUDA_SUCCESS);
  CUDA_RESOURCE_DESC r{};
  r.resType = CU_RESOURCE_TYPE_LINEAR;
  r.res.linear = {memory, CU_AD_FORMAT_FLOAT, 2, 10 * 2 * sizeof(float)};
  const CUtexObject linear = texture(r);
  const Words pair = words("fetch_1d", linear, 9);
  EXPECT_EQ(value(pair[0]), 18);
  EXPECT_EQ(value(pair[1]), 19);
  EXPECT_EQ(sample("fetch_1d", linear, 10), 0); // beyond the end
  CUDA_RESOURCE_DESC told{};
  EXPECT_EQ(cuTexObjectGetResourceDesc(&told, linear), CUDA_SUCCESS);
  EXPECT_EQ(told.res.linear.devPtr, memory);
  CUtexObject object = 0;
  const CUDA_TEXTURE_DESC t = clamped();
  r.res.linear.sizeInBytes = 1 << 20; // more than there is
  EXPECT_EQ(cuTexObjectCreate(&object, &r, &t, nullptr), CUDA_ERROR_INVALID_VALUE);
  r.resType = CU_RESOURCE_TYPE_PITCH2D;
  r.res.pitch2D = {memory, CU_AD_FORMAT_FLOAT, 1, 10, 4, 64};
  EXPECT_EQ(sample("sample_2d", texture(r), 3, 2), 35);
  EXPECT_EQ(sample("sample_2d", texture(r), 20, 0), 9); // the row ends before the pitch
  r.res.pitch2D.pitchInBytes = 40;
  EXPECT_EQ(cuTexObjectCreate(&object, &r, &t, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree_v2(memory), CUDA_SUCCESS);
}

TEST_F(Textures, SurfacesWriteWhatTexturesRead) {
  const CUarray a = array({4, 4, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST});
  const CUDA_RESOURCE_DESC r = resource(a);
  CUsurfObject surface = 0;
  ASSERT_EQ(cuSurfObjectCreate(&surface, &r), CUDA_SUCCESS);
  EXPECT_EQ(sample("store_2d", surface, 3 * sizeof(float), 2, 4.25f), 4.25f);
  EXPECT_EQ(sample("sample_2d", texture(r), 3, 2), 4.25f);
  EXPECT_EQ(cuTexObjectDestroy(surface), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuSurfObjectDestroy(surface), CUDA_SUCCESS);
  const CUDA_RESOURCE_DESC plain = resource(array({4, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0}));
  EXPECT_EQ(cuSurfObjectCreate(&surface, &plain), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Textures, References) {
  CUtexref reference = nullptr, again = nullptr;
  ASSERT_EQ(cuModuleGetTexRef(&reference, module_, "reference"), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetTexRef(&again, module_, "reference"), CUDA_SUCCESS);
  EXPECT_EQ(reference, again);
  EXPECT_EQ(cuModuleGetTexRef(&again, module_, "surface_reference"), CUDA_ERROR_NOT_FOUND);
  const CUarray a = array({4, 2, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST});
  fill<float>(a, {0, 1, 2, 3, 10, 11, 12, 13}, 4);
  EXPECT_EQ(cuTexRefSetArray(reference, a, CU_TRSA_OVERRIDE_FORMAT), CUDA_SUCCESS);
  EXPECT_EQ(sample("sample_reference", 0, 2, 1), 12);
  EXPECT_EQ(cuTexRefSetFilterMode(reference, CU_TR_FILTER_MODE_LINEAR), CUDA_SUCCESS);
  EXPECT_EQ(sample("sample_reference", 0, 1.0f, 1.0f), 5.5f);
  EXPECT_EQ(cuTexRefSetFlags(reference, CU_TRSF_NORMALIZED_COORDINATES), CUDA_SUCCESS);
  EXPECT_EQ(cuTexRefSetAddressMode(reference, 0, CU_TR_ADDRESS_MODE_WRAP), CUDA_SUCCESS);
  EXPECT_EQ(cuTexRefSetFilterMode(reference, CU_TR_FILTER_MODE_POINT), CUDA_SUCCESS);
  EXPECT_EQ(sample("sample_reference", 0, 1.3f, 0.1f), 1);
  CUarray told = nullptr;
  EXPECT_EQ(cuTexRefGetArray(&told, reference), CUDA_SUCCESS);
  EXPECT_EQ(told, a);

  CUsurfref surface = nullptr;
  ASSERT_EQ(cuModuleGetSurfRef(&surface, module_, "surface_reference"), CUDA_SUCCESS);
  EXPECT_EQ(cuSurfRefSetArray(surface, a, 0), CUDA_SUCCESS);
  sample("store_reference", 0, 2 * sizeof(float), 1, 99);
  EXPECT_EQ(sample("sample_reference", 0, 0.6f, 0.9f), 99);

  CUdeviceptr memory = 0;
  const std::array<std::uint8_t, 4> bytes{0, 255, 51, 102};
  ASSERT_EQ(cuMemAlloc_v2(&memory, sizeof bytes), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyHtoD_v2(memory, bytes.data(), sizeof bytes), CUDA_SUCCESS);
  size_t offset = 1;
  EXPECT_EQ(cuTexRefSetFormat(reference, CU_AD_FORMAT_UNSIGNED_INT8, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuTexRefSetAddress_v2(&offset, reference, memory, sizeof bytes), CUDA_SUCCESS);
  EXPECT_EQ(offset, 0u);
  EXPECT_EQ(sample("fetch_reference", 0, 1), 1); // 255 as a fraction
  EXPECT_EQ(cuTexRefSetArray(reinterpret_cast<CUtexref>(&offset), a, CU_TRSA_OVERRIDE_FORMAT),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuMemFree_v2(memory), CUDA_SUCCESS);
}

TEST_F(Textures, CopiesOfArrays) {
  const CUarray line = array({8, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0}),
                other = array({8, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0});
  char text[9] = "12345678";
  EXPECT_EQ(cuMemcpyHtoA_v2(line, 0, text, 8), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyHtoA_v2(line, 2, "ab", 2), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyAtoA_v2(other, 1, line, 0, 7), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyAtoH_v2(text, other, 1, 7), CUDA_SUCCESS);
  EXPECT_STREQ(text, "12ab5678");
  EXPECT_EQ(cuMemcpyDtoA_v2(line, 4, out_, 4), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyAtoD_v2(out_, line, 0, 8), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyHtoA_v2(line, 4, text, 5), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoA_v2(nullptr, 0, text, 1), CUDA_ERROR_INVALID_HANDLE);
  // A box inside an array of two dimensions, there and back.
  const CUarray plane = array({4, 4, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0});
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = "abcdef", copy.srcPitch = 3;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY, copy.dstArray = plane, copy.dstXInBytes = 1, copy.dstY = 2;
  copy.WidthInBytes = 3, copy.Height = 2;
  EXPECT_EQ(cuMemcpy2D_v2(&copy), CUDA_SUCCESS);
  char row[5] = "";
  CUDA_MEMCPY2D back{};
  back.srcMemoryType = CU_MEMORYTYPE_ARRAY, back.srcArray = plane, back.srcY = 3;
  back.dstMemoryType = CU_MEMORYTYPE_HOST, back.dstHost = row;
  back.WidthInBytes = 4, back.Height = 1;
  EXPECT_EQ(cuMemcpy2D_v2(&back), CUDA_SUCCESS);
  EXPECT_STREQ(row + 1, "def");
  copy.dstY = 3; // the second row would be outside
  EXPECT_EQ(cuMemcpy2D_v2(&copy), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Textures, ArraysThatCannotBe) {
  CUarray a = nullptr;
  const auto create = [&](const CUDA_ARRAY3D_DESCRIPTOR& d) { return cuArray3DCreate_v2(&a, &d); };
  EXPECT_EQ(create({0, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(create({4, 0, 4, CU_AD_FORMAT_FLOAT, 1, 0}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(create({4, 4, 0, CU_AD_FORMAT_FLOAT, 3, 0}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(create({4, 4, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(create({4, 5, 6, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(create({std::size_t{1} << 33, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(create({4, 4, 0, static_cast<CUarray_format>(0), 1, 0}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(create({4, 4, 0, CU_AD_FORMAT_BC1_UNORM, 4, 0}), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(create({4, 4, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SPARSE}), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuArray3DCreate_v2(nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuArrayDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

} // namespace texture_test
} // namespace warplens::runtime
