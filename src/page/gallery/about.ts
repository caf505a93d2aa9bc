import type { Page } from '../state/page.ts';
import { galleryOf } from './state.ts';

/** Describes when the gallery was made, and what it is compared with. */
export function aboutOf(page: Page): string {
  const { made, compare, embedded, client } = galleryOf(page).report;
  if (client) return client;
  return [
    `as of ${new Date(made).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })}`,
    compare && `compared with ${compare.ref} (${compare.commit.slice(0, 10)})`,
    embedded && embedded.left > 0 && `${embedded.left} originals are not in this file`,
  ]
    .filter(Boolean)
    .join(' · ');
}
