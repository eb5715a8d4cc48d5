// SPDX-License-Identifier: Apache-2.0
// Arithmetic operations of a launch by type. Those of single and double precision and of matrices are metrics of the report;
// those of half precision follow from the PTX of its instructions and how often they ran.
import { metric } from './data.js';
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

const ofHalf = { f16: ['half', 1], f16x2: ['half', 2], bf16: ['bfloat16', 1], bf16x2: ['bfloat16', 2] };
const each = { add: 1, sub: 1, mul: 1, fma: 2 };

/** The operations of each type that the launch executes: Map of key to number. */
export function operations(launch) {
  const sums = new Map([
    ['single', counted(launch, 'fadd') + counted(launch, 'fmul') + 2 * counted(launch, 'ffma')],
    ['double_precision', counted(launch, 'dadd') + counted(launch, 'dmul') + 2 * counted(launch, 'dfma')],
  ]);
  const add = (key, count) => sums.set(key, (sums.get(key) ?? 0) + count);
  for (const type of types.filter(({ matrices }) => matrices)) add(type.key, metric(launch.metrics, type.key.replace('matrix_', 'matrix_operations_')));
  for (const row of launch.instructions) {
    const parts = partsOf(row.ptx);
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
