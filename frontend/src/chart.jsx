// SPDX-License-Identifier: Apache-2.0
// Parts of pictures: figures with their data as a table, axes, bars.
import { Fragment, h } from './dom.js';
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

export function Svg({ width, height, label, children }) {
  return <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label} preserveAspectRatio="xMinYMin meet"
    style={{ 'max-width': `${width}px` }}>{children}</svg>;
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

/** Horizontal bars: { name, value, text, strong, low, high }; low and high make an error bar. `end` is the value of a
 * bar of full length, `texts` the room for the text beside it. */
export function Bars({ bars, label, width = 640, names = 170, texts = 96, end = 0 }) {
  const most = Math.max(...bars.map((bar) => Math.max(bar.value || 0, bar.high ?? 0)), end, Number.MIN_VALUE);
  const room = width - names - texts;
  const x = (value) => names + (Math.max(0, value) / most) * room;
  return <Svg width={width} height={bars.length * 26 + 4} label={label}>
    {bars.map((bar, i) => <g class={bar.strong ? 'bar strong' : 'bar'}>
      <text class="name" x={names - 8} y={i * 26 + 17} text-anchor="end">{bar.name}</text>
      <rect x={names} y={i * 26 + 4} width={Math.max(1, x(bar.value || 0) - names)} height={18} rx="2"
        style={bar.colour ? { fill: bar.colour } : null} />
      {bar.high !== undefined && <Fragment>
        <line class="error" x1={x(bar.low)} x2={x(bar.high)} y1={i * 26 + 13} y2={i * 26 + 13} />
        <line class="error" x1={x(bar.low)} x2={x(bar.low)} y1={i * 26 + 8} y2={i * 26 + 18} />
        <line class="error" x1={x(bar.high)} x2={x(bar.high)} y1={i * 26 + 8} y2={i * 26 + 18} />
      </Fragment>}
      <text x={x(Math.max(bar.value || 0, bar.high ?? 0)) + 8} y={i * 26 + 17}>{bar.text}</text>
    </g>)}
  </Svg>;
}

/** A share as a bar in a cell. */
export function ShareBar({ share }) {
  return <span class="share" aria-hidden="true"><span style={{ width: `${100 * Math.min(1, share || 0)}%` }} /></span>;
}
