import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { manifestOf } from './rig/campaign.ts';
import { ClusterPlace } from './rig/place.ts';

const secret = '7Q2mX9vLk4Rz8tYw';
const key = `booking_live_${secret}_one`;

/** The key, each eight characters of its secret part, in a few ways in which bytes are written down. */
function formsOf(words: readonly string[]): string[] {
  return words.flatMap((word) => [
    word,
    Buffer.from(word).toString('hex'),
    Buffer.from(word).toString('base64').slice(0, -4),
  ]);
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

test('neither the key, nor a part of it, nor any link is ever in the database, its log, or on a screen', async ({
  onTestFinished,
}) => {
  const place = await ClusterPlace.make(onTestFinished);
  place.key = key;
  place.write('campaign.yaml', manifestOf({ rows: 8, concurrency: 4, budget: 100 }));
  place.judge.jobMs = 400;
  place.judge.fate = ({ nth, kind }) => (kind === 'image' && nth % 5 === 0 ? 'lose' : 'book');
  const workers = [place.worker(['--files', '2']), place.worker(['--files', '2'])];
  const submitter = place.submit(['--store', place.store, '--events', 'events.jsonl']);
  const dumps: string[] = [];
  while (submitter.isRunning()) {
    dumps.push(await place.server.dump().catch(() => ''));
    await wait(200);
  }
  const ran = await submitter.ended;
  expect(ran.code, ran.err).toBe(0);
  dumps.push(await place.server.dump());
  for (const worker of workers) worker.signal('SIGTERM');
  await Promise.all(workers.map(({ ended }) => ended));
  await place.server.stop();
  // What was deleted still stands in pages and in the log of transactions.
  const onDisk = filesIn(place.server.data).map((path) => readFileSync(path, 'latin1'));
  const said = [submitter, ...workers].flatMap((one) => [one.out(), one.err()]);
  const texts = [...dumps, ...onDisk, ...said];

  expect(dumps.at(-1)).toContain('mediabatch.line');
  expect(onDisk.some((text) => text.includes('"state":"running"'))).toBe(true);
  const parts = Array.from({ length: secret.length - 7 }, (_, index) => secret.slice(index, index + 8));
  const links = place.judge.links.map((link) => link.slice(link.indexOf('/files/')));
  expect(links.length).toBeGreaterThan(8 + 8 + 3);
  const found = formsOf([key, ...parts, ...new Set(links)]).filter((word) => texts.some((text) => text.includes(word)));
  expect(found).toEqual([]);
  const password = new URL(place.server.url).password;
  expect(said.filter((text) => text.includes(password))).toEqual([]);
});
