import { openBoss } from '../../src/cluster/database/boss.ts';
import { openDatabase } from '../../src/cluster/database/database.ts';
import { makeSeal } from '../../src/cluster/seal.ts';
import { openStore } from '../../src/cluster/store/store.ts';
import { serveFiles } from '../../src/cluster/worker/serve-files.ts';
import { Slots } from '../../src/cluster/worker/slots.ts';
import { systemClock } from '../../src/contract/clock.ts';
import { createDownloader } from '../../src/service/download.ts';

/** One hand of `hands.ts`, as a worker has it, until it is told to end. */
const { url, account, token, store: name } = JSON.parse(process.env.BENCH_HAND ?? '{}');
const end = new AbortController();
process.once('SIGTERM', () => end.abort());
const db = await openDatabase(url, { name: 'hand' });
const boss = await openBoss(db);
const store = await openStore(name, { makes: false });
const baseUrl = process.env.MEDIABATCH_BASE_URL ?? '';
const downloads = createDownloader({ baseUrl, redact: (text) => text, requestTimeoutMs: 30_000 });
const files = store.filesOf('bench');
process.stdout.write('ready\n');
await serveFiles({
  ...{ db, boss, account, downloads, signal: end.signal },
  ...{ clock: systemClock, place: store.id, seal: makeSeal(token), worker: String(process.pid) },
  slots: new Slots(Number(process.env.BENCH_FILES ?? 8)),
  filesOf: () => files,
});
await downloads.close();
await boss.stop({ graceful: false });
await db.close();
