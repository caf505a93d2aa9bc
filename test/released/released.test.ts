import { createHash } from 'node:crypto';
import { cpSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { openCampaign } from '../../src/campaign/open-campaign.ts';
import { requireCheckedGraph } from '../../src/campaign/checked-graph.ts';
import { showPlan } from '../../src/campaign/plan.ts';
import { openSavedPlan } from '../../src/campaign/saved-plan.ts';
import { findViolations } from '../../src/campaign/validate-event.generated.ts';
import type { Sql } from '../../src/cluster/database/database.ts';
import { refusePutBack } from '../../src/cluster/store/run-mark.ts';
import { openStore } from '../../src/cluster/store/store.ts';
import type { Json } from '../../src/ground/json.ts';
import { runInProcess } from '../command/in-process.ts';
import { findForgotten, findMissing, locksOf, pathInSet, readInSet, readWhole, releasedVersions } from './read-sets.ts';
import { makeFolder } from '../rig/folder.ts';

/** Knows of no line that a lock has given back. */
const noDatabase: Sql = { query: async () => [] };

const documents = ['plan', 'status', 'outputs', 'cost'];

/** The campaign of a set in a folder of its own, with its lock or as it was before anything was bought. */
function placeOf(version: string, is: 'bought' | 'new'): string {
  const path = makeFolder();
  for (const name of ['campaign.yaml', 'brand.yaml', 'products.csv', 'copy.csv', 'logo.png', 'saved.plan.json']) {
    cpSync(pathInSet(version, name), join(path, name));
  }
  if (is === 'bought') cpSync(pathInSet(version, 'whole.lock.jsonl'), join(path, 'campaign.lock.jsonl'));
  return path;
}

const lockOf = (version: string, name: string) => ({
  text: readInSet(version, `${name}.lock.jsonl`),
  expected: readInSet(version, `${name}.read.jsonl`),
});

test('there is a set of what was written before the lock changes', () => {
  expect(releasedVersions).toContain('0.1.0');
  expect(locksOf('0.1.0')).toEqual(['every-field', 'merged', 'open-send', 'stored', 'torn', 'whole']);
});

describe.each(releasedVersions)('what %s has written', (version) => {
  test.each(locksOf(version))('its lock %s is read with every field, and each of them is known', (name) => {
    expect(findForgotten(lockOf(version, name))).toEqual([]);
  });

  test('its manifest asks for what was bought, and for nothing else', async () => {
    const { code, out, err } = await runInProcess(['plan', '--json'], {}, placeOf(version, 'bought'));
    expect(code, err).toBe(0);
    const { rows, totals } = JSON.parse(out) as { rows: { action: string }[]; totals: { knownPrices: number } };
    // The files of the set are not kept with it: they are fetched again, which is free.
    expect(new Set(rows.map(({ action }) => action))).toEqual(new Set(['download', 'keep']));
    expect(totals.knownPrices).toBe(0);
  });

  test('its saved plan is carried out as it was saved', async () => {
    const folder = placeOf(version, 'new');
    const saved = await openSavedPlan(join(folder, 'saved.plan.json'));
    if (saved === undefined) throw new Error('it is no plan any more');
    const campaign = await openCampaign(join(folder, 'campaign.yaml'));
    const checked = await requireCheckedGraph(campaign, {});
    const { plan } = await showPlan(campaign, checked, { ...saved.options, saved });
    const creates = plan.rows.filter(({ action }) => action === 'create').map(({ address }) => address);
    expect(creates).toEqual([...saved.purchases.keys()]);
  });

  test('its events have the form that is published today', () => {
    const events = readInSet(version, 'events.jsonl').trimEnd().split('\n');
    expect(events.length).toBeGreaterThan(20);
    expect(events.flatMap((line) => findViolations(JSON.parse(line)))).toEqual([]);
  });

  test('its store has the files of its lock, and says what the database of the run had', async () => {
    const store = await openStore(pathInSet(version, 'store'), { makes: false });
    const { lock } = readWhole(readInSet(version, 'stored.lock.jsonl'));
    const [voice] = lock.steps.get('voice')?.purchases ?? [];
    const [output] = (voice?.state === 'done' && voice.outputs) || [];
    if (output === undefined) throw new Error('its lock has lost what was made');
    const pieces = await store.filesOf('stored').read(output);
    const bytes = pieces && (await buffer(pieces));
    expect(bytes && createHash('sha256').update(bytes).digest('hex')).toBe(output.sha256);
    const [run = ''] = readdirSync(pathInSet(version, 'store/.mediabatch/runs')).map((name) => basename(name, '.json'));
    const record = { run, server: null, lock: { ...lock, steps: new Map() } };
    await refusePutBack(noDatabase, store, { ...record, lines: 3 });
    await expect(refusePutBack(noDatabase, store, { ...record, lines: 2 })).rejects.toThrow('had 3 lines about 1');
  });

  test.each(documents)('%s --json has every field that it had', async (name) => {
    const { out, err } = await runInProcess([name, '--json'], {}, placeOf(version, 'bought'));
    expect(err).not.toContain('error');
    const before = JSON.parse(readInSet(version, `${name}.json`)) as Json;
    expect(findMissing(before, JSON.parse(out) as Json, name, 'fields')).toEqual([]);
  });
});

describe('controls', () => {
  const { text, expected } = lockOf('0.1.0', 'every-field');

  test.each(['credits', 'fence', 'decisions', 'recordId', 'since'])('a reader that forgets %s is seen', (field) => {
    const forgetful = (lock: string) =>
      readWhole(
        lock.replace(/.+\n/g, (line) =>
          JSON.stringify(JSON.parse(line), (name, value) => (name === field ? undefined : value)).concat('\n'),
        ),
      );
    expect(findForgotten({ text, expected }, forgetful)).not.toEqual([]);
  });

  test('a reader that keeps a field without knowing it is seen', () => {
    const unknowing = (lock: string) => readWhole(lock.replaceAll('"recordId":', '"recordNumber":'));
    expect(findForgotten({ text, expected }, unknowing)).toContainEqual(
      expect.stringContaining('is not known any more'),
    );
  });

  test('a field that a document no longer has is seen', () => {
    expect(findMissing({ a: [{ b: 1, c: 2 }] }, { a: [{ b: 3 }] }, 'plan', 'fields')).toEqual(['plan.a[0].c is gone']);
  });
});
