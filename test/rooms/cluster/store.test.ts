import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../../src/cluster/store/store.ts';
import { writeMarker } from '../../../src/cluster/store/store-marker.ts';
import { png } from '../disk/media.ts';
import { chunks, failure, filesIn, sha256, target } from '../disk/targets.ts';

/** A store whose marker somebody has created, and not written yet. */
function begun(): { store: string; path: string } {
  const above = mkdtempSync(join(tmpdir(), 'mediabatch-store-'));
  onTestFinished(() => rmSync(above, { recursive: true, force: true }));
  const store = join(above, 'store');
  mkdirSync(join(store, '.mediabatch'), { recursive: true });
  const path = join(store, '.mediabatch', 'store.json');
  writeFileSync(path, '');
  return { store, path };
}

test.each([true, false])('a store that another is making is that one (makes: %s)', async (makes) => {
  const { store, path } = begun();
  const opening = openStore(store, { makes });
  await wait(20);
  writeFileSync(path, writeMarker('0123456789abcdef'));
  expect(await opening).toMatchObject({ id: '0123456789abcdef', name: store });
});

test('a marker that stays empty is refused by name', async () => {
  const { store } = begun();
  await expect(openStore(store, { makes: true })).rejects.toMatchObject({ failure: { code: 'MB3705' } });
});

test('an empty name is not taken for the working folder', async () => {
  await expect(openStore('', { makes: true })).rejects.toMatchObject({
    failure: { code: 'MB3705', message: '--store is empty, and names no store' },
  });
});

test('an address of something else is no folder that is not mounted', async () => {
  const { message, hint } = await openStore('https://bucket.example/x', { makes: true }).catch(
    ({ failure }) => failure,
  );
  expect(message).toBe('the store https://bucket.example/x is neither a folder nor s3://BUCKET/PREFIX');
  expect(hint).toContain('AWS_ENDPOINT_URL_S3');
});

test('nothing is saved where a store was, and another one or none is mounted', async () => {
  const { store, path } = begun();
  writeFileSync(path, writeMarker('0123456789abcdef'));
  const files = (await openStore(store, { makes: false })).filesOf('shop');
  const save = () => files.save(target(), { body: chunks(png), bytes: png.length, type: 'image/png' });
  expect(await save()).toMatchObject({ path: 'images/hero.png' });
  for (const unmount of [() => writeFileSync(path, writeMarker('f'.repeat(16))), () => rmSync(path)]) {
    unmount();
    rmSync(join(store, 'shop'), { recursive: true, force: true });
    expect((await failure(save())).why).toBe('disk');
    expect(existsSync(join(store, 'shop'))).toBe(false);
  }
});

test('a file that a redo replaces stays beside the new one, whichever worker had saved it; any other is told', async () => {
  const { store, path } = begun();
  writeFileSync(path, writeMarker('0123456789abcdef'));
  const filesOfWorker = async () => (await openStore(store, { makes: false })).filesOf('shop');
  const [one, another] = [await filesOfWorker(), await filesOfWorker()];
  const made = (mark: string) => Buffer.concat([png.subarray(0, 30), Buffer.from(mark), png.subarray(30)]);
  const asideOf = (bytes: Buffer) => `images/hero.changed-${sha256(bytes).slice(0, 8)}.png`;
  const redo = (old: Buffer) => target({ replaces: [sha256(old)] });
  await one.save(target(), { body: chunks(png) });
  const [second, third, fourth] = [redo(png), redo(made('1')), redo(png)];
  await one.save(second, { body: chunks(made('1')) });
  await another.save(third, { body: chunks(made('2')) });
  expect([second.notices, third.notices]).toEqual([[], []]);
  await another.save(fourth, { body: chunks(made('3')) });
  expect(filesIn(join(store, 'shop'))).toEqual(['images/hero.png', ...[png, made('1'), made('2')].map(asideOf)].sort());
  expect(fourth.notices).toEqual([
    `${store}: images/hero.png was not made by this step or was changed since; it is kept as ${asideOf(made('2'))}`,
  ]);
});

async function storeHere() {
  const { store, path } = begun();
  writeFileSync(path, writeMarker('0123456789abcdef'));
  const outside = mkdtempSync(join(tmpdir(), 'mediabatch-outside-'));
  onTestFinished(() => rmSync(outside, { recursive: true, force: true }));
  return { store, outside, opened: await openStore(store, { makes: false }) };
}

test('I48 nothing goes through a link that somebody put in the place of the campaign’s folder', async () => {
  const { store, outside, opened } = await storeHere();
  symlinkSync(outside, join(store, 'shop'));
  const files = opened.filesOf('shop');
  const saved = files.save(target(), { body: chunks(png), bytes: png.length, type: 'image/png' });
  expect((await failure(saved)).why).toBe('path');
  expect(readdirSync(outside)).toEqual([]);
  writeFileSync(join(outside, 'hero.png'), png);
  const output = { path: 'hero.png', sha256: 'f'.repeat(64), bytes: png.length, type: 'image/png' };
  for (const act of [files.read(output), files.measure(output, []), files.relocate(target(), output)])
    expect((await failure(act)).why).toBe('path');
});

test.each(['../escaped', 'shop/../../escaped', '.mediabatch', '', 'Shop', 'a/b'])(
  'I48 a campaign that a database calls %j has no folder in the store',
  async (campaign) => {
    const { store, opened } = await storeHere();
    const saved = opened.filesOf(campaign).save(target(), { body: chunks(png), bytes: png.length, type: 'image/png' });
    expect((await failure(saved)).message).toContain('not a valid campaign name');
    expect(readdirSync(store)).toEqual(['.mediabatch']);
    expect(existsSync(join(store, '../escaped'))).toBe(false);
  },
);
