// SPDX-License-Identifier: Apache-2.0
// Resident warps over block size, registers and shared memory, with the launch, as NVIDIA's calculator draws them.
import { h } from '../dom.js';
import { BottomAxis, Figure, LeftAxis, Svg } from '../chart.jsx';
import { PlainTable } from '../table.jsx';
import { bytes, count, list, percent, plural } from '../format.js';
import { scaleLinear } from 'd3-scale';
import { line, curveStepAfter } from 'd3-shape';

const kWidth = 520;
const kHeight = 250;
const kLeft = 44;
const kTop = 30;
const kBottom = 44;

/** The value of a step function at x. */
export function valueAt(steps, x) {
  let value = steps[0][1];
  for (const [from, one] of steps) if (from <= x) value = one;
  return value;
}

/** The widest part with the most warps: from, to. */
const bestSteps = (steps) => {
  const most = Math.max(...steps.map(([, warps]) => warps));
  return steps.flatMap(([from, warps], i) => (warps === most ? [[from, (steps[i + 1]?.[0] ?? Infinity) - 1]] : []));
};

function Curve({ title, axis, steps, end, at, most, format, ticks }) {
  const x = scaleLinear().domain([0, end]).range([kLeft, kWidth - 24]);
  const y = scaleLinear().domain([0, most]).range([kHeight - kBottom, kTop]);
  const points = [...steps, [end, steps.at(-1)[1]]];
  const path = line().x(([a]) => x(a)).y(([, b]) => y(b)).curve(curveStepAfter)(points);
  const here = valueAt(steps, at);
  const label = `${title}: ${here} of ${most} warps at ${format(at)}`;
  return <Figure title={[title, <span class="value">{`this launch: ${format(at)}, ${here} warps`}</span>]} label={title} table={{ heads: [axis, 'Resident warps'], rows: steps.map(([from, warps]) => [`from ${format(from)}`, count(warps)]) }}>
    <Svg width={kWidth} height={kHeight} label={label}>
      <LeftAxis scale={y} x={kLeft} ticks={y.ticks(4)} format={count} title="Resident warps" grid={kWidth - 24 - kLeft} />
      <BottomAxis scale={x} y={kHeight - kBottom} ticks={ticks} format={format} title={axis} />
      <path class="curve" d={path} />
      <line class="guide" x1={x(at)} x2={x(at)} y1={y(0)} y2={y(here)} />
      <circle class="point" cx={x(at)} cy={y(here)} r="5.5" />
    </Svg>
  </Figure>;
}

const multiples = (step, end) => Array.from({ length: Math.floor(end / step) + 1 }, (_, i) => i * step);

function Better({ curves, occupancy, limits }) {
  const most = limits.warps;
  if (occupancy.warps >= most) return <p>The launch reaches the largest number of resident warps.</p>;
  /** `whole`: the size comes in multiples of this, which the advice keeps. */
  const advice = (name, steps, at, format, whole = 1) => {
    const parts = bestSteps(steps).filter(([from]) => valueAt(steps, from) > occupancy.warps);
    if (parts.length === 0) return null;
    const [from, to] = parts.reduce((best, one) => {
      const distance = ([a, b]) => Math.max(a - at, at - b, 0);
      return distance(one) < distance(best) ? one : best;
    });
    const wanted = at < from ? Math.ceil(from / whole) * whole : to;
    return <li>{name}: {format(wanted)} instead of {format(at)} gives {valueAt(steps, wanted)} warps ({percent(valueAt(steps, wanted) / most)}).</li>;
  };
  const items = [
    advice('Threads per block', curves.by_threads, curves.threads, count, 32),
    advice('Registers per thread', curves.by_registers, curves.registers, count),
    advice('Shared memory per block', curves.by_shared_bytes, curves.shared_bytes, bytes),
  ].filter((one) => one);
  return items.length > 0 ? <section><h2>Single changes that give more warps</h2><ul>{items}</ul></section>
    : <p>No change of the block size, the registers or the shared memory alone gives more warps.</p>;
}

export const occupancy = {
  id: 'occupancy',
  title: 'Occupancy',
  fits: (report, launch) => Boolean(launch?.occupancy && launch.occupancy_curves),
  draw({ report, launch }) {
    const o = launch.occupancy;
    const curves = launch.occupancy_curves;
    const { limits } = report.device;
    return [
      <p>{o.warps} of {limits.warps} warps are resident on a multiprocessor ({percent(o.ratio)}), in {plural(o.blocks, 'block')}.
        {' '}{o.bound_by.length > 0 && `Limited by ${list(o.bound_by)}.`} {o.registers_estimated && 'The number of registers is an estimate from the PTX; the compiler of the GPU may use more or fewer (--registers).'}</p>,
      <div class="figures">
        <Curve title="Block size" axis="Threads per block" steps={curves.by_threads} end={limits.threads_per_block} at={curves.threads} most={limits.warps} format={count}
          ticks={multiples(limits.threads_per_block > 512 ? 256 : 128, limits.threads_per_block)} />
        <Curve title="Registers" axis="Registers per thread" steps={curves.by_registers} end={limits.registers_per_thread + 1} at={curves.registers} most={limits.warps} format={count}
          ticks={multiples(32, limits.registers_per_thread + 1)} />
        <Curve title="Shared memory" axis="Shared memory per block" steps={curves.by_shared_bytes} end={limits.shared_bytes_per_block} at={curves.shared_bytes} most={limits.warps} format={bytes}
          ticks={multiples(limits.shared_bytes_per_block > 65536 ? 32768 : limits.shared_bytes_per_block > 32768 ? 16384 : 4096, limits.shared_bytes_per_block)} />
        <Figure title="Blocks that each resource allows">
          <PlainTable label="Limits" heads={['Resource', 'Blocks']} rows={Object.entries(o.limits).map(([name, value]) => [name, value >= 2 ** 30 ? 'no limit' : count(value)])} />
        </Figure>
      </div>,
      <Better curves={curves} occupancy={o} limits={limits} />,
    ];
  },
};
