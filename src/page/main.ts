import { openWebDeck } from './sound/web-deck.ts';
import { startPage } from './start.tsx';
import { servedHost } from './state/host.ts';

const host = servedHost();
startPage({ load: host.load, host, openDeck: openWebDeck });
