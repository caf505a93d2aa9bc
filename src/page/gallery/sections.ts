import type { ReviewAsset } from '../../contract/review.ts';
import type { Page } from '../state/page.ts';
import { divide, type Section } from './grid-layout.ts';
import { galleryOf } from './state.ts';

/** Assets that the filters show, in the order of the manifest. */
export function shownAssets(page: Page): ReviewAsset[] {
  return page.strips.value.flatMap(({ assets }) => assets);
}

/** Assets that the filters show, in the sections of the grid. */
export function sectionsOf(page: Page): Section[] {
  return divide(shownAssets(page), galleryOf(page).sections.value);
}
