import { type Signal, signal } from '@preact/signals';
import type { ReportParts } from '../../contract/report.ts';
import type { Page } from '../state/page.ts';

export interface Gallery {
  report: ReportParts;
  /** Division of the grid, as `GridBy`; empty: by task. */
  sections: Signal<string>;
  /** On paper there is only what is picked. */
  printsPicked: Signal<boolean>;
}

const galleries = new WeakMap<Page, Gallery>();

/** One for each page. */
export function galleryOf(page: Page): Gallery {
  const known = galleries.get(page);
  if (known !== undefined) return known;
  const { report = { made: 0 } } = page.data.value;
  const gallery: Gallery = { report, sections: signal(''), printsPicked: signal(false) };
  galleries.set(page, gallery);
  return gallery;
}
