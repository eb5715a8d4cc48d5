// SPDX-License-Identifier: Apache-2.0
// Numbers for people: 12345678 is "12.3 M", 0.0000256 ms is "25.6 ns".
const scaled = (value, steps, unit) => {
  const step = steps.find(([least]) => Math.abs(value) >= 0.9995 * least) ?? steps.at(-1); // 999.7 µs are 1 ms
  return `${digits(value / step[0])} ${step[1]}${unit}`.trimEnd();
};

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** Three significant digits. */
export function digits(value) {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 100) return whole.format(value);
  if (size < 0.001) return value.toExponential(1);
  return String(Number(value.toPrecision(3)));
}

export const time = (milliseconds) => milliseconds === 0 ? '0' : Number.isFinite(milliseconds)
  ? scaled(milliseconds / 1e3, [[1, 's'], [1e-3, 'ms'], [1e-6, 'µs'], [1e-9, 'ns']], '') : '–';
export const bytes = (value) => scaled(value, [[2 ** 30, 'Gi'], [2 ** 20, 'Mi'], [2 ** 10, 'Ki'], [1, '']], 'B');
/** In 10⁹ of the unit a second: 4917 GB/s are "4.92 TB/s", 989400 GFLOP/s "989 TFLOP/s". */
export const rate = (billions, unit) => (!Number.isFinite(billions) ? '–'
  : scaled(1e9 * billions, [[1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, '']], unit));
export const percent = (ratio) => (!Number.isFinite(ratio) ? '–' : ratio > 0 && ratio < 0.001 ? '< 0.1 %' : `${digits(100 * ratio)} %`);
/** 1234 is "1,234"; from a hundred thousand on "123 k". */
export const count = (value) => (!Number.isFinite(value) ? '–'
  : Math.abs(value) < 1e5 ? (Number.isInteger(value) ? whole.format(value) : digits(value))
    : scaled(value, [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']], ''));
export const extent = (list) => {
  const used = list.slice(0, list[2] > 1 ? 3 : list[1] > 1 ? 2 : 1);
  return used.join(' × ');
};
/** "12 blocks", "1 block", "2 launches", "4 passes" */
export const plural = (n, word) => `${count(n)} ${word}${n === 1 ? '' : /(ch|s)$/.test(word) ? 'es' : 's'}`;
/** "registers", "registers and warps", "a, b and c" */
export const list = (words) => (words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`);
