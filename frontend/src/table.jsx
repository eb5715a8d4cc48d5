// SPDX-License-Identifier: Apache-2.0
// A table that stays fast with many rows: only those in view are in the document. Columns sort by their titles; the
// arrow keys, Page Up and Down, Home and End move the current row, and Enter opens it.
import { h, onPrint, show } from './dom.js';

const kRow = 24; // height in pixels, as in style.css
const kMargin = 12; // rows above and below the view

/**
 * columns: { title, value(row) to sort by, cell(row) to show, numeric, descending (first), hint }
 * onSelect(row): the current row changed; onOpen(row): Enter or a click; styleOf(row): properties of its style.
 */
export class Table {
  constructor({ label, columns, rows, onSelect, onOpen, classOf, styleOf, sort, height }) {
    Object.assign(this, { columns, onSelect, onOpen, classOf, styleOf });
    this.all = rows;
    this.rows = rows;
    this.current = -1;
    this.sorted = { column: -1, descending: false };
    this.body = <tbody />;
    this.heads = columns.map((column, i) => this.head(column, i));
    this.table = <table class={columns.some(({ className }) => /\bgrow\b/.test(className)) ? 'list wide' : 'list'} aria-label={label} aria-rowcount={rows.length + 1}>
      <thead><tr aria-rowindex="1">{this.heads}</tr></thead>
      {this.body}
    </table>;
    this.element = <div class="scroll" tabindex="0" role="region" aria-label={`${label}: arrow keys move`}
      onScroll={() => this.draw()} onKeydown={(event) => this.key(event)}>{this.table}</div>;
    if (height) this.element.style.setProperty('height', `${height}px`);
    const print = (everything) => { this.everything = everything; this.draw(); };
    onPrint(() => print(true), () => print(false));
    new ResizeObserver(() => this.draw()).observe(this.element);
    if (sort !== undefined) this.sort(sort, columns[sort].descending ?? false);
    else this.draw();
  }

  head(column, i) {
    const button = column.value
      ? <button type="button" title={column.hint} onClick={() => this.sort(i, this.sorted.column === i
        ? !this.sorted.descending : column.descending ?? false)}>{column.title}</button>
      : column.title;
    return <th scope="col" class={column.numeric ? 'number' : null}>{button}</th>;
  }

  sort(column, descending) {
    const { value } = this.columns[column];
    const selected = this.rows[this.current];
    const compare = (a, b) => (typeof a === 'string' ? a.localeCompare(b) : (Number.isNaN(a) ? -Infinity : a) - (Number.isNaN(b) ? -Infinity : b));
    this.rows = this.all.map((row) => [value(row), row]);
    this.rows.sort(([a], [b]) => (descending ? compare(b, a) : compare(a, b)));
    this.rows = this.rows.map(([, row]) => row);
    this.sorted = { column, descending };
    this.heads.forEach((head, i) => {
      if (i === column) head.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
      else head.removeAttribute('aria-sort');
    });
    this.current = selected === undefined ? -1 : this.rows.indexOf(selected);
    this.element.scrollTop = 0; // the largest or smallest is what people sort for
    this.drawn = undefined;
    this.draw();
  }

  draw() {
    const { everything } = this; // also when the window changes its size to that of the paper
    const view = this.element.clientHeight || 600;
    const first = everything ? 0 : Math.max(0, Math.floor(this.element.scrollTop / kRow) - kMargin);
    const end = everything ? this.rows.length
      : Math.min(this.rows.length, Math.ceil((this.element.scrollTop + view) / kRow) + kMargin);
    const drawn = `${first},${end},${this.current}`;
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    const space = (rows) => rows > 0 && <tr class="space" aria-hidden="true"><td colspan={this.columns.length}
      style={{ height: `${rows * kRow}px` }} /></tr>;
    show(this.body, space(first), this.rows.slice(first, end).map((row, i) => this.row(row, first + i)),
      space(this.rows.length - end));
  }

  row(row, index) {
    return <tr aria-rowindex={index + 2} aria-current={index === this.current ? 'true' : null}
      class={this.classOf?.(row)} style={this.styleOf?.(row)} onClick={() => { this.select(index); this.onOpen?.(row); }}>
      {this.columns.map((column) => <td class={[column.numeric && 'number', column.className].filter(Boolean).join(' ') || null}>{column.cell(row)}</td>)}
    </tr>;
  }

  /** Makes a row the current one, and scrolls it into view. */
  select(index, { silent = false } = {}) {
    this.current = Math.max(0, Math.min(this.rows.length - 1, index));
    const top = this.current * kRow;
    const view = this.element.clientHeight - 2 * kRow;
    if (top < this.element.scrollTop) this.element.scrollTop = Math.max(0, top - 2 * kRow);
    else if (top > this.element.scrollTop + view) this.element.scrollTop = top - view / 2;
    this.drawn = undefined;
    this.draw();
    if (!silent && this.rows.length > 0) this.onSelect?.(this.rows[this.current]);
  }

  selectRow(row, options) {
    const index = this.rows.indexOf(row);
    if (index >= 0) this.select(index, options);
  }

  key(event) {
    if (event.target !== this.element) return;
    const page = Math.max(1, Math.floor(this.element.clientHeight / kRow) - 2);
    const to = { ArrowDown: this.current + 1, ArrowUp: this.current - 1, PageDown: this.current + page,
      PageUp: this.current - page, Home: 0, End: this.rows.length - 1 }[event.key];
    if (to !== undefined) this.select(to);
    else if (event.key === 'Enter' && this.current >= 0) this.onOpen?.(this.rows[this.current]);
    else return;
    event.preventDefault();
  }
}

/** A small table without scrolling: rows of cells; the first cell of a row is its header. */
export function PlainTable({ heads, rows, label }) {
  return <table class="plain" aria-label={label}>
    <thead><tr>{heads.map((head) => <th scope="col">{head}</th>)}</tr></thead>
    <tbody>{rows.map(([first, ...others]) => <tr><th scope="row">{first}</th>{others.map((cell) => <td>{cell}</td>)}</tr>)}</tbody>
  </table>;
}
