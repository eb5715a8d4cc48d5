// SPDX-License-Identifier: Apache-2.0
// Elements of HTML and SVG from JSX. Text becomes text nodes, never markup, so that names from a kernel cannot act.
const svgTags = new Set(['svg', 'g', 'path', 'rect', 'line', 'circle', 'text', 'tspan', 'polyline', 'polygon', 'title']);

function append(parent, child) {
  if (child === null || child === undefined || child === false || child === true) return;
  if (Array.isArray(child)) for (const one of child) append(parent, one);
  else parent.append(child instanceof Node ? child : String(child));
}

function set(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name.startsWith('on')) element.addEventListener(name.slice(2).toLowerCase(), value);
  else if (name === 'style') for (const [key, one] of Object.entries(value)) element.style.setProperty(key, one);
  else if (name === 'value' || name === 'checked' || name === 'selected') element[name] = value;
  else element.setAttribute(name === 'class' ? 'class' : name, value === true ? '' : value);
}

/** <tag name={value}>{children}</tag>; a function as tag gets the attributes, with `children`. */
export function h(tag, attributes, ...children) {
  if (typeof tag === 'function') return tag({ ...attributes, children });
  const element = svgTags.has(tag) ? document.createElementNS('http://www.w3.org/2000/svg', tag)
    : document.createElement(tag);
  append(element, children); // first: a <select> finds its value among its options
  for (const [name, value] of Object.entries(attributes ?? {})) set(element, name, value);
  return element;
}

export function Fragment({ children }) {
  const fragment = document.createDocumentFragment();
  append(fragment, children);
  return fragment;
}

/** Replaces what `parent` contains. */
export function show(parent, ...children) {
  parent.replaceChildren();
  append(parent, children);
  return parent;
}

let printers = [];
/** What the current view does before and after it is printed. */
export const onPrint = (before, after) => printers.push({ before, after });
export const forgetPrinters = () => { printers = []; };
addEventListener('beforeprint', () => printers.forEach((one) => one.before()));
addEventListener('afterprint', () => printers.forEach((one) => one.after()));

let ids = 0;
/** An id for labels. */
export const newId = () => `id-${++ids}`;
