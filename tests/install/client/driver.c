// SPDX-License-Identifier: Apache-2.0
/* A program that was written for NVIDIA's driver API, linked with the stand-in for libcuda. */
#include <stdio.h>

int cuInit(unsigned flags);
int cuDeviceGetName(char* name, int size, int device);

int main(void) {
  char name[64];
  if (cuInit(0) != 0 || cuDeviceGetName(name, sizeof name, 0) != 0) return 1;
  printf("driver of an %s\n", name);
  return 0;
}
