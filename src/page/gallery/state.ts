import { type Signal, signal } from '@preact/signals';
import type { ReportParts } from '../../contract/report.ts';
import type { Page } from '../state/page.ts';

export interface Gallery {
  report: ReportParts;
  /** Sectioning of the grid, as in `GridBy`; empty for sections by task. */
  sections: Signal<string>;
  /** Whether only picked assets are printed. */
  printsPicked: Signal<boolean>;
}

const galleries = new WeakMap<Page, Gallery>();

/** Returns the gallery state of a page; each page has one. */
export function galleryOf(page: Page): Gallery {
  const known = galleries.get(page);
  if (known !== undefined) return known;
  const { report = { made: 0 } } = page.data.value;
  const gallery: Gallery = { report, sections: signal(''), printsPicked: signal(false) };
  galleries.set(page, gallery);
  return gallery;
}
