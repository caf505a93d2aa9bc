import { effect } from '@preact/signals';
import type { Page } from '../state/page.ts';
import { FilmPair } from './film-pair.ts';
import { compareOf } from './state.ts';

const pairs = new WeakMap<Page, FilmPair>();

/** The films that are compared; the active one leads. */
export function filmsOf(page: Page): FilmPair {
  const known = pairs.get(page);
  if (known !== undefined) return known;
  const pair = new FilmPair();
  pairs.set(page, pair);
  effect(() => pair.lead(compareOf(page).activeSide()));
  return pair;
}
