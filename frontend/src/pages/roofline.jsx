// SPDX-License-Identifier: Apache-2.0
// The roofline: ceilings by level of memory and by type of arithmetic, and the launch at its intensities.
import { Fragment, h } from '../dom.js';
import { BottomAxis, Figure, LeftAxis, Svg, drawingWidth } from '../chart.jsx';
import * as data from '../data.js';
import { digits, list, percent, rate } from '../format.js';
import { namesOf, operations, peaks, types } from '../operations.js';
import { scaleLog } from 'd3-scale';

const kWidth = 760;
const kHeight = 460;
const kLeft = 56; // "100 G" fits
const kColours = ['var(--s1)', 'var(--s2)', 'var(--s3)'];

/** Bandwidths in GB/s by level, and rates in 10⁹ operations a second by type; those that the device file knows. */
export function ceilings(device, used) {
  const d = device.throughput_latency;
  const levels = [];
  // Measured rates where the device has them; else four bytes for each lane that the load/store units serve in a cycle.
  const first = d?.wavefronts ? 128 * d.wavefronts * device.multiprocessors * d.clock_ghz
    : 4 * (device.throughput?.load_store_units ?? 0) * device.multiprocessors * device.clock_ghz;
  if (first > 0) levels.push({ name: 'L1 and shared memory', rate: first });
  if (d?.l2_read) levels.push({ name: 'L2', rate: 32 * d.l2_read * d.clock_ghz });
  levels.push({ name: 'Device memory', rate: device.bandwidth_gb_s });
  const rates = peaks(device);
  const all = types.filter(({ key }) => rates.has(key)).map((type) => ({ ...type, rate: rates.get(type.key), used: used.has(type.key) }));
  all.splice(1, 0, { name: 'FP32 without fused multiply-add', rate: rates.get('single') / 2, used: false });
  // One line for what has the same rate.
  const distinct = [];
  for (const type of all) {
    const same = distinct.find((one) => Math.abs(one.rate / type.rate - 1) < 0.03);
    if (same) same.members.push(type);
    else distinct.push({ rate: type.rate, members: [type] });
  }
  for (const one of distinct) {
    one.name = namesOf(one.members);
    one.used = one.members.some((type) => type.used);
  }
  return { levels, types: distinct };
}

/** Bytes of the launch at each level. Of device memory: what the model to trust charges, which the time is from; else the
 * misses of the simulated caches, else all that is requested. */
export function traffic(report, launch) {
  const m = data.counts(launch);
  const requested = data.globalCost(report, m).bytes + 32 * data.metric(m, 'memory_l2_theoretical_sectors_local');
  const misses = m['lts__t_sectors_lookup_miss.sum'];
  const charged = data.trusted(launch)?.terms.find((term) => term.name === 'memory_bytes')?.value;
  return [
    { name: 'L1 and shared memory', bytes: requested + (report.device.bank_pass_bytes ?? 128) * data.passes(m) },
    { name: 'L2', bytes: m['lts__t_sectors.sum'] !== undefined ? 32 * m['lts__t_sectors.sum'] : requested },
    { name: 'Device memory', bytes: charged ?? (misses !== undefined ? 32 * misses : requested) },
  ].filter((one) => one.bytes > 0);
}

