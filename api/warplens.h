// SPDX-License-Identifier: Apache-2.0
/* Warplens as a C library: emulate PTX kernels on the CPU, and read how a GPU would execute them.
 *
 *   warplens_context* context;
 *   warplens_module* module;
 *   warplens_report* report;
 *   uint64_t x;
 *   warplens_context_create(&context);
 *   if (warplens_module_load(context, ptx, "saxpy.ptx", &module) != WARPLENS_OK) puts(warplens_last_error());
 *   warplens_memory_allocate(context, 4096, "x", &x);
 *   warplens_launch_options options = WARPLENS_LAUNCH_OPTIONS_INIT;
 *   options.grid[0] = 4; options.block[0] = 256;
 *   int32_t n = 1024;
 *   const void* arguments[] = {&n, &x};
 *   const size_t sizes[] = {sizeof n, sizeof x};
 *   warplens_launch(module, "scale", &options, arguments, sizes, 2, &report);
 *   puts(warplens_report_json(report));
 *
 * Threads: you can call every function from any thread. Do not destroy a handle while another thread uses it. The
 * caller must order launches that access the same memory.
 * Errors: functions that can fail return a warplens_status. warplens_last_error() then returns one or more messages,
 * each as "file:line:col: error: message" with the source line and a hint. No function but ptx_run() prints or ends the
 * process. Sizes are in bytes, grids in blocks, blocks in threads. Null handles and null pointers are refused as
 * invalid, but destroy functions accept null. */
#ifndef WARPLENS_H
#define WARPLENS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define WARPLENS_API __attribute__((visibility("default")))
#else
#define WARPLENS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum warplens_status {
  WARPLENS_OK = 0,
  WARPLENS_TRAPPED = 1, /* the kernel stopped: out of bounds, misaligned, trap, step limit, … */
  WARPLENS_INVALID = 2, /* bad PTX, a launch that the device does not allow, arguments that do not match */
  WARPLENS_INTERNAL = 3 /* an error in the library, or out of memory */
} warplens_status;

typedef struct warplens_context warplens_context; /* device memory */
typedef struct warplens_module warplens_module;   /* parsed and checked PTX with its variables in memory */
typedef struct warplens_report warplens_report;   /* the results of a launch */

/* "0.2.0"; valid for the lifetime of the process. */
WARPLENS_API const char* warplens_version(void);
/* The messages of the last function that failed in this thread; empty at first. Valid until the next failure or the
 * next ptx_run(). */
WARPLENS_API const char* warplens_last_error(void);

/* A context owns its allocations; modules and reports keep it alive. */
WARPLENS_API warplens_status warplens_context_create(warplens_context** context);
WARPLENS_API void warplens_context_destroy(warplens_context* context);

/* Allocates `size` zeroed bytes, aligned to 256 bytes. Reports use `name` (may be null) for them. The address is also a
 * host address: you can read and write it directly. */
WARPLENS_API warplens_status warplens_memory_allocate(warplens_context* context, uint64_t size, const char* name,
                                                      uint64_t* address);
WARPLENS_API warplens_status warplens_memory_free(warplens_context* context, uint64_t address);
/* Copies `size` bytes to or from an allocation. Invalid: the range is not inside one allocation. */
WARPLENS_API warplens_status warplens_memory_write(warplens_context* context, uint64_t address, const void* from,
                                                   uint64_t size);
WARPLENS_API warplens_status warplens_memory_read(warplens_context* context, uint64_t address, void* to, uint64_t size);

/* `ptx` is zero-terminated text; messages use `file` as its name (may be null). */
WARPLENS_API warplens_status warplens_module_load(warplens_context* context, const char* ptx, const char* file,
                                                  warplens_module** module);
WARPLENS_API void warplens_module_destroy(warplens_module* module);
/* The kernels, in the order of the text. Names are valid as long as the module; null: no such index. */
WARPLENS_API size_t warplens_module_kernel_count(const warplens_module* module);
WARPLENS_API const char* warplens_module_kernel_name(const warplens_module* module, size_t index);
/* The number of parameters of a kernel, and the size of each in bytes. Invalid: no such kernel; for the size, no such
 * index. */
WARPLENS_API warplens_status warplens_kernel_parameter_count(const warplens_module* module, const char* kernel,
                                                             size_t* count);
WARPLENS_API warplens_status warplens_kernel_parameter_size(const warplens_module* module, const char* kernel,
                                                            size_t index, uint64_t* size);
/* Address and size of a .global or .const variable; either pointer may be null. */
WARPLENS_API warplens_status warplens_module_variable(const warplens_module* module, const char* name,
                                                      uint64_t* address, uint64_t* size);

