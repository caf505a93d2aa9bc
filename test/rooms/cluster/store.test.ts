import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../../src/cluster/store.ts';
import { writeMarker } from '../../../src/cluster/store-marker.ts';
import { png } from '../disk/media.ts';
import { chunks, failure, target } from '../disk/targets.ts';

/** A store whose marker somebody has created, and not written yet. */
function begun(): { store: string; path: string } {
  const store = mkdtempSync(join(tmpdir(), 'mediabatch-store-'));
  onTestFinished(() => rmSync(store, { recursive: true, force: true }));
  mkdirSync(join(store, '.mediabatch'));
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