/** The operations of the launch, and the rate at which its mix of types could run; without a rate of some type: none. */
function work(launch, device) {
  const done = operations(launch);
  const rates = peaks(device);
  let [all, seconds] = [0, 0];
  for (const [key, count] of done) {
    all += count;
    seconds += count / (rates.get(key) ?? NaN);
  }
  return { done, all, peak: all / seconds };
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

const flops = (billions) => rate(billions, 'FLOP/s');
const label = (type) => `${type.name}: ${flops(type.rate)}`;

const slopeLabel = (level) => `${level.name}: ${rate(level.rate, 'B/s')}`;

/** The first intensity from `least` on at which the name of a slope, `side` below it, is on fewest boxes. */
function freePlace(level, side, slope, boxes, x, y, least) {
  const length = 6.7 * slopeLabel(level).length;
  const [across, up] = [length * Math.cos(slope * Math.PI / 180), length * Math.sin(-slope * Math.PI / 180)];
  const meets = (at) => boxes.filter((box) => Array.from({ length: 9 }, (_, i) => i / 8).some((part) => {
    const [px, py] = [x(at) + part * across, y(at * level.rate) + side - part * up];
    return px > box.left - 6 && px < box.right + 6 && py > box.top - 4 && py < box.bottom + 12;
  })).length;
  return [1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64].map((factor) => least * factor)
    .reduce((best, at) => (meets(at) < meets(best) ? at : best));
}

/** Where the name of each horizontal ceiling ends: near its line, and on no other name or line. */
function ceilingNames(types, y, left, right) {
  const taken = [];
  return types.map((type) => {
    const own = y(type.rate);
    const width = 7 * label(type).length; // of an average letter of the font
    const free = ([x, at]) => x - width > left && taken.every(([otherX, other, otherWidth]) => x <= otherX - otherWidth || otherX <= x - width || Math.abs(other - at) >= 13)
      && types.every((other) => other === type || y(other.rate) < at - 10 || y(other.rate) > at + 3);
    const candidates = [0, 215, 330, 430].flatMap((shift) => [[right - shift, own - 5], [right - shift, own + 14]]);
    const found = candidates.find(free) ?? candidates[1];
    taken.push([...found, width]);
    return found;
  });
}

const decades = ([low, high]) => {
  const list = [];
  for (let power = Math.ceil(Math.log10(low)); power <= Math.floor(Math.log10(high)); power += 1) list.push(10 ** power);
  return list;
};

function Chart({ report, launch }) {
  const { done, all, peak: own } = work(launch, report.device);
  const { levels, types } = ceilings(report.device, done);
  const seconds = data.launchTime(launch) / 1e3;
  const achieved = all / seconds / 1e9;
  const points = traffic(report, launch).map((one) => ({ ...one, intensity: all / one.bytes, level: levels.find((level) => level.name === one.name) })).filter((one) => one.level);
  const peak = Math.max(...types.map((type) => type.rate));
  const permitted = Number.isFinite(own) ? own : peak;
  const xs = points.map((point) => point.intensity);
  const domain = [Math.min(0.01, ...xs.map((x) => x / 3)), Math.max(1000, ...xs.map((x) => x * 3))];
  const range = [Math.min(achieved / 8, peak / 1e4), peak * 3];
  const width = drawingWidth(kWidth);
  const x = scaleLog().domain(domain).range([kLeft, width - 16]);
  const y = scaleLog().domain(range).range([kHeight - 46, 34]);
  const roof = (level) => {
    const left = Math.max(domain[0], range[0] / level.rate);
    const ridge = peak / level.rate;
    return `M${x(left)},${y(left * level.rate)} L${x(ridge)},${y(peak)}`;
  };
  const colour = (name) => kColours[levels.findIndex((level) => level.name === name)] ?? 'var(--ink)';
  const names = ceilingNames(types, y, x(domain[0]), x(domain[1]));
  const labels = together(points).map((one, i) => {
    const text = one.names.join(', ');
    const half = 3.5 * text.length;
    const middle = Math.max(kLeft + 4 + half, Math.min(width - 16 - half, x(one.intensity)));
    return { text, half, x: middle, y: y(achieved) + 22 + 15 * (i % 3) };
  });
  const boxes = [...labels.map((one) => ({ left: one.x - one.half, right: one.x + one.half, top: one.y - 13, bottom: one.y + 5 })),
    ...types.map((type, i) => ({ left: names[i][0] - 6.7 * label(type).length, right: names[i][0], top: names[i][1] - 12, bottom: names[i][1] + 6 })),
    ...points.map((point) => ({ left: x(point.intensity) - 4, right: x(point.intensity) + 4, top: y(Math.min(permitted, point.intensity * point.level.rate)) + 12, bottom: y(achieved) + 6 }))];
  const slope = -Math.atan2(y(1) - y(10), x(10) - x(1)) * 180 / Math.PI;
  return <Figure wide title="Attainable and predicted performance" note={`The points show the launch, with the time that ${data.trusted(launch).model} predicts: for each level of memory, the operations per byte that this level transfers. The dashed line leads to what the level permits; a point on its slope is limited by the bandwidth of this level.${Number.isFinite(own) ? '' : ' The device file lacks a rate of some type of operations of this kernel.'} Matrix rates are those without sparsity.`}
    table={{
      heads: ['Ceiling or point', 'Operations per byte', 'Rate'],
      rows: [...levels.map((level) => [`Bandwidth of ${level.name}`, '', rate(level.rate, 'B/s')]), ...types.map((type) => [type.name, '', flops(type.rate)]),
        ...points.map((point) => [`Launch at ${point.name}`, digits(point.intensity), flops(achieved)])],
    }}>
    <Svg width={width} height={kHeight} label={`Roofline: the launch reaches ${flops(achieved)} of ${flops(permitted)}`}>
      <BottomAxis scale={x} y={kHeight - 46} ticks={decades(domain)} format={digits} title="Floating-point operations per byte" grid={kHeight - 80} />
      <LeftAxis scale={y} x={kLeft} ticks={decades(range)} format={(billions) => rate(billions, '')} title="FLOP/s" grid={width - 16 - kLeft} />
      {types.map((type) => {
        const left = Math.max(domain[0], type.rate / Math.max(...levels.map((level) => level.rate)));
        return <line class={type.used ? 'ceiling used' : 'ceiling'} x1={x(Math.min(left, domain[1]))} x2={x(domain[1])} y1={y(type.rate)} y2={y(type.rate)} />;
      })}
      {levels.map((level, i) => {
        const side = i > 0 && i === levels.length - 1 ? 15 : -6; // below the lowest line, above the others
        const at = freePlace(level, side, slope, boxes, x, y, Math.max(domain[0] * 1.3, range[0] * 1.6 / level.rate));
        return <Fragment><path class="roof" d={roof(level)} style={{ stroke: colour(level.name) }} />
          <text style={{ fill: colour(level.name) }} transform={`translate(${x(at)},${y(at * level.rate) + side}) rotate(${slope})`}>{slopeLabel(level)}</text></Fragment>;
      })}
      {types.map((type, i) => <text class={type.used ? 'halo used' : 'halo'} x={names[i][0]} y={names[i][1]} text-anchor="end">{label(type)}</text>)}
      {points.map((point) => <Fragment><line class="guide" x1={x(point.intensity)} x2={x(point.intensity)} y1={y(achieved)} y2={y(Math.min(permitted, point.intensity * point.level.rate))} />
        <circle cx={x(point.intensity)} cy={y(achieved)} r="6" style={{ fill: colour(point.name) }}><title>{`${point.name}: ${digits(point.intensity)} operations per byte`}</title></circle>
      </Fragment>)}
      {labels.map((one) => <text class="halo" x={one.x} y={one.y} text-anchor="middle">{one.text}</text>)}
    </Svg>
  </Figure>;
}

export const roofline = {
  id: 'roofline',
  title: 'Roofline',
  fits: (report, launch) => Boolean(launch && report.device.bandwidth_gb_s && data.trusted(launch)),
  draw({ report, launch }) {
    const { done, all } = work(launch, report.device);
    if (!(all > 0)) return <p>The kernel executes no arithmetic operation of a type that the roofline knows, so that it has no place in it. The models page has the bounds of memory and of instruction issue.</p>;
    const shares = types.filter(({ key }) => done.has(key)).map((type) => `${percent(done.get(type.key) / all)} ${namesOf([type])}`);
    return [<Chart report={report} launch={launch} />, <p>Operations of this launch: {list(shares)}. The ceilings of these types are drawn with solid lines.</p>,
      traffic(report, launch).length === 0 && <p>The kernel transfers no bytes.</p>];
  },
};
