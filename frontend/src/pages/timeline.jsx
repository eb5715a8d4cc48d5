// SPDX-License-Identifier: Apache-2.0
// What a program did on the device, and when: a row for each stream, with more where operations of a stream overlap, or,
// if there is one stream without copies, for each kernel. api/report/timeline.hpp has the times.
import { h, show } from '../dom.js';
import { BottomAxis, Figure, Svg, drawingWidth } from '../chart.jsx';
import * as data from '../data.js';
import { bytes, plural, time } from '../format.js';
import { scaleLinear } from 'd3-scale';

const kWidth = 1000;
const kMostLetters = 30; // of the name of a row
const kRow = 26;
const kMostRows = 24;
const kColours = 5;
const kMostListed = 500;

/** Classes of what is not a launch. */
const classes = { 'copy to device': 'to-device', 'copy to host': 'to-host', 'copy on device': 'on-device', fill: 'on-device' };

/** The class of a kernel by its rank; all but the first few look alike. */
const colourOf = (rank) => (rank < kColours ? `s${rank + 1}` : 'other-kernels');

/** The operations of the report, with `name`, `length`, `end` and the colour or class that each is drawn with. */
function operationsOf(report) {
  const kernels = new Map(data.byKernel(report.launches).map((group, i) => [group.name, i]));
  return report.timeline.operations.map((one) => {
    const launch = report.launches[one.launches[0]];
    const kernel = launch && data.kernelName(launch);
    const length = one.milliseconds ?? 0;
    return { ...one, length, end: one.start + length, name: kernel ?? (one.kind === 'launch' ? 'launch that was not analysed' : one.kind),
      className: launch ? colourOf(kernels.get(kernel)) : classes[one.kind] ?? 'unknown' };
  });
}

/** Puts operations that overlap into rows of their own. Adds `row` to each; returns how many rows there are. */
function inRows(list) {
  const ends = [];
  for (const one of [...list].sort((a, b) => a.start - b.start)) {
    let row = ends.findIndex((end) => end <= one.start * (1 + 1e-12));
    if (row < 0) row = ends.length;
    ends[row] = one.end;
    one.row = row;
  }
  return Math.max(1, ends.length);
}

/** The operations that take time, the names of the rows, and whether these are streams. */
function planOf(report) {
  const list = operationsOf(report).filter((one) => one.length > 0);
  const streams = [...new Set(list.map((one) => one.stream))].sort((a, b) => a - b);
  const byStream = streams.length > 1 || list.some((one) => one.launches.length === 0);
  const groups = new Map(byStream ? streams.map((stream) => [`Stream ${stream}`, []]) : []);
  for (const one of list) {
    const key = byStream ? `Stream ${one.stream}` : one.name;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(one);
  }
  const rows = [];
  for (const [name, members] of groups) {
    const count = inRows(members);
    for (const one of members) one.row += rows.length;
    for (let i = 0; i < count; i += 1) rows.push(i === 0 ? name : '');
  }
  return { list, rows, byStream, total: report.timeline.milliseconds, sum: report.timeline.sum };
}

const described = (one) => `${one.launches.length > 0 ? `Launch ${one.launches.map((i) => i + 1).join(', ')}: ` : ''}${one.name}${one.bytes ? `, ${bytes(one.bytes)}` : ''}, ${time(one.length)}, from ${time(one.start)}`;

function Chart({ plan, from, to, app, label }) {
  const rows = plan.rows.slice(0, kMostRows);
  const width = drawingWidth(kWidth);
  const most = width < kWidth ? kMostLetters / 2 : kMostLetters;
  const left = 20 + 6.7 * Math.min(most, Math.max(...rows.map((name) => name.length)));
  const x = scaleLinear().domain([from, to]).range([left, width - 20]);
  const height = rows.length * kRow + 48;
  const end = rows.map(() => -1); // of what is drawn: operations narrower than a pixel share one
  const visible = plan.list.filter((one) => {
    if (one.end < from || one.start > to || one.row >= kMostRows) return false;
    const right = x(one.end);
    if (right - end[one.row] < 0.7) return false;
    end[one.row] = right;
    return true;
  });
  return <Svg width={width} height={height} label={label} className="timeline">
    {rows.map((name, i) => <g>{name && <text x={left - 8} y={i * kRow + 17} text-anchor="end">{name.length > most ? `${name.slice(0, most - 1)}…` : name}</text>}
      <line class="grid" x1={left} x2={width - 20} y1={(i + 1) * kRow - 1} y2={(i + 1) * kRow - 1} /></g>)}
    {visible.map((one) => <rect class={one.launches.length > 0 ? `${one.className} launch` : one.className} x={x(Math.max(from, one.start))} y={one.row * kRow + 4}
      width={Math.max(1, x(Math.min(to, one.end)) - x(Math.max(from, one.start)) - 0.4)} height={kRow - 9}
      onClick={() => one.launches.length > 0 && app.go({ page: 'summary', launch: one.launches[0] })}><title>{described(one)}</title></rect>)}
    <BottomAxis scale={x} y={rows.length * kRow + 4} ticks={x.ticks(width < kWidth ? 4 : 6)} format={time} title="Predicted time" />
  </Svg>;
}

