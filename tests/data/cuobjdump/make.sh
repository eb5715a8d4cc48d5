#!/usr/bin/env bash
# What cuobjdump of CUDA 13.0 writes, for tests: needs nvcc and cuobjdump.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
nvcc -o "$folder/one" a.cu
# Of relocatable code cuobjdump shows no PTX without -all.
nvcc -rdc=true -lineinfo -gencode arch=compute_75,code=compute_75 -gencode arch=compute_90,code=sm_90 \
  -gencode arch=compute_90,code=compute_90 -o "$folder/many" a.cu b.cu
nvcc -fatbin -gencode arch=compute_80,code=compute_80 -gencode arch=compute_90a,code=compute_90a -o "$folder/two.fatbin" a.cu
cuobjdump -ptx "$folder/one" >executable.txt
cuobjdump -ptx "$folder/many" >machine_code_only.txt
cuobjdump -ptx "$folder/two.fatbin" >two_targets.txt
cuobjdump -ptx -sass "$folder/one" >with_sass.txt
