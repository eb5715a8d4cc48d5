// SPDX-License-Identifier: Apache-2.0
// The launches of a program one after the other, a row for each kernel or stream, as long as predicted.
import { h, show } from '../dom.js';
import { BottomAxis, Figure, Legend, Svg } from '../chart.jsx';
import * as data from '../data.js';
import { plural, time } from '../format.js';
import { scaleLinear } from 'd3-scale';

const kWidth = 1000;
const kLeft = 220;
const kRow = 26;
const kMostRows = 24;
const kColours = 7;

/** Launches with their start, and the rows: by stream where there are several, else by kernel. */
function schedule(report) {
  let at = 0;
  const byStream = new Set(report.launches.map((launch) => launch.stream ?? 0)).size > 1;
  const rowOf = (launch) => (byStream ? `Stream ${launch.stream ?? 0}` : data.kernelName(launch));
  const streams = [...new Set(report.launches.map((launch) => launch.stream ?? 0))].sort((a, b) => a - b);
  const rows = new Map(byStream ? streams.map((stream, i) => [`Stream ${stream}`, i]) : []);
  const kernels = new Map(data.byKernel(report.launches).map((group, i) => [group.name, i]));
  const list = report.launches.map((launch, index) => {
    const length = data.launchTime(launch) || 0;
    const name = data.kernelName(launch);
    const key = rowOf(launch);
    if (!rows.has(key)) rows.set(key, rows.size);
    const one = { index, name, start: at, length, row: rows.get(key), colour: kernels.get(name) % kColours };
    at += length;
    return one;
  });
  return { list, rows: [...rows.keys()], total: at, kernels: [...kernels.keys()], byStream };
}

function Chart({ plan, from, to, app }) {
  const x = scaleLinear().domain([from, to]).range([kLeft, kWidth - 20]);
  const rows = plan.rows.slice(0, kMostRows);
  const height = rows.length * kRow + 48;
  const end = rows.map(() => -1); // of what is drawn: launches narrower than a pixel share one
  const visible = plan.list.filter((one) => {
    if (one.start + one.length < from || one.start > to || one.row >= kMostRows) return false;
    const right = x(one.start + one.length);
    if (right - end[one.row] < 0.7) return false;
    end[one.row] = right;
    return true;
  });
  return <Svg width={kWidth} height={height} label={`${plural(plan.list.length, 'launch')}, ${time(plan.total)} in all; the table of launches on the summary page has the same data`} className="timeline">
    {rows.map((name, i) => <g><text x={kLeft - 8} y={i * kRow + 17} text-anchor="end">{name.length > 30 ? `${name.slice(0, 29)}…` : name}</text>
      <line class="grid" x1={kLeft} x2={kWidth - 20} y1={(i + 1) * kRow - 1} y2={(i + 1) * kRow - 1} /></g>)}
    {visible.map((one) => <rect class={`s${one.colour + 1}`} x={x(Math.max(from, one.start))} y={one.row * kRow + 4}
      width={Math.max(1, x(Math.min(to, one.start + one.length)) - x(Math.max(from, one.start)) - 0.4)} height={kRow - 9}
      onClick={() => app.go({ page: 'summary', launch: one.index })}><title>{`Launch ${one.index + 1}: ${one.name}, ${time(one.length)}`}</title></rect>)}
    <BottomAxis scale={x} y={rows.length * kRow + 4} ticks={x.ticks(6)} format={time} title="Predicted time" />
  </Svg>;
}

export const timeline = {
  id: 'timeline',
  title: 'Timeline',
  ofLaunch: false,
  fits: (report) => report.launches.length > 1 && report.launches.some((launch) => data.launchTime(launch) > 0),
  draw({ report, app }) {
    const plan = schedule(report);
    const frame = <div />;
    let [from, to] = [0, plan.total];
    const draw = () => show(frame, <Chart plan={plan} from={from} to={to} app={app} />);
    const zoom = (factor, shift) => {
      const width = Math.min(plan.total, (to - from) * factor);
      const middle = (from + to) / 2 + shift * (to - from);
      from = Math.max(0, Math.min(plan.total - width, middle - width / 2));
      to = from + width;
      draw();
    };
    draw();
    return [
      <div class="controls" role="group" aria-label="Zoom">
        <button type="button" onClick={() => zoom(0.5, 0)}>Zoom in</button><button type="button" onClick={() => zoom(2, 0)}>Zoom out</button>
        <button type="button" onClick={() => zoom(1, -0.4)}>Earlier</button><button type="button" onClick={() => zoom(1, 0.4)}>Later</button>
        <button type="button" onClick={() => { [from, to] = [0, plan.total]; draw(); }}>Show all</button></div>,
      <Figure title={`${plural(plan.list.length, 'launch')}, ${time(plan.total)} predicted`} note={`Launches follow each other in the order in which they ran, with their predicted times; Warplens does not predict how launches overlap, nor the times of copies and of the host. Select a launch to see its summary; the table of all launches is there, too.${plan.rows.length > kMostRows ? ` The picture has the first ${kMostRows} of ${plan.rows.length} rows.` : ''}`}>{frame}</Figure>,
      plan.byStream && <Legend names={plan.kernels.slice(0, kColours)} colours={kColours} />,
      plan.byStream && plan.kernels.length > kColours && <p class="note">The colours repeat: the legend has the {kColours} kernels with the most time.</p>,
    ];
  },
};
