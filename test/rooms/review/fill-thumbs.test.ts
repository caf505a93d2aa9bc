import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { drawPng } from '../../rig/review/png.ts';
import { servedHost } from './memory-host.ts';

test('small pictures are made before anybody asks for them, as soon as nobody asks for anything else', async () => {
  const files = Array.from({ length: 5 }, (_, index) => ({
    ...{ path: `pic-${index}.png`, bytes: drawPng(64, 48, index * 40), mediaType: 'image/png' },
  }));
  const { host, running } = await servedHost(files);
  const folder = join(host.folder, '.mediabatch/thumbs');
  const made = () => (existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.jpg')).length : 0);
  expect((await fetch(new URL('data.json', running.url))).status).toBe(200);
  expect(made()).toBe(0);
  await expect.poll(made).toBe(5);
});