/** What the colours mean: the kernels with the most time, and copies. */
function Key({ report, plan }) {
  const all = data.byKernel(report.launches);
  const kernels = all.slice(0, kColours).map((group, i) => [colourOf(i), group.name]);
  if (all.length > kColours) kernels.push([colourOf(kColours), plural(all.length - kColours, 'other kernel')]);
  const others = Object.entries(classes).filter(([kind]) => plan.list.some((one) => one.kind === kind && one.launches.length === 0)).map(([kind, name]) => [name, kind]);
  const merged = [...new Map([...kernels, ...others].map(([name, text]) => [name, []])).keys()]
    .map((name) => [name, [...kernels, ...others].filter(([one]) => one === name).map(([, text]) => text).join(', ')]);
  return <ul class="legend">{merged.map(([name, text]) => <li><span class={`swatch ${name}`} aria-hidden="true" />{text}</li>)}</ul>;
}

export const timeline = {
  id: 'timeline',
  title: 'Timeline',
  ofLaunch: false,
  fits: (report) => Boolean(report.timeline) && report.timeline.operations.filter((one) => one.milliseconds > 0).length > 1,
  draw({ report, app }) {
    const plan = planOf(report);
    const all = report.timeline.operations;
    const launches = all.filter((one) => one.kind === 'launch').length;
    const copies = all.filter((one) => one.kind.startsWith('copy')).length;
    const unknown = all.filter((one) => one.milliseconds === null).length;
    const frame = <div />;
    let [from, to] = [0, plan.total];
    const overlap = plan.sum > plan.total * (1 + 1e-9) ? `, ${time(plan.sum)} without overlap` : '';
    const title = `${plural(launches, 'launch')}${copies > 0 ? ` and ${copies} ${copies === 1 ? 'copy' : 'copies'}` : ''}, ${time(plan.total)} predicted${overlap}`;
    const draw = () => show(frame, <Chart plan={plan} from={from} to={to} app={app} label={`${title}; the table has the start and the time of each`} />);
    const zoom = (factor, shift) => {
      const width = Math.min(plan.total, (to - from) * factor);
      const middle = (from + to) / 2 + shift * (to - from);
      from = Math.max(0, Math.min(plan.total - width, middle - width / 2));
      to = from + width;
      draw();
    };
    draw();
    const order = plan.byStream ? 'Each operation starts as soon as what it waits for in its stream, in other streams, and for events and graphs has ended, and its copy engine or multiprocessors are free; the host takes no time. Copies from and to the host take the time at the peak rate of the connection.'
      : 'Launches follow each other in the order in which they ran, with their predicted times.';
    const listed = plan.list.slice(0, kMostListed);
    return [
      <div class="controls" role="group" aria-label="Zoom">
        <button type="button" onClick={() => zoom(0.5, 0)}>Zoom in</button><button type="button" onClick={() => zoom(2, 0)}>Zoom out</button>
        <button type="button" onClick={() => zoom(1, -0.4)}>Earlier</button><button type="button" onClick={() => zoom(1, 0.4)}>Later</button>
        <button type="button" onClick={() => { [from, to] = [0, plan.total]; draw(); }}>Show all</button></div>,
      <Figure title={title} note={`${order} Select a launch to see its summary.${plan.rows.length > kMostRows ? ` The picture has the first ${kMostRows} of ${plan.rows.length} rows.` : ''}`}
        table={{
          heads: ['Operation', 'Stream', 'Start', 'Time', 'Bytes'],
          rows: listed.map((one) => [one.name, one.stream, time(one.start), time(one.length), one.bytes ? bytes(one.bytes) : '']),
        }}>{frame}</Figure>,
      plan.byStream && <Key report={report} plan={plan} />,
      plan.list.length > kMostListed && <p class="note">The table has the first {kMostListed} of {plan.list.length} operations.</p>,
      unknown > 0 && <p class="note">{plural(unknown, 'operation')} without a predicted time, such as launches that were not analysed, {unknown === 1 ? 'takes' : 'take'} no time in the picture.</p>,
    ];
  },
};
