import { batch, effect } from '@preact/signals';
import { noFilter } from '../model/filter.ts';
import type { Page, ViewName } from '../state/page.ts';
import { type Link, readLink, writeLink } from './link.ts';
import { galleryOf } from './state.ts';

/** Delay in ms before the active asset is written to the URL: browsers limit the rate of URL changes. */
const settled = 300;

/**
 * Synchronizes the URL's hash with the view: a link opens the same state, and the browser's history leads through views
 * and filters. The active asset and the search text make no history entries.
 */
export function followAddress(page: Page): void {
  const start = page.views.value;
  const showAddress = () => show(page, readLink(location.hash), start);
  showAddress();
  let step = stepOf(page);
  let timer: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    const link = linkOf(page);
    const now = stepOf(page);
    clearTimeout(timer);
    const write = () => history.replaceState(null, '', writeLink(link));
    if (now === step) timer = setTimeout(write, settled);
    else history.pushState(null, '', writeLink(link));
    step = now;
  });
  addEventListener('popstate', () => {
    batch(() => {
      showAddress();
      step = stepOf(page);
    });
  });
}

function stepOf(page: Page): string {
  return writeLink({ ...linkOf(page), search: '', active: '' });
}

function linkOf(page: Page): Link {
  const { undecided, text } = page.filter.value;
  const gallery = galleryOf(page);
  const chosen = page.offer.facets.map(({ name }): [string, string] => [name, page.filter.value[name] ?? '']);
  return {
    views: page.views.value,
    chosen: Object.fromEntries(chosen),
    ...{ undecided, search: text, active: page.active.value, details: page.hasDetails.value },
    sections: gallery.sections.value,
  };
}

/** Applies a link to the page. `start`: the initial views. */
function show(page: Page, link: Link, start: readonly ViewName[]): void {
  const gallery = galleryOf(page);
  const { chosen, undecided, search, active } = link;
  gallery.sections.value = link.sections;
  page.filter.value = { ...noFilter, ...chosen, undecided, text: search };
  page.hasDetails.value = link.details;
  const known = link.views.filter((name): name is ViewName => page.offer.views.some((view) => view.name === name));
  const isWhole = page.homes.some((home) => home === known[0]);
  page.views.value = known.length === 0 ? start : isWhole ? known : ['grid', ...known];
  if (page.shown.value.assets.has(active)) page.activate(active);
}
