import { batch, effect } from '@preact/signals';
import { noFilter } from '../model/filter.ts';
import type { Page, ViewName } from '../state/page.ts';

/** Delay in ms before the active asset is written to the URL: browsers limit the rate of URL changes. */
const settled = 300;

/**
 * Synchronizes the URL's hash with the view: a link opens the same state, and the browser's history leads through views
 * and filters. The active asset and the search text make no history entries.
 */
export function followAddress(page: Page): void {
  const start = page.views.value;
  show(page, start);
  let step = hashOf(page);
  let timer: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    const hash = hashOf(page, { search: page.filter.value.text, active: page.active.value });
    const now = hashOf(page);
    clearTimeout(timer);
    if (now === step) timer = setTimeout(() => history.replaceState(null, '', hash), settled);
    else history.pushState(null, '', hash);
    step = now;
  });
  addEventListener('popstate', () => {
    batch(() => {
      show(page, start);
      step = hashOf(page);
    });
  });
}

function hashOf(page: Page, passing: Record<string, string> = {}): string {
  const { undecided, text: _, ...chosen } = page.filter.value;
  const flags = { undecided: undecided ? 'yes' : '', details: page.hasDetails.value ? 'yes' : '' };
  const all = Object.entries({ view: page.views.value.join('.'), ...chosen, ...flags, ...passing });
  return `#${new URLSearchParams(all.filter(([, value]) => value !== ''))}`;
}

/** Applies the URL's hash to the page. Unknown parameters are ignored. `start`: the initial views. */
function show(page: Page, start: readonly ViewName[]): void {
  const said = new URLSearchParams(location.hash.slice(1));
  const get = (name: string) => said.get(name) ?? '';
  const chosen = page.offer.facets.map(({ name }) => [name, get(name)]);
  page.filter.value = {
    ...{ ...noFilter, ...Object.fromEntries(chosen) },
    ...{ undecided: get('undecided') === 'yes', text: get('search') },
  };
  page.hasDetails.value = get('details') === 'yes';
  const known = get('view')
    .split('.')
    .filter((name): name is ViewName => page.offer.views.some((view) => view.name === name));
  const isWhole = page.homes.some((home) => home === known[0]);
  page.views.value = known.length === 0 ? start : isWhole ? known : ['grid', ...known];
  if (page.shown.value.assets.has(get('active'))) page.activate(get('active'));
}
