// SPDX-License-Identifier: Apache-2.0
// The documents that the page can show, each with its pages.
import { caches } from './pages/caches.jsx';
import { compare } from './pages/compare.jsx';
import { divergence } from './pages/divergence.jsx';
import { memory } from './pages/memory.jsx';
import { models } from './pages/models.jsx';
import { occupancy } from './pages/occupancy.jsx';
import { roofline } from './pages/roofline.jsx';
import { source } from './pages/source.jsx';
import { summary } from './pages/summary.jsx';
import { sweep } from './pages/sweep.jsx';
import { timeline } from './pages/timeline.jsx';

/** A kernel that trapped has only a summary. */
const pages = [summary, source, memory, divergence, occupancy, roofline, models, caches, timeline];

export const documentKinds = [
  { fits: (document) => Array.isArray(document.launches), title: (document) => document.device?.name ?? '', launches: true, pages },
  { fits: (document) => Array.isArray(document.sweep), title: () => 'Sweep', pages: [sweep] },
  { fits: (document) => Array.isArray(document.comparisons), title: () => 'Comparison', pages: [compare] },
];
