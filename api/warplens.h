/* Warplens as a C library: emulate PTX kernels on the CPU, and read what a GPU would have made of them.
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
 * Threads: every function may be called from any thread. A handle must not be destroyed while another thread uses it;
 * launches that touch the same memory are ordered by the caller.
 * Errors: functions that can fail return a warplens_status; warplens_last_error() then has the text, one message or
 * more, each as "file:line:col: error: message" with the source line and a hint. No function prints; none ends the
 * process. Sizes are in bytes, grids in blocks, blocks in threads. Null handles and null pointers are refused as
 * invalid, but destroy functions take null. */
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
  WARPLENS_INVALID = 2, /* bad PTX, a launch that the device refuses, arguments that do not fit */
  WARPLENS_INTERNAL = 3 /* a fault of the library, or no memory left */
} warplens_status;

typedef struct warplens_context warplens_context; /* device memory */
typedef struct warplens_module warplens_module;   /* PTX, parsed and checked, its variables in memory */
typedef struct warplens_report warplens_report;   /* what a launch found out */

/* "0.1.0"; lives forever. */
WARPLENS_API const char* warplens_version(void);
/* What the last function of this thread that failed has to say; empty at first. Valid until the next failure. */
WARPLENS_API const char* warplens_last_error(void);

/* A context owns its allocations; modules and reports keep it alive. */
WARPLENS_API warplens_status warplens_context_create(warplens_context** context);
WARPLENS_API void warplens_context_destroy(warplens_context* context);

/* `size` zeroed bytes at a multiple of 256, which reports call `name` (may be null). An address is a host address too:
 * it may be read and written directly. */
WARPLENS_API warplens_status warplens_memory_allocate(warplens_context* context, uint64_t size, const char* name,
                                                      uint64_t* address);
WARPLENS_API warplens_status warplens_memory_free(warplens_context* context, uint64_t address);
/* Copies `size` bytes to or from an allocation. Invalid: a range that is not inside one. */
WARPLENS_API warplens_status warplens_memory_write(warplens_context* context, uint64_t address, const void* from,
                                                   uint64_t size);
WARPLENS_API warplens_status warplens_memory_read(warplens_context* context, uint64_t address, void* to, uint64_t size);

/* `ptx` is text, ended by a zero byte; `file` is the name that messages give it (may be null). */
WARPLENS_API warplens_status warplens_module_load(warplens_context* context, const char* ptx, const char* file,
                                                  warplens_module** module);
WARPLENS_API void warplens_module_destroy(warplens_module* module);
/* The kernels, in the order of the text. Names live as long as the module; null: no such index. */
WARPLENS_API size_t warplens_module_kernel_count(const warplens_module* module);
WARPLENS_API const char* warplens_module_kernel_name(const warplens_module* module, size_t index);
/* Parameters of a kernel, and the size of each in bytes. Invalid: no such kernel; size: no such index. */
WARPLENS_API warplens_status warplens_kernel_parameter_count(const warplens_module* module, const char* kernel,
                                                             size_t* count);
WARPLENS_API warplens_status warplens_kernel_parameter_size(const warplens_module* module, const char* kernel,
                                                            size_t index, uint64_t* size);
/* Address and size of a .global or .const variable; either pointer may be null. */
WARPLENS_API warplens_status warplens_module_variable(const warplens_module* module, const char* name,
                                                      uint64_t* address, uint64_t* size);

typedef struct warplens_launch_options {
  size_t struct_size;    /* sizeof(warplens_launch_options): later versions may append members */
  uint64_t grid[3];      /* blocks: x, y, z */
  uint64_t block[3];     /* threads: x, y, z */
  uint64_t shared_bytes; /* dynamic shared memory of a block */
  const char* device;    /* built-in name or device file; null: C1060 for targets before sm_20, else H200 */
  uint32_t registers;    /* per thread, for the occupancy; 0: .maxnreg, or an estimate */
  uint32_t workers;      /* threads of the emulator; 0: as many as the machine has */
  uint64_t max_steps;    /* warp instructions after which the kernel is stopped; 0: 2^40 */
  int analyze;           /* 0: only run; else count, predict and find problems */
  int host_pointers;     /* 1: addresses outside the context's memory are the caller's business, not traps. A kernel
                          * that waits for ever is then no deadlock either: the host may write what it waits for */
  int cooperative;       /* 1: all blocks run at the same time, and may wait for each other */
  uint64_t cluster[3];   /* blocks of a cluster; zeros: as .reqnctapercluster says, or none */
  int past_ends;         /* 1: an access past an allocation passes, as on a GPU, where its page of 2 MiB has another
                          * allocation or the rest of one; 0: it traps */
} warplens_launch_options;

#define WARPLENS_LAUNCH_OPTIONS_INIT                                                                                   \
  {                                                                                                                    \
    sizeof(warplens_launch_options), {1, 1, 1}, {1, 1, 1}, 0, NULL, 0, 0, 0, 1, 0, 0, {0, 0, 0}, 0                     \
  }

/* Runs a kernel and waits for it. arguments[i] points to the sizes[i] bytes of argument i; they must be as wide as the
 * parameter. `report` may be null. After WARPLENS_TRAPPED there is a report too, which says why. */
WARPLENS_API warplens_status warplens_launch(warplens_module* module, const char* kernel,
                                             const warplens_launch_options* options, const void* const* arguments,
                                             const size_t* sizes, size_t count, warplens_report** report);

/* The report as JSON (docs/json-schema.json); lives as long as the report. */
WARPLENS_API const char* warplens_report_json(const warplens_report* report);
/* What the kernel printed with printf(), in the order of its blocks; lives as long as the report. */
WARPLENS_API const char* warplens_report_printed(const warplens_report* report);
/* The value of a metric of the whole launch, by name. Invalid: there is none of that name. */
WARPLENS_API warplens_status warplens_report_metric(const warplens_report* report, const char* name, double* value);
WARPLENS_API void warplens_report_destroy(warplens_report* report);

/* For programs written against gpuocelot: runs the first kernel of `source` (PTX, ended by a zero byte) and waits.
 * args[i] is not a pointer to argument i but its value, as wide as the parameter: the low bytes of the pointer-sized
 * args[i]. Addresses are host pointers. The block comes before the grid. Modules are kept by content. There is no way
 * to return an error: it is printed to stderr. Accesses past the end of a module's variable pass as on a GPU, with a
 * warning for each place, unless the environment variable WARPLENS_STRICT is 1. */
WARPLENS_API void ptx_run(const char* source, int n_args, void** args, int block_x, int block_y, int block_z,
                          int grid_x, int grid_y, int grid_z, int shared_bytes);

#ifdef __cplusplus
}
#endif

#endif
