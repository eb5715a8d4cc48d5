// SPDX-License-Identifier: Apache-2.0
// The control-flow graph in the order of the text: blocks below each other, jumps forward at the right, jumps backward
// (loops) at the left. The bar of a block shows how many lanes of its warps are active.
import { h, onPrint, show } from '../dom.js';
import { Figure, Svg } from '../chart.jsx';
import { Table } from '../table.jsx';
import * as data from '../data.js';
import { ptxLine } from '../code.js';
import { count, digits, percent, plural } from '../format.js';

const kBox = 46; // height of a block
const kGap = 16;
const kLane = 13; // between two arcs beside each other
const kWidth = 360; // of a block
const kNarrow = 280; // on a phone
const kMostArcs = 14; // beside each other

const lanes = (block) => (block.warps > 0 ? block.threads / block.warps : NaN);

/** Gives each jump a lane, so that jumps which overlap are beside each other, the shortest inside. */
export function assignLanes(jumps) {
  const used = []; // by lane: the ranges in it
  const sorted = [...jumps].sort((a, b) => Math.abs(a.to - a.from) - Math.abs(b.to - b.from));
  for (const jump of sorted) {
    const [low, high] = [Math.min(jump.from, jump.to), Math.max(jump.from, jump.to)];
    let lane = used.findIndex((ranges) => ranges.every(([a, b]) => high < a || b < low));
    if (lane < 0) lane = used.push([]) - 1;
    used[lane].push([low, high]);
    jump.lane = Math.min(lane, kMostArcs);
  }
  return Math.min(used.length, kMostArcs);
}

function jumpsOf(blocks) {
  const forward = [];
  const backward = [];
  blocks.forEach((block, from) => block.to.forEach((to) => {
    if (to <= from) backward.push({ from, to });
    else if (to > from + 1) forward.push({ from, to });
  }));
  return { forward, backward };
}

/** "kernel.cu:40–42" of each block: where its instructions are in the CUDA source. */
function sourceRanges(launch) {
  const sorted = [...launch.instructions].sort((a, b) => a.line - b.line);
  return launch.control_flow.map((block) => { // functions that the kernel calls may be above it
    let next = 0;
    for (let end = sorted.length; next < end;) {
      const middle = (next + end) >> 1;
      if (sorted[middle].line < block.first_line) next = middle + 1;
      else end = middle;
    }
    let [file, low, high] = [undefined, Infinity, 0];
    for (; next < sorted.length && sorted[next].line <= block.last_line; next += 1) {
      const at = data.position(sorted[next].source);
      if (!at || (file !== undefined && at.file !== file)) continue;
      [file, low, high] = [at.file, Math.min(low, at.line), Math.max(high, at.line)];
    }
    if (file === undefined) return `PTX ${block.first_line}–${block.last_line}`;
    const name = data.baseName(file);
    return `${name.length > 18 ? `${name.slice(0, 17)}…` : name}:${low === high ? low : `${low}–${high}`}`;
  });
}

/** The blocks of the picture, with their numbers in the kernel; successors are places in this list. */
function pictured(blocks, places, everything) {
  const list = blocks.map((block, index) => ({ ...block, index, place: places[index] })).filter((block) => everything || block.warps > 0);
  const at = new Map(list.map((block, i) => [block.index, i]));
  return list.map((block) => ({ ...block, to: block.successors.map((one) => at.get(one)).filter((one) => one !== undefined) }));
}

const y = (i) => 8 + i * (kBox + kGap);

/** What does not change while the graph is drawn. */
function layout(blocks) {
  const { forward, backward } = jumpsOf(blocks);
  const left = 24 + kLane * (assignLanes(backward) + 1);
  const box = innerWidth < 600 ? kNarrow : kWidth;
  const right = left + box;
  const width = right + 24 + kLane * (assignLanes(forward) + 1) + 30;
  const meets = new Map(); // how many branches reconverge at a block
  blocks.forEach((block) => {
    if (block.successors.length > 1 && block.reconverges_at !== null) meets.set(block.reconverges_at, (meets.get(block.reconverges_at) ?? 0) + 1);
  });
  return { forward, backward, left, right, box, width, meets };
}

