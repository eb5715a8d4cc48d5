// SPDX-License-Identifier: Apache-2.0
// Arithmetic operations of a launch by type. Those of single and double precision are counters of the report; those of
// half precision and of matrices follow from the PTX of its instructions and how often they ran.
import { metric, names } from './data.js';
import { list } from './format.js';

const on = 'smsp__thread_inst_executed_pred_on.sum';
const counted = (launch, name) => metric(launch.metrics, `smsp__sass_thread_inst_executed_op_${name}_pred_on.sum`);

/** The types, by the keys of [peak_operations] in device files, with those of matrix instructions last. */
export const types = [
  { key: 'single', name: 'FP32' }, { key: 'double_precision', name: 'FP64' }, { key: 'half', name: 'FP16' }, { key: 'bfloat16', name: 'BF16' },
  { key: 'matrix_half', name: 'FP16', matrices: true }, { key: 'matrix_half_sums', name: 'FP16 with FP16 sums', matrices: true },
  { key: 'matrix_bfloat16', name: 'BF16', matrices: true }, { key: 'matrix_tf32', name: 'TF32', matrices: true }, { key: 'matrix_fp8', name: 'FP8', matrices: true },
  { key: 'matrix_fp4', name: 'FP4', matrices: true }, { key: 'matrix_double', name: 'FP64', matrices: true }, { key: 'matrix_int8', name: 'INT8', matrices: true },
];

/** "FP32; FP64 matrices", "FP16 and BF16 matrices" */
export function namesOf(some) {
  const matrices = some.filter((type) => type.matrices).map((type) => type.name);
  // Where sums of both types have the same rate, one name says it.
  const distinct = matrices.filter((name) => name === 'FP16' || !name.startsWith('FP16') || !matrices.includes('FP16'));
  const others = some.filter((type) => !type.matrices).map((type) => type.name);
  return [others.join(', '), distinct.length > 0 ? `${list(distinct)} matrices` : ''].filter(Boolean).join('; ');
}

/** The parts of the opcode of a PTX statement: "@%p1 fma.rn.f16x2 %r1, …" is [fma, rn, f16x2]. */
const partsOf = (ptx) => (/^\s*(?:@!?%\w+\s+)?([a-z][\w.:]*)/.exec(ptx)?.[1] ?? '').split('.');

const factorTypes = { f16: 'matrix_half', bf16: 'matrix_bfloat16', tf32: 'matrix_tf32', f64: 'matrix_double', e4m3: 'matrix_fp8', e5m2: 'matrix_fp8',
  e2m1: 'matrix_fp4', s8: 'matrix_int8', u8: 'matrix_int8' };

/** mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 is 4096 operations of a warp on FP16 matrices. */
function ofMatrices(parts) {
  const shape = parts.map((part) => /^m(\d+)n(\d+)k(\d+)$/.exec(part)).find(Boolean);
  if (!shape || !['mma', 'wmma', 'wgmma'].includes(parts[0]) || !parts.some((part) => part === 'mma' || part === 'mma_async')) return null;
  const ofParts = parts.filter((part) => /^(?:[subf]\d+|bf16|tf32|e\dm\d)$/.test(part));
  // wmma.mma of half precision names the sums only; all others name the sums first, then the factors.
  const factors = ofParts.length <= 2 && ofParts.every((type) => type === 'f16' || type === 'f32') ? 'f16' : ofParts[1];
  const key = factorTypes[factors];
  if (!key) return null;
  return { key: key === 'matrix_half' && ofParts[0] === 'f16' ? 'matrix_half_sums' : key, ofWarp: 2 * shape[1] * shape[2] * shape[3] };
}

const ofHalf = { f16: ['half', 1], f16x2: ['half', 2], bf16: ['bfloat16', 1], bf16x2: ['bfloat16', 2] };
const each = { add: 1, sub: 1, mul: 1, fma: 2 };

/** The operations of each type that the launch executes: Map of key to number. */
export function operations(launch) {
  const sums = new Map([
    ['single', counted(launch, 'fadd') + counted(launch, 'fmul') + 2 * counted(launch, 'ffma')],
    ['double_precision', counted(launch, 'dadd') + counted(launch, 'dmul') + 2 * counted(launch, 'dfma')],
  ]);
  const add = (key, count) => sums.set(key, (sums.get(key) ?? 0) + count);
  for (const row of launch.instructions) {
    const parts = partsOf(row.ptx);
    const matrices = ofMatrices(parts);
    if (matrices) add(matrices.key, matrices.ofWarp * metric(row, names.instructions));
    const half = ofHalf[parts.find((part) => ofHalf[part])];
    if (half && each[parts[0]]) add(half[0], half[1] * each[parts[0]] * metric(row, on));
  }
  return new Map([...sums].filter(([, count]) => count > 0));
}

/** Operations in a second, in 10⁹, by type; those that are known of the device. */
export function peaks(device) {
  const scale = device.multiprocessors * device.clock_ghz;
  const known = { ...device.peak_operations, single: 2 * device.cores_per_multiprocessor };
  return new Map(types.filter(({ key }) => known[key] > 0).map(({ key }) => [key, known[key] * scale]));
}
