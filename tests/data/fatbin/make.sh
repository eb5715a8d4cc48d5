#!/usr/bin/env bash
# Makes the specimens of this folder with nvcc (13.0 made those that are committed).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
fatbin() { nvcc -fatbin "${@:2}" -o "$1.fatbin"; }
code() { printf -- '-gencode=arch=compute_%s,code=%s' "$1" "$2"; } # one word

fatbin targets "$(code 75 compute_75)" "$(code 90 compute_90)" "$(code 90 sm_90)" "$(code 90a compute_90a)" \
  "$(code 100f compute_100f)" "$(code 100a compute_100a)" "$(code 120 sm_120)" --compress-mode=size scale.cu
fatbin plain "$(code 90 compute_90)" --no-compress scale.cu
fatbin zstd "$(code 90 compute_90)" scale.cu
fatbin lz4 "$(code 90 compute_90)" --compress-mode=speed scale.cu
# Debug information names the folder: one that every machine has.
(trap "rm -f /tmp/scale.cu" EXIT; cp scale.cu /tmp; out=$PWD/debug; cd /tmp; fatbin "$out" "$(code 90 compute_90)" -g -G scale.cu)
fatbin machine_code "$(code 80 sm_80)" "$(code 90 sm_90)" --compress-mode=size scale.cu
fatbin lto "$(code 90 lto_90)" -rdc=true scale.cu
fatbin part_caller "$(code 75 compute_75)" "$(code 90 compute_90)" -rdc=true calls_twice.cu
fatbin part_callee "$(code 75 compute_75)" "$(code 90 compute_90)" -rdc=true twice.cu
fatbin device_runtime "$(code 121 compute_121)" -rdc=true device_runtime.cu
nvcc -cubin -arch=sm_90 -o scale.cubin scale.cu

# Object files for the host.
nvcc -c "$(code 90 compute_90)" -o object.elf scale.cu
nvcc -c -rdc=true "$(code 90 compute_90)" -o relocatable_object.elf calls_twice.cu
rm -f ./*.gpu ./*.ii
