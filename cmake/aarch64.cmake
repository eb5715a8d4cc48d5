# SPDX-License-Identifier: Apache-2.0
# Cross-compiles to 64-bit Arm on Debian 12, and runs the tests by QEMU:
#
#   apt-get install g++-aarch64-linux-gnu qemu-user
#   packaging/aarch64_sysroot.sh build-aarch64-sysroot
#   cmake --preset aarch64
#
# -DWARPLENS_SYSROOT=FOLDER names another folder with the arm64 libraries.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

get_filename_component(sysroot ${CMAKE_CURRENT_LIST_DIR}/../build-aarch64-sysroot ABSOLUTE)
set(WARPLENS_SYSROOT ${sysroot} CACHE PATH "the arm64 libraries, from packaging/aarch64_sysroot.sh")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES WARPLENS_SYSROOT)
if(NOT EXISTS ${WARPLENS_SYSROOT}/usr/lib/aarch64-linux-gnu)
  message(FATAL_ERROR "${WARPLENS_SYSROOT} has no arm64 libraries: run packaging/aarch64_sysroot.sh ${WARPLENS_SYSROOT}")
endif()

set(CMAKE_SYSROOT ${WARPLENS_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER) # antlr4 and others run here
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${WARPLENS_SYSROOT})
