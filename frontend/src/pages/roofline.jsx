// SPDX-License-Identifier: Apache-2.0
// The roofline: ceilings by level of memory and by type of arithmetic, and the launch at its intensities.
import { Fragment, h } from '../dom.js';
import { BottomAxis, Figure, LeftAxis, Svg } from '../chart.jsx';
import * as data from '../data.js';
import { digits } from '../format.js';
import { scaleLog } from 'd3-scale';

const kWidth = 760;
const kHeight = 420;
const kColours = ['var(--s1)', 'var(--s2)', 'var(--s3)'];

const op = (m, name) => m[`smsp__sass_thread_inst_executed_op_${name}_pred_on.sum`] ?? 0;

/** Bandwidths in GB/s by level, and rates in GFLOP/s by type; those that the device file knows. */
export function ceilings(device) {
  const d = device.throughput_latency;
  const levels = [];
  if (d?.wavefronts) levels.push({ name: 'L1 and shared memory', rate: 128 * d.wavefronts * device.multiprocessors * d.clock_ghz });
  if (d?.l2_read) levels.push({ name: 'L2', rate: 32 * d.l2_read * d.clock_ghz });
  levels.push({ name: 'Device memory', rate: device.bandwidth_gb_s });
  const single = device.multiprocessors * device.cores_per_multiprocessor * device.clock_ghz;
  const types = [{ name: 'FP32, fused multiply-add', rate: 2 * single }, { name: 'FP32, add or multiply', rate: single }];
  if (d?.double_precision) types.push({ name: 'FP64, fused multiply-add', rate: 2 * 32 * d.double_precision * device.multiprocessors * d.clock_ghz });
  // One line for what has the same rate.
  const distinct = [];
  for (const type of types) {
    const same = distinct.find((one) => Math.abs(one.rate / type.rate - 1) < 0.03);
    if (same) same.name += `; ${type.name}`;
    else distinct.push(type);
  }
  return { levels, types: distinct };
}

/** Bytes of the launch at each level; device memory has what the model of the caches says, else every sector. */
export function traffic(launch) {
  const m = launch.metrics;
  const requested = 32 * (data.metric(m, data.names.sectors) + data.metric(m, 'memory_l2_theoretical_sectors_local'));
  const misses = m['lts__t_sectors_lookup_miss.sum'];
  const term = (name) => launch.predictions.find((p) => p.model === 'throughput-latency')?.terms.find((t) => t.name === name)?.value;
  const passes = data.passes(m);
  return [
    { name: 'L1 and shared memory', bytes: requested + 128 * passes },
    { name: 'L2', bytes: m['lts__t_sectors.sum'] !== undefined ? 32 * m['lts__t_sectors.sum'] : requested },
    { name: 'Device memory', bytes: misses !== undefined ? 32 * misses : term('memory_bytes') ?? requested },
  ].filter((one) => one.bytes > 0);
}

function work(launch) {
  const m = launch.metrics;
  const double = op(m, 'dadd') + op(m, 'dmul') + 2 * op(m, 'dfma');
  const flops = m.flop_count ?? 0;
  return { flops, mostlyDouble: double > flops / 2 };
}

/** Levels that transfer equally many bytes have their points at the same place, and one label. */
function together(points) {
  const list = [];
  for (const { intensity, name } of [...points].sort((a, b) => a.intensity - b.intensity)) {
    const last = list.at(-1);
    if (last && intensity < 1.05 * last.intensity) last.names.push(name);
    else list.push({ intensity, names: [name] });
  }
  return list;
}

/** Where the name of each horizontal ceiling is: near its line, and on no other name or line. */
function ceilingNames(types, y, right) {
  const taken = [];
  return types.map((type) => {
    const own = y(type.rate);
    const free = ([x, at]) => taken.every(([otherX, other]) => otherX !== x || Math.abs(other - at) >= 13)
      && types.every((other) => other === type || y(other.rate) < at - 10 || y(other.rate) > at + 3);
    const candidates = [0, 1, 2].flatMap((i) => [[right - 215 * i, own - 5], [right - 215 * i, own + 14]]);
    const found = candidates.find(free) ?? candidates[1];
    taken.push(found);
    return found;
  });
}

const decades = ([low, high]) => {
  const list = [];
  for (let power = Math.ceil(Math.log10(low)); power <= Math.floor(Math.log10(high)); power += 1) list.push(10 ** power);
  return list;
};

