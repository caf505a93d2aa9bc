import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { expect, onTestFinished, test } from 'vitest';
import { command, temporaryFolder } from '../rig/command.ts';
import { manifest, products } from './workplace.ts';

test('report --sheet writes a picture of all outputs, and over nothing but an earlier one', async () => {
  const { path: folder, remove } = temporaryFolder();
  onTestFinished(remove);
  const path = (name: string) => join(folder, name);
  writeFileSync(path('campaign.yaml'), manifest);
  writeFileSync(path('products.csv'), products);
  const call = (...args: string[]) => command([...args, '--sandbox'], { cwd: folder, env: { HOME: folder } });
  expect((await call('apply', '--yes')).code).toBe(0);
  const lock = readFileSync(path('campaign.sandbox.lock.jsonl'));

  const first = await call('report', '--sheet', 'all.jpg');
  expect(first).toMatchObject({ code: 0, out: '' });
  expect(first.err).toMatch(/saved {2}all\.jpg\n.*2 assets/);
  const sheet = readFileSync(path('all.jpg'));
  expect((await sharp(sheet).metadata()).format).toBe('jpeg');
  expect(readFileSync(path('campaign.sandbox.lock.jsonl'))).toEqual(lock);

  // Of an earlier set that was larger.
  writeFileSync(path('all-2.jpg'), sheet);
  expect((await call('report', '--sheet', 'all.jpg')).code).toBe(0);
  expect(readFileSync(path('all.jpg'))).toEqual(sheet);
  expect(existsSync(path('all-2.jpg'))).toBe(false);

  writeFileSync(path('mine.png'), 'holiday');
  expect(await call('report', '--sheet', 'mine.png')).toMatchObject({ code: 73 });
  expect(readFileSync(path('mine.png'), 'utf8')).toBe('holiday');
  const wrong = await call('report', '--sheet', 'all.gif');
  expect(wrong.code).not.toBe(0);
  expect(wrong.err).toContain('.jpg or .png');
  expect((await call('report', '--sheet', 'all.jpg', '--copy')).err).toContain('--sheet does not go with --copy');
});
