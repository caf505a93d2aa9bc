/*
 * The review page and the gallery, for browsers.
 * Takes: the data of `contract/review.ts` and `contract/report.ts`, as JSON.
 * Returns: a view, and verdicts that it sends to `review/`.
 * Independent of: files, the service, the lock. Texts may come from others, so the page never reads them as markup.
 */

import { render } from 'preact';
import type { ReviewData } from '../contract/review.ts';
import { listenForKeys } from './keys.ts';
import { pageFacets } from './model/filter.ts';
import { App } from './parts/app.tsx';
import { connection } from './parts/media.tsx';
import type { Host } from './state/host.ts';
import { Page } from './state/page.ts';
import { pageViews } from './views/registry.ts';

interface Parts {
  load(): Promise<ReviewData>;
  /** Server of the page. Omitted for a page that was opened from disk. */
  host?: Host;
  prepare?(page: Page): void;
}

export function startPage(parts: Parts): void {
  const place = document.getElementById('app');
  if (place === null) return;
  start(place, parts).catch((error: unknown) => {
    place.textContent = `The campaign cannot be shown: ${error instanceof Error ? error.message : String(error)}. Load the page again.`;
  });
}

async function start(place: HTMLElement, { load, host, prepare }: Parts): Promise<void> {
  const data = await load();
  const page = new Page(data, host, { views: pageViews, facets: pageFacets });
  document.title = `${data.campaign} · mediabatch`;
  prepare?.(page);
  place.replaceChildren();
  render(<App page={page} />, place);
  listenForKeys(page);
  // When the network is back, failed pictures are requested again.
  addEventListener('online', () => {
    connection.value = { ...connection.value, found: connection.value.found + 1 };
  });
  addEventListener('beforeunload', (event) => {
    if (data.canDecide && !page.outbox.isEmpty.value) event.preventDefault();
  });
}
