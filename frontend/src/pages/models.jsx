// SPDX-License-Identifier: Apache-2.0
// What the models say, their terms, MWP and CWP, and sliders that compute some of the models again.
import { h, newId, show } from '../dom.js';
import { Bars, Figure } from '../chart.jsx';
import { PlainTable } from '../table.jsx';
import * as data from '../data.js';
import { evaluate, reproduces } from '../models.js';
import { count, digits, list, percent, time } from '../format.js';

/** Blocks of this size that fit on a multiprocessor, whatever registers and shared memory they need. */
const mostBlocks = (s, { limits }) => Math.min(limits.blocks, Math.floor(limits.warps / Math.ceil(s.threads_per_block / 32)));

/** Each changes a copy of the statistics and of the device. `of`: the value now. */
const sliders = [
  { id: 'instructions', title: 'Instructions per warp', change: (s, d, f) => { for (const name of ['instructions', 'issue_chain']) if (s[name] !== undefined) s[name] *= f; } },
  { id: 'transactions', title: 'Transactions per request', fits: (s) => s.global_requests > 0,
    change: (s, d, f) => { for (const name of ['transactions_32', 'transactions_64', 'transactions_128', 'uncoalesced_transactions', 'load_transactions', 'store_transactions', 'l1_wavefronts']) if (s[name] !== undefined) s[name] *= f; } },
  { id: 'requests', title: 'Requests to global memory', fits: (s) => s.global_requests > 0,
    change: (s, d, f) => { for (const name of ['global_requests', 'coalesced_requests', 'uncoalesced_requests', 'transactions_32', 'transactions_64', 'transactions_128', 'load_transactions', 'store_transactions', 'load_waits', 'l1_wavefronts']) if (s[name] !== undefined) s[name] *= f; } },
  { id: 'parallelism', title: 'Independent loads', fits: (s) => s.global_requests > 0,
    change: (s, d, f) => { if (s.independent_loads !== undefined) s.independent_loads *= f; if (s.load_waits !== undefined) s.load_waits /= f; } },
  { id: 'occupancy', title: 'Resident blocks', change: (s, d, f) => { s.resident_blocks = Math.max(1, Math.min(Math.round(s.resident_blocks * f), mostBlocks(s, d))); } },
  { id: 'barriers', title: 'Barriers per warp', fits: (s) => s.synchronizations > 0, change: (s, d, f) => { s.synchronizations *= f; } },
  { id: 'bandwidth', title: 'Bandwidth of device memory', fits: (s) => s.global_requests > 0,
    change: (s, d, f) => { d.bandwidth_gb_s *= f; if (d.throughput_latency) d.throughput_latency.memory_bytes *= f; } },
  { id: 'latency', title: 'Latency of device memory', fits: (s) => s.global_requests > 0,
    change: (s, d, f) => { for (const part of ['hong_kim', 'throughput_latency']) if (d[part]) d[part].memory_latency *= f; if (d.latency?.memory) d.latency.memory *= f; } },
  { id: 'processors', title: 'Multiprocessors', change: (s, d, f) => { d.multiprocessors = Math.max(1, Math.round(d.multiprocessors * f)); } },
];

class WhatIf {
  constructor({ report, launch }) {
    Object.assign(this, { report, launch });
    this.predictions = launch.predictions.filter((p) => reproduces(p, launch.statistics, report.device));
    this.factors = {};
    this.output = <div role="status" aria-live="polite" />;
    this.element = this.predictions.length > 0 && this.draw();
  }