/** The blocks from `first` to before `end`, and the jumps that pass them. */
function Graph({ blocks, plan, onSelect, chosen, first, end }) {
  const { left, right, box: wide, width, meets } = plan;
  const passes = ({ from, to }) => Math.min(from, to) < end && Math.max(from, to) >= first;
  const arc = ({ from, to, lane }, side) => {
    const edge = side > 0 ? right : left;
    const x = edge + side * (16 + lane * kLane);
    const start = y(from) + kBox - 10;
    const end = y(to) + 12;
    return <g class={side > 0 ? 'jump' : 'jump back'}>
      <path d={`M${edge},${start} H${x} V${end} H${edge + side * 5}`} />
      <path class="head" d={`M${edge},${end} l${side * 8},-4 v8 z`} />
    </g>;
  };
  const box = (block, i) => {
    const active = lanes(block);
    const never = block.warps === 0;
    return <g class={`block${never ? ' never' : ''}${block.index === chosen ? ' chosen' : ''}`} onClick={() => onSelect(block.index)}>
      <title>{`Block ${block.index}, PTX lines ${block.first_line} to ${block.last_line}`}</title>
      <rect class="box" x={left} y={y(i)} width={wide} height={kBox} rx="5" />
      {!never && <rect class="lanes" x={left + 8} y={y(i) + kBox - 13} width={(wide - 16) * Math.min(1, active / 32)} height={6} rx="3" />}
      <text x={left + 8} y={y(i) + 20} class="strong">{`B${block.index}`}</text>
      <text x={left + 44} y={y(i) + 20}>{wide < kWidth ? block.place.replace(/^.*:/, 'line ') : block.place}</text>
      <text x={left + wide - 8} y={y(i) + 20} text-anchor="end">{never ? 'not executed' : `${digits(active)} lanes · ${plural(block.warps, 'warp')}`}</text>
      {meets.has(block.index) && <g class="meet"><path d={`M${left},${y(i)} l7,-7 l7,7 l-7,7 z`} /><title>{`${plural(meets.get(block.index), 'branch')} reconverge here`}</title></g>}
      {block.to.includes(i + 1) && <line class="fall" x1={left + wide / 2} x2={left + wide / 2} y1={y(i) + kBox} y2={y(i + 1)} />}
    </g>;
  };
  return <svg class="graph" viewBox={`0 0 ${width} ${y(blocks.length)}`} width={width} height={y(blocks.length)} role="img"
    aria-label={`Control-flow graph of ${blocks.length} blocks; the table beside it has the same data`}
    style={{ width: `${width}px`, 'max-width': 'none' }}>
    {plan.forward.filter(passes).map((jump) => arc(jump, 1))}{plan.backward.filter(passes).map((jump) => arc(jump, -1))}
    {blocks.slice(first, end).map((block, i) => box(block, first + i))}
  </svg>;
}

const branch = (instruction) => instruction['smsp__sass_branch_targets.sum'] ?? 0;
const divergent = (instruction) => instruction['smsp__sass_branch_targets_threads_divergent.sum'] ?? 0;
const taken = (one) => (one?.branch_active_lanes > 0 ? one.branch_taken_lanes / one.branch_active_lanes : NaN);

function BlockDetails({ launch, block, index, app }) {
  const inside = launch.instructions.filter((one) => one.line >= block.first_line && one.line <= block.last_line);
  const last = inside.filter((one) => branch(one) > 0).at(-1);
  return <section class="details"><h3>Block {index}, {block.first_line === block.last_line ? `PTX line ${block.first_line}` : `PTX lines ${block.first_line} to ${block.last_line}`}</h3>
    <p>{block.exits ? 'It can leave the kernel. ' : ''}{block.successors.length > 1 && (block.reconverges_at === null ? 'Its paths meet only at the exit. ' : `Its paths reconverge at block ${block.reconverges_at}. `)}
      {taken(last) >= 0 && `${percent(taken(last))} of the lanes jump; ${percent(divergent(last) / branch(last))} of the executions diverge. `}<a href={app.address({ page: 'source', line: inside[0]?.line ?? block.first_line })}>Show in the source</a></p>
    <pre tabindex="0">{inside.slice(0, 60).map((one) => [`${String(one.line).padStart(5)}  `, ...ptxLine(one.ptx), '\n'])}</pre></section>;
}

function Branches({ report, launch, app }) {
  const rows = launch.instructions.filter((one) => branch(one) > 0);
  if (rows.length === 0) return <p>The kernel executed no branch.</p>;
  const table = new Table({
    label: 'Branches',
    rows,
    sort: 3,
    height: Math.min(420, 26 * rows.length + 34),
    onOpen: (row) => app.go({ page: 'source', line: row.line }),
    columns: [
      { title: 'Line', value: (r) => r.line, cell: (r) => (r.source ? data.baseName(r.source) : `PTX ${r.line}`) },
      { title: 'Branch', cell: (r) => <code>{r.ptx}</code>, className: 'grow code' },
      { title: 'Executed', value: branch, cell: (r) => count(branch(r)), numeric: true, descending: true },
      { title: 'Divergent', value: divergent, cell: (r) => `${count(divergent(r))} (${percent(divergent(r) / branch(r))})`, numeric: true, descending: true },
      { title: 'Lanes that jump', value: taken, cell: (r) => percent(taken(r)), numeric: true, descending: true },
      { title: 'Lane slots lost', value: (r) => r.branch_lost_lane_slots ?? 0, cell: (r) => count(r.branch_lost_lane_slots ?? 0), numeric: true, descending: true },
    ],
  });
  return table.element;
}

