import { startPage } from './start.tsx';
import { servedHost } from './state/host.ts';

const host = servedHost();
startPage({ load: host.load, host });