  draw() {
    const usable = sliders.filter((one) => one.fits?.(this.launch.statistics) ?? true);
    const controls = usable.map((one) => {
      const id = newId();
      const shown = <output for={id}>× 1</output>;
      const input = <input id={id} type="range" min="-3" max="3" step="0.25" value="0" data-slider={one.id} onInput={() => {
        this.factors[one.id] = 2 ** Number(input.value);
        shown.textContent = `× ${digits(this.factors[one.id])}`;
        input.setAttribute('aria-valuetext', shown.textContent);
        this.update();
      }} />;
      return { reset: () => { input.value = '0'; shown.textContent = '× 1'; }, element: <div class="slider"><label for={id}>{one.title}</label>{input}{shown}</div> };
    });
    this.update();
    return <section aria-labelledby="what-if"><h2 id="what-if">What if</h2>
      <p class="note">Each slider multiplies one input of the models, from an eighth to eight times; resident blocks stay within the limits of the device. The page computes these models again: {this.predictions.map((p) => p.model).join(', ')}.</p>
      <div class="pair"><div>{controls.map((one) => one.element)}
        <button type="button" class="screen" onClick={() => { controls.forEach((one) => one.reset()); this.factors = {}; this.update(); }}>Reset</button></div>{this.output}</div></section>;
  }

  /** The inputs with the sliders' factors. */
  changed() {
    const statistics = { ...this.launch.statistics };
    const device = structuredClone(this.report.device);
    for (const one of sliders) if (this.factors[one.id] !== undefined) one.change(statistics, device, this.factors[one.id]);
    return { statistics, device };
  }

  update() {
    const { statistics, device } = this.changed();
    const rows = this.predictions.map((p) => ({ p, now: evaluate(p.model, statistics, device) }));
    const bars = rows.flatMap(({ p, now }) => [
      { name: p.model, value: p.milliseconds, text: time(p.milliseconds) },
      { name: 'with changes', value: now?.milliseconds ?? NaN, text: now ? `${time(now.milliseconds)}, ${speed(p.milliseconds / now.milliseconds)}, ${now.bound}` : 'no result', strong: true, colour: 'var(--s2)' },
    ]);
    show(this.output, <Figure title="Predicted time with these changes" table={{ heads: ['Model', 'Time', 'Limited by'], rows: rows.map(({ p, now }) => [p.model, time(now?.milliseconds), now?.bound ?? '']) }}>
      <Bars bars={bars} label="Predicted time with these changes" /></Figure>);
  }
}

const speed = (ratio) => (Math.abs(ratio - 1) < 0.005 ? 'the same' : ratio > 1 ? `${digits(ratio)}× as fast` : `${digits(1 / ratio)}× as slow`);

function Parallelism({ prediction, launch }) {
  if (!(prediction.mwp > 0)) return null;
  const bars = [
    { name: 'MWP', value: prediction.mwp, text: `${digits(prediction.mwp)} warps${prediction.mwp_bound ? `, limited by ${prediction.mwp_bound}` : ''}`, strong: true, colour: 'var(--s1)' },
    { name: 'CWP', value: prediction.cwp, text: `${digits(prediction.cwp)} warps`, strong: true, colour: 'var(--s2)' },
  ];
  if (launch.occupancy) bars.push({ name: 'Resident warps', value: launch.occupancy.warps, text: count(launch.occupancy.warps), colour: 'var(--soft)' });
  return <Figure title={`Warp parallelism by ${prediction.model}`} table={{ heads: ['Quantity', 'Warps'], rows: bars.map((bar) => [bar.name, digits(bar.value)]) }}
    note="MWP: warps of a multiprocessor that can wait for memory at a time. CWP: warps that can compute while one waits, plus one. If CWP is larger, memory limits the kernel.">
    <Bars bars={bars} label={`MWP ${digits(prediction.mwp)}, CWP ${digits(prediction.cwp)}`} /></Figure>;
}

const kParts = ['issue', 'units', 'wavefronts', 'L2', 'memory', 'launch', 'latency', 'atomics', 'overhead'];

