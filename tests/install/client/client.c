// SPDX-License-Identifier: Apache-2.0
/* A program of a user of the C library: launches a kernel and prints a metric. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <warplens.h>

/* twice(data): every element is doubled. */
static const char* const kPtx = ".version 7.8\n"
                                ".target sm_80\n"
                                ".address_size 64\n"
                                ".visible .entry twice(.param .u64 data)\n"
                                "{\n"
                                "  .reg .b32 %r<3>;\n"
                                "  .reg .b64 %d<3>;\n"
                                "  ld.param.u64 %d1, [data];\n"
                                "  mov.u32 %r1, %tid.x;\n"
                                "  mul.wide.u32 %d2, %r1, 4;\n"
                                "  add.u64 %d1, %d1, %d2;\n"
                                "  ld.global.u32 %r2, [%d1];\n"
                                "  add.u32 %r2, %r2, %r2;\n"
                                "  st.global.u32 [%d1], %r2;\n"
                                "  ret;\n"
                                "}\n";

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, warplens_last_error());
  return 1;
}

int main(void) {
  warplens_context* context;
  warplens_module* module;
  warplens_report* report;
  uint64_t data;
  uint32_t values[64];
  warplens_launch_options options = WARPLENS_LAUNCH_OPTIONS_INIT;
  const size_t size = sizeof data;
  const void* arguments[1];
  double instructions;
  for (uint32_t i = 0; i < 64; ++i) values[i] = i;
  if (warplens_context_create(&context) != WARPLENS_OK) return failed("context");
  if (warplens_memory_allocate(context, sizeof values, "data", &data) != WARPLENS_OK) return failed("allocate");
  if (warplens_memory_write(context, data, values, sizeof values) != WARPLENS_OK) return failed("write");
  if (warplens_module_load(context, kPtx, "twice.ptx", &module) != WARPLENS_OK) return failed("load");
  options.block[0] = 64;
  arguments[0] = &data;
  if (warplens_launch(module, "twice", &options, arguments, &size, 1, &report) != WARPLENS_OK) return failed("launch");
  if (warplens_memory_read(context, data, values, sizeof values) != WARPLENS_OK) return failed("read");
  if (warplens_report_metric(report, "instructions", &instructions) != WARPLENS_OK) return failed("metric");
  printf("C, warplens %s: %" PRIu32 ", %g instructions\n", warplens_version(), values[63], instructions);
  /* Bad input is refused with a message. */
  if (warplens_module_load(context, ".version 99", NULL, &module) != WARPLENS_INVALID) return 1;
  if (strstr(warplens_last_error(), "error") == NULL) return 1;
  warplens_report_destroy(report);
  warplens_context_destroy(context);
  return 0;
}
