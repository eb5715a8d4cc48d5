// SPDX-License-Identifier: Apache-2.0
/* A program that was written for gpuocelot: loads a library by its path and runs a kernel with ptx_run(). It prints the
 * libraries of the process, so that a test can see what else was loaded. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef void ptx_run_function(const char* source, int n_args, void** args, int block_x, int block_y, int block_z,
                              int grid_x, int grid_y, int grid_z, int shared_bytes);

/* Adds its index to each element. */
static const char* const kPtx = ".version 7.8\n"
                                ".target sm_80\n"
                                ".address_size 64\n"
                                ".visible .entry add_index(.param .u64 data)\n"
                                "{\n"
                                "  .reg .b32 %r<4>;\n"
                                "  .reg .b64 %d<3>;\n"
                                "  ld.param.u64 %d1, [data];\n"
                                "  mov.u32 %r1, %tid.x;\n"
                                "  mov.u32 %r2, %ctaid.x;\n"
                                "  mad.lo.u32 %r1, %r2, 32, %r1;\n"
                                "  mul.wide.u32 %d2, %r1, 4;\n"
                                "  add.u64 %d1, %d1, %d2;\n"
                                "  ld.global.u32 %r3, [%d1];\n"
                                "  add.u32 %r3, %r3, %r1;\n"
                                "  st.global.u32 [%d1], %r3;\n"
                                "  ret;\n"
                                "}\n";

static void list_libraries(void) {
  char line[4096];
  FILE* const maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    const char* const file = strrchr(line, '/');
    if (file != NULL && strstr(file, ".so") != NULL) printf("library %s", file + 1);
  }
  if (maps != NULL) fclose(maps);
}

int main(int argc, char** argv) {
  static uint32_t values[2048];
  void* arguments[1] = {values};
  void* library;
  ptx_run_function* run;
  if (argc != 3) return 2;
  library = dlopen(argv[1], RTLD_NOW);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  *(void**)&run = dlsym(library, "ptx_run");
  if (run == NULL) return 1;
  for (int i = 0; i < 10; ++i) run(kPtx, 1, arguments, 32, 1, 1, 64, 1, 1, 0);
  for (uint32_t i = 0; i < 2048; ++i)
    if (values[i] != 10 * i) return 1;
  printf("10 launches: %u\n", (unsigned)values[2047]);
  list_libraries();
  if (strcmp(argv[2], "fail") == 0) run("nonsense", 1, arguments, 32, 1, 1, 64, 1, 1, 0);
  puts("end");
  return 0;
}
