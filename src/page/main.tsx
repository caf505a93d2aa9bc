import { render } from 'preact';
import { listenForKeys } from './keys.ts';
import { App } from './parts/app.tsx';
import { dataInPage, servedHost } from './state/host.ts';
import { Page } from './state/page.ts';

/** Shows the campaign of the page's own data, else of whoever serves it. */
async function start(place: HTMLElement): Promise<void> {
  const own = dataInPage();
  const host = own === undefined ? servedHost() : undefined;
  const data = own ?? (await host?.load());
  if (data === undefined) return;
  const page = new Page(data, host);
  document.title = `${data.campaign} · mediabatch`;
  place.replaceChildren();
  render(<App page={page} />, place);
  listenForKeys(page);
  addEventListener('beforeunload', (event) => {
    if (data.canDecide && !page.outbox.isEmpty.value) event.preventDefault();
  });
}

const place = document.getElementById('app');
if (place !== null) {
  start(place).catch((error: unknown) => {
    place.textContent = `The campaign cannot be shown: ${error instanceof Error ? error.message : String(error)}. Load the page again.`;
  });
}
