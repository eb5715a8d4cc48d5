// SPDX-License-Identifier: Apache-2.0
// Colours of CUDA C++ and PTX, line by line: comments, strings, numbers, key words.
import { h } from './dom.js';

const cuda = new Set(('auto bool break case char class const constexpr continue default delete do double else enum extern '
  + 'false float for if inline int long namespace new nullptr operator private public return short signed sizeof static '
  + 'struct switch template this true typedef typename union unsigned using void volatile while __global__ __device__ '
  + '__host__ __shared__ __constant__ __restrict__ __launch_bounds__ __syncthreads').split(' '));
const token = /(\/\/.*$|\/\*.*?(?:\*\/|$))|("(?:\\.|[^"\\])*"?)|([A-Za-z_]\w*)|(0[xX][0-9a-fA-F]+|\d[\w.]*)/g;

function marked(text, classOf) {
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(token)) {
    const name = classOf(match);
    if (!name) continue;
    if (match.index > at) parts.push(text.slice(at, match.index));
    parts.push(h('span', { class: name }, match[0]));
    at = match.index + match[0].length;
  }
  parts.push(text.slice(at));
  return parts;
}

const kind = ([, comment, string, , number]) => (comment ? 'comment' : string ? 'string' : number ? 'digits' : null);

export const cudaLine = (text) => marked(text, (match) => kind(match) ?? (cuda.has(match[3]) ? 'word' : null));

/** The opcode stands out: it is the first word after a guard. */
export function ptxLine(text) {
  const opcode = /^(\s*(?:@!?%\w+\s+)?)([a-z][\w.:]*)/.exec(text);
  if (!opcode) return marked(text, (match) => kind(match));
  const [whole, before, word] = opcode;
  return [before, h('span', { class: 'word' }, word), ...marked(text.slice(whole.length), (match) => kind(match))];
}