typedef struct warplens_launch_options {
  size_t struct_size;    /* sizeof(warplens_launch_options): later versions may append members */
  uint64_t grid[3];      /* in blocks: x, y, z */
  uint64_t block[3];     /* in threads: x, y, z */
  uint64_t shared_bytes; /* dynamic shared memory per block */
  const char* device;    /* built-in name or device file; null: C1060 for targets before sm_20, else H200 */
  uint32_t registers;    /* per thread, for the occupancy; 0: from .maxnreg, or estimated */
  uint32_t workers;      /* threads of the emulator; 0: one per processor that the process may use */
  uint64_t max_steps;    /* number of warp instructions after which the kernel is stopped; 0: 2^40 */
  int analyze;           /* 0: only run; otherwise count, predict and find problems */
  int host_pointers;     /* 1: addresses outside the context's memory are the caller's responsibility and do not
                          * trap. A kernel that waits forever is then not reported as a deadlock either, because the
                          * host may write the value that it waits for */
  int cooperative;       /* 1: all blocks run at the same time and may wait for each other */
  uint64_t cluster[3];   /* blocks per cluster; zeros: from .reqnctapercluster, or no clusters */
  int past_ends;         /* 1: as on a GPU, an access past the end of an allocation passes if its 2 MiB page contains
                          * another allocation or the rest of one; 0: it traps */
  const char* tools;     /* "memcheck", "initcheck", "memcheck,synccheck" or "all": docs/sanitizer.md; null: none */
} warplens_launch_options;

#define WARPLENS_LAUNCH_OPTIONS_INIT                                                                                   \
  { sizeof(warplens_launch_options), {1, 1, 1}, {1, 1, 1}, 0, NULL, 0, 0, 0, 1, 0, 0, {0, 0, 0}, 0, NULL }

/* Runs a kernel and waits for it. arguments[i] points to the sizes[i] bytes of argument i; sizes[i] must equal the size
 * of the parameter. `report` may be null. WARPLENS_TRAPPED also returns a report, which contains the reason. */
WARPLENS_API warplens_status warplens_launch(warplens_module* module, const char* kernel,
                                             const warplens_launch_options* options, const void* const* arguments,
                                             const size_t* sizes, size_t count, warplens_report** report);

/* The report as JSON (docs/json-schema.json); valid as long as the report. The first call writes it, which takes longer
 * than a small launch. "" if memory is short: warplens_last_error() says so. */
WARPLENS_API const char* warplens_report_json(const warplens_report* report);
/* What the kernel printed with printf(), in the order of its blocks; valid as long as the report. */
WARPLENS_API const char* warplens_report_printed(const warplens_report* report);
/* The errors that the tools of the launch have found, and their messages as text, one after the other; the text is
 * valid as long as the report. No errors: 0 and "". */
WARPLENS_API uint64_t warplens_report_error_count(const warplens_report* report);
WARPLENS_API const char* warplens_report_messages(const warplens_report* report);
/* The value of a metric of the whole launch, by name. Invalid: no such metric. */
WARPLENS_API warplens_status warplens_report_metric(const warplens_report* report, const char* name, double* value);
/* A metric that reports can have: its name, its unit and its definition, as in docs/metrics.md. The strings are valid
 * until the library is unloaded. A name with {} stands for several metrics: a name or a number replaces the {}.
 * Invalid: `index`, which counts from 0, is past the last metric. */
WARPLENS_API warplens_status warplens_metric(size_t index, const char** name, const char** unit,
                                             const char** definition);
WARPLENS_API void warplens_report_destroy(warplens_report* report);

/* For programs written against gpuocelot: runs the first kernel of `source` (zero-terminated PTX) and waits for it.
 * args[i] is not a pointer to argument i but its value: the low bytes of args[i], as many as the parameter has.
 * Addresses are host pointers. The block comes before the grid. Modules are cached by content. The function cannot
 * return an error. It prints errors to stderr, and warplens_last_error() returns them; after a success, that is empty.
 * If the environment variable WARPLENS_PTX_RUN is "abort", an error ends the process with SIGABRT; if it is "continue"
 * or not set, the function returns. Accesses past the end of a module's variable pass as on a GPU, with a warning for
 * each place, unless the environment variable WARPLENS_STRICT is 1. */
WARPLENS_API void ptx_run(const char* source, int n_args, void** args, int block_x, int block_y, int block_z,
                          int grid_x, int grid_y, int grid_z, int shared_bytes);

#ifdef __cplusplus
}
#endif

#endif
