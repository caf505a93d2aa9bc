import { render } from 'preact';
import type { ReviewData } from '../contract/review.ts';
import { listenForKeys, pageKeys } from './keys.ts';
import { pageFacets } from './model/filter.ts';
import { App } from './parts/app.tsx';
import { servedHost } from './state/host.ts';
import { Page } from './state/page.ts';
import { pageViews } from './views/registry.ts';

/**
 * Shows the campaign of the page's own data, which `read` finds, else of whoever serves it. `prepare`: what is done before it
 * is shown.
 */
export function startPage(read: () => ReviewData | undefined, prepare?: (page: Page) => void): void {
  const place = document.getElementById('app');
  if (place === null) return;
  start(place, read, prepare).catch((error: unknown) => {
    place.textContent = `The campaign cannot be shown: ${error instanceof Error ? error.message : String(error)}. Load the page again.`;
  });
}

async function start(
  place: HTMLElement,
  read: () => ReviewData | undefined,
  prepare?: (page: Page) => void,
): Promise<void> {
  const own = read();
  const host = own ? undefined : servedHost();
  const data = own ?? (await host?.load());
  if (data === undefined) return;
  const page = new Page(data, host, { views: pageViews, facets: pageFacets, keyHelp: pageKeys });
  document.title = `${data.campaign} · mediabatch`;
  prepare?.(page);
  place.replaceChildren();
  render(<App page={page} />, place);
  listenForKeys(page);
  addEventListener('beforeunload', (event) => {
    if (data.canDecide && !page.outbox.isEmpty.value) event.preventDefault();
  });
}