/** The cycles of each unit, where the model has them. */
function Parts({ prediction }) {
  const terms = new Map(prediction.terms.map((term) => [term.name, term]));
  const parts = kParts.map((name) => terms.get(name)).filter((term) => term && term.unit === 'cycles' && term.value > 0);
  if (parts.length < 3) return null;
  const most = Math.max(...parts.map((term) => term.value));
  return <Figure title={`Time of each unit by ${prediction.model}`} table={{ heads: ['Unit', 'Cycles'], rows: parts.map((term) => [term.name, count(term.value)]) }}
    note="Each bar is the number of cycles that the launch would take if only this unit limited it.">
    <Bars bars={parts.map((term) => ({ name: term.name, value: term.value, text: count(term.value), strong: term.value === most }))} label="Cycles of each unit" /></Figure>;
}

const halves = (terms) => (terms.length <= 8 ? [terms] : [terms.slice(0, Math.ceil(terms.length / 2)), terms.slice(Math.ceil(terms.length / 2))]);
/** A value with its unit; times in the unit that suits them. */
function termValue({ value, unit }) {
  if (unit !== 'ms') return [digits(value), unit];
  const [number, own] = time(value).split(' ');
  return [number, own ?? unit];
}

function Model({ prediction, launch, open }) {
  return <details class="section" open={open}><summary><strong>{prediction.model}</strong>: {time(prediction.milliseconds)}, limited by {prediction.bound}</summary>
    <div class="figures">
      <Parallelism prediction={prediction} launch={launch} /><Parts prediction={prediction} />
      {prediction.benefits.length > 0 && <Figure title="Time saved if one property were ideal" table={{ heads: ['Property', 'Saved'], rows: prediction.benefits.map((b) => [b.of, time(b.milliseconds)]) }}>
        <Bars bars={prediction.benefits.filter((b) => b.milliseconds > 0).map((b) => ({ name: b.of, value: b.milliseconds, text: `${time(b.milliseconds)} (${percent(b.milliseconds / prediction.milliseconds)})`, strong: true, colour: 'var(--s3)' }))} label="Time saved" /></Figure>}
    </div>
    <Figure title="Terms"><div class="halves">{halves(prediction.terms).map((terms, i) => <PlainTable label={`Terms of ${prediction.model}${i > 0 ? ', continued' : ''}`} heads={['Term', 'Value', 'Unit']} rows={terms.map((t) => [<code>{t.name}</code>, ...termValue(t)])} />)}</div></Figure>
    {prediction.remarks.length > 0 && <ul class="note">{prediction.remarks.map((remark) => <li>{remark}</li>)}</ul>}
  </details>;
}

function errorBar(prediction) {
  const range = data.expectedRange(prediction);
  return range ? { low: range[0], high: range[1] } : {};
}

export const models = {
  id: 'models',
  title: 'Models',
  fits: (report, launch) => (launch?.predictions ?? []).length > 0,
  draw(context) {
    const { launch } = context;
    const best = data.trusted(launch);
    const lower = launch.predictions.map((p) => p.model).filter((model) => (launch.lower_bounds ?? []).includes(model));
    const bars = launch.predictions.map((p) => ({ name: p.model, value: p.milliseconds, text: `${time(p.milliseconds)}, ${p.bound}`, strong: p === best, ...errorBar(p) }));
    return [
      <Figure title="Predicted time by model" note={`The bold name is the model to trust on this device (${best.model})${data.errorUnknown(best) ? ', whose error on this device is not known' : ', with the range in which measured times typically lie'}. ${lower.length > 0 ? `${list(lower)} ${lower.length > 1 ? 'give lower bounds' : 'gives a lower bound'}: the launch takes at least this time.` : ''}`}
        table={{ heads: ['Model', 'Time', 'Limited by'], rows: launch.predictions.map((p) => [p.model, time(p.milliseconds), p.bound]) }}>
        <Bars bars={bars} label="Predicted time by model" /></Figure>,
      new WhatIf(context).element,
      <h2>Models</h2>,
      launch.predictions.map((p) => <Model prediction={p} launch={launch} open={p === best} />),
    ];
  },
};