function Chart({ report, launch }) {
  const { levels, types } = ceilings(report.device);
  const { flops } = work(launch);
  const seconds = data.launchTime(launch) / 1e3;
  const achieved = flops / seconds / 1e9;
  const points = traffic(launch).map((one) => ({ ...one, intensity: flops / one.bytes, level: levels.find((level) => level.name === one.name) })).filter((one) => one.level);
  const peak = Math.max(...types.map((type) => type.rate));
  const xs = points.map((point) => point.intensity);
  const domain = [Math.min(0.01, ...xs.map((x) => x / 3)), Math.max(1000, ...xs.map((x) => x * 3))];
  const range = [Math.min(achieved / 3, peak / 1e4), peak * 3];
  const x = scaleLog().domain(domain).range([64, kWidth - 16]);
  const y = scaleLog().domain(range).range([kHeight - 46, 34]);
  const roof = (level) => {
    const left = Math.max(domain[0], range[0] / level.rate);
    const ridge = peak / level.rate;
    return `M${x(left)},${y(left * level.rate)} L${x(ridge)},${y(peak)}`;
  };
  const colour = (name) => kColours[levels.findIndex((level) => level.name === name)] ?? 'var(--ink)';
  const names = ceilingNames(types, y, x(domain[1]));
  const slope = -Math.atan2(y(1) - y(10), x(10) - x(1)) * 180 / Math.PI;
  return <Figure wide title="Attainable and predicted performance" note={`The points show the launch, with the time that ${data.trusted(launch).model} predicts: for each level of memory, the operations per byte that this level transfers. The dashed line leads to what the level permits; a point on its slope is limited by the bandwidth of this level. Device files have no rates of half precision and of matrix units.`}
    table={{
      heads: ['Ceiling or point', 'Operations per byte', 'GB/s or GFLOP/s'],
      rows: [...levels.map((level) => [`Bandwidth of ${level.name}`, '', digits(level.rate)]), ...types.map((type) => [type.name, '', digits(type.rate)]),
        ...points.map((point) => [`Launch at ${point.name}`, digits(point.intensity), digits(achieved)])],
    }}>
    <Svg width={kWidth} height={kHeight} label={`Roofline: the launch reaches ${digits(achieved)} GFLOP/s of ${digits(peak)}`}>
      <BottomAxis scale={x} y={kHeight - 46} ticks={decades(domain)} format={digits} title="Floating-point operations per byte" grid={kHeight - 80} />
      <LeftAxis scale={y} x={64} ticks={decades(range)} format={digits} title="GFLOP/s" grid={kWidth - 80} />
      {types.map((type, i) => {
        const left = Math.max(domain[0], type.rate / Math.max(...levels.map((level) => level.rate)));
        return <Fragment><line class="ceiling" x1={x(Math.min(left, domain[1]))} x2={x(domain[1])} y1={y(type.rate)} y2={y(type.rate)} />
          <text x={names[i][0]} y={names[i][1]} text-anchor="end">{`${type.name}: ${digits(type.rate)}`}</text></Fragment>;
      })}
      {levels.map((level, i) => {
        const side = i > 0 && i === levels.length - 1 ? 15 : -6; // below the lowest line, above the others
        const at = Math.max(domain[0] * 1.3, range[0] * 1.6 / level.rate);
        return <Fragment><path class="roof" d={roof(level)} style={{ stroke: colour(level.name) }} />
          <text style={{ fill: colour(level.name) }} transform={`translate(${x(at)},${y(at * level.rate) + side}) rotate(${slope})`}>{`${level.name}: ${digits(level.rate)} GB/s`}</text></Fragment>;
      })}
      {points.map((point) => <Fragment><line class="guide" x1={x(point.intensity)} x2={x(point.intensity)} y1={y(achieved)} y2={y(Math.min(peak, point.intensity * point.level.rate))} />
        <circle cx={x(point.intensity)} cy={y(achieved)} r="6" style={{ fill: colour(point.name) }}><title>{`${point.name}: ${digits(point.intensity)} operations per byte`}</title></circle>
      </Fragment>)}
      {together(points).map(({ intensity, names: here }, i) => <text class="halo" x={x(intensity)} y={y(achieved) + 22 + 15 * (i % 3)} text-anchor="middle">{here.join(', ')}</text>)}
    </Svg>
  </Figure>;
}

export const roofline = {
  id: 'roofline',
  title: 'Roofline',
  fits: (report, launch) => Boolean(launch && report.device.bandwidth_gb_s && data.trusted(launch)),
  draw({ report, launch }) {
    const { flops, mostlyDouble } = work(launch);
    if (!(flops > 0)) return <p>The kernel executes no floating-point operation, so that it has no place in the roofline. The models page has the bounds of memory and of instruction issue.</p>;
    const points = traffic(launch);
    return [<Chart report={report} launch={launch} />, mostlyDouble && <p>Most operations are double precision: the ceiling of FP64 applies.</p>,
      points.length === 0 && <p>The kernel transfers no bytes.</p>];
  },
};