/** Branches by the number of lanes that were active. */
function Histogram({ launch }) {
  const values = Array.from({ length: 32 }, (_, i) => launch.metrics[`branch_with_${i + 1}_active_lanes`] ?? 0);
  const most = Math.max(...values);
  if (most === 0) return null;
  const step = 15;
  return <Figure title="Branches by active lanes" table={{ heads: ['Active lanes', 'Branches'], rows: values.map((value, i) => [String(i + 1), count(value)]) }}>
    <Svg width={32 * step + 20} height={150} label="Histogram of branches by active lanes; the table below has the numbers">
      {values.map((value, i) => <g class="bar strong"><rect x={i * step} width={step - 3} y={110 - 100 * (value / most)} height={100 * (value / most)} />
        {(i + 1) % 4 === 0 && <text x={i * step + 6} y="126" text-anchor="middle">{i + 1}</text>}</g>)}
      <text x={16 * step} y="146" text-anchor="middle" class="soft">Active lanes of the warp</text>
    </Svg></Figure>;
}

export const divergence = {
  id: 'divergence',
  title: 'Divergence',
  fits: (report, launch) => (launch?.control_flow ?? []).length > 0,
  draw({ report, launch, app }) {
    const all = launch.control_flow;
    const status = <p role="status" class="note">Select a block to see its instructions.</p>;
    const details = <div />;
    const places = sourceRanges(launch);
    const unused = all.filter((block) => block.warps === 0).length;
    let blocks = pictured(all, places, unused === all.length);
    let plan = layout(blocks);
    let chosen = -1;
    let drawn;
    const draw = (everything = false) => {
      const height = picture.clientHeight || 600;
      const first = everything ? 0 : Math.max(0, Math.floor(picture.scrollTop / (kBox + kGap)) - 4);
      const end = everything ? blocks.length : Math.min(blocks.length, Math.ceil((picture.scrollTop + height) / (kBox + kGap)) + 4);
      if (drawn === `${first},${end},${chosen}`) return;
      drawn = `${first},${end},${chosen}`;
      show(picture, <Graph blocks={blocks} plan={plan} onSelect={select} chosen={chosen} first={first} end={end} />);
    };
    const picture = <div class="scroll graph-frame" tabindex="0" role="region" aria-label="Control-flow graph" onScroll={() => draw()} />;
    onPrint(() => draw(true), () => draw());
    const select = (i) => {
      chosen = i;
      const at = blocks.findIndex((block) => block.index === i);
      if (at >= 0 && (y(at) < picture.scrollTop || y(at + 1) > picture.scrollTop + picture.clientHeight)) picture.scrollTop = y(at) - 100;
      draw();
      status.textContent = `Block ${i}: ${all[i].warps > 0 ? `${digits(lanes(all[i]))} lanes of ${plural(all[i].warps, 'warp')}` : 'not executed'}`;
      show(details, <BlockDetails launch={launch} block={all[i]} index={i} app={app} />);
    };
    const setAll = (everything) => {
      blocks = pictured(all, places, everything);
      plan = layout(blocks);
      drawn = undefined;
      draw();
    };
    draw();
    const table = new Table({
      label: 'Blocks',
      rows: all.map((block, index) => ({ block, index })),
      height: Math.min(420, 26 * all.length + 34),
      onSelect: ({ index }) => select(index),
      columns: [
        { title: 'Block', value: (r) => r.index, cell: (r) => `B${r.index}`, numeric: true },
        { title: 'PTX lines', value: (r) => r.block.first_line, cell: (r) => (r.block.first_line === r.block.last_line ? String(r.block.first_line) : `${r.block.first_line}–${r.block.last_line}`), numeric: true },
        { title: 'Warps', value: (r) => r.block.warps, cell: (r) => count(r.block.warps), numeric: true, descending: true },
        { title: 'Lanes', value: (r) => lanes(r.block), cell: (r) => (r.block.warps > 0 ? digits(lanes(r.block)) : ''), numeric: true },
        { title: 'Next', cell: (r) => r.block.successors.map((to) => `B${to}`).join(', ') || 'exit' },
        { title: 'Reconverges', cell: (r) => (r.block.successors.length < 2 ? '' : r.block.reconverges_at === null ? 'exit' : `B${r.block.reconverges_at}`) },
      ],
    });
    return [
      <h2>Branches</h2>, <Branches report={report} launch={launch} app={app} />,
      <h2>Control flow</h2>,
      <p class="note">Each box is a basic block; its bar shows how many of the 32 lanes are active. Arrows on the right jump forward; arrows on the left are loops. A diamond marks a block where diverged paths reconverge.</p>,
      unused > 0 && unused < all.length && <div class="controls"><label><input type="checkbox" onChange={(event) => setAll(event.target.checked)} /> Show the {plural(unused, 'block')} that no warp executed</label></div>,
      <div class="pair"><section>{picture}</section><section>{table.element}{status}{details}</section></div>,
      <Histogram launch={launch} />,
    ];
  },
};
