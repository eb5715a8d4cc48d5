// SPDX-License-Identifier: Apache-2.0
// Parts of pictures: figures with their data as a table, axes, bars.
import { h } from './dom.js';
import { PlainTable } from './table.jsx';

/** A picture with a title, and its data as a table for those who cannot see it. `table`: { heads, rows }. */
export function Figure({ title, label = title, note, table, wide, children }) {
  return <figure class={wide ? 'wide' : null}>
    <figcaption>{title}</figcaption>
    {children}
    {note && <p class="note">{note}</p>}
    {table && <details class="data"><summary>Data as a table</summary><PlainTable label={label} {...table} /></details>}
  </figure>;
}

/** The width of a drawing: on a phone, what fits it when it has shrunk as far as it may. */
export const drawingWidth = (wide) => (innerWidth < 600 ? Math.min(wide, 510) : wide);

/** A drawing that shrinks to 70 % of its width, so that its text stays readable, and scrolls beyond that. */
export function Svg({ width, height, label, className, children }) {
  return <div class="drawing"><svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label} class={className}
    preserveAspectRatio="xMinYMin meet" style={{ 'max-width': `${width}px`, 'min-width': `${Math.round(0.7 * width)}px` }}>{children}</svg></div>;
}

/** An axis at the bottom: `ticks` are values of `scale`, `format` writes them. */
export function BottomAxis({ scale, y, ticks, format, title, grid = 0 }) {
  const [left, right] = scale.range();
  return <g class="axis">
    <line x1={left} x2={right} y1={y} y2={y} />
    {ticks.map((tick) => <g>
      {grid > 0 && <line class="grid" x1={scale(tick)} x2={scale(tick)} y1={y - grid} y2={y} />}
      <line x1={scale(tick)} x2={scale(tick)} y1={y} y2={y + 4} />
      <text x={scale(tick)} y={y + 16} text-anchor="middle">{format(tick)}</text>
    </g>)}
    <text class="title" x={(left + right) / 2} y={y + 34} text-anchor="middle">{title}</text>
  </g>;
}

export function LeftAxis({ scale, x, ticks, format, title, grid = 0 }) {
  return <g class="axis">
    {ticks.map((tick) => <g>
      {grid > 0 && <line class="grid" x1={x} x2={x + grid} y1={scale(tick)} y2={scale(tick)} />}
      <text x={x - 6} y={scale(tick) + 4} text-anchor="end">{format(tick)}</text>
    </g>)}
    <text class="title" x={x} y={Math.min(...scale.range()) - 12} text-anchor="start">{title}</text>
  </g>;
}

const percent = (share) => `${(100 * share).toFixed(2)}%`;

function ErrorBar({ low, high }) {
  return <span class="error" style={{ left: percent(low), width: percent(high - low) }} />;
}

/**
 * Horizontal bars: { name, value, text, strong, colour, low, high }; low and high make an error bar. `end` is the value
 * of a bar of full length. The name, the bar and the text flow as the width permits, so that text keeps its size.
 */
export function Bars({ bars, label, end = 0 }) {
  const most = Math.max(...bars.map((bar) => Math.max(bar.value || 0, bar.high ?? 0)), end, Number.MIN_VALUE);
  const share = (value) => Math.max(0, Math.min(1, (value || 0) / most));
  const named = bars.some((bar) => bar.name.length > 24); // on a phone, above its bar
  return <div class={named ? 'bars named' : 'bars'} role="img" aria-label={`${label}: ${bars.map((bar) => `${bar.name} ${bar.text}`).join('; ')}`}>
    {bars.map((bar) => <div class={bar.strong ? 'bar strong' : 'bar'}>
      <span class="name">{bar.name}</span>
      <span class="track">
        {bar.value > 0 && <span class="fill" style={{ width: percent(share(bar.value)), ...(bar.colour && { background: bar.colour }) }} />}
        {bar.high !== undefined && <ErrorBar low={share(bar.low)} high={share(bar.high)} />}
      </span>
      <span class="text">{bar.text}</span>
    </div>)}
  </div>;
}

/** A share as a bar in a cell. */
export function ShareBar({ share }) {
  return <span class="share" aria-hidden="true"><span style={{ width: `${100 * Math.min(1, share || 0)}%` }} /></span>;
}

/** The colours of the lines of a picture: `names` in the order of the classes s1, s2, … */
export function Legend({ names, colours }) {
  return <ul class="legend">{names.map((name, i) => <li>
    <span class={`key s${i % colours + 1}${i >= colours ? ' dashed' : ''}`} aria-hidden="true" />{name}</li>)}</ul>;
}
