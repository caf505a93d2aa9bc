import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lookAtOutput } from '../../../src/disk/outputs/look-at-output.ts';
import { makeFolder } from './folder.ts';
import { jpeg, png } from './media.ts';
import { recorded, sha256 } from './targets.ts';

function folder(): string {
  const root = makeFolder();
  mkdirSync(join(root, 'folder.png'));
  writeFileSync(join(root, 'same.png'), png);
  writeFileSync(join(root, 'edited.png'), jpeg);
  writeFileSync(join(root, 'longer.png'), Buffer.concat([png, Buffer.from('x')]));
  writeFileSync(join(root, 'text.png'), 'no picture');
  writeFileSync(join(root, 'empty.png'), '');
  symlinkSync('same.png', join(root, 'link.png'));
  return root;
}

const edited = (path: string, bytes: Uint8Array, type: string) => ({
  is: 'edited',
  output: { path, sha256: sha256(bytes), bytes: bytes.length, type, edited: true },
});

test.each([
  ['same.png', { is: 'intact' }],
  ['none.png', { is: 'missing' }],
  ['same.png/below.png', { is: 'missing' }],
  ['edited.png', edited('edited.png', jpeg, 'image/jpeg')],
  ['longer.png', edited('longer.png', Buffer.concat([png, Buffer.from('x')]), 'image/png')],
  ['text.png', { is: 'unusable', why: 'is not a known image, sound or video' }],
  ['empty.png', { is: 'unusable', why: 'is not a known image, sound or video' }],
  ['folder.png', { is: 'unusable', why: 'is not a plain file' }],
  ['link.png', { is: 'unusable', why: 'is not a plain file' }],
  ['../out.png', { is: 'unusable', why: 'is not a plain path' }],
])('%s', async (path, seen) => {
  expect(await lookAtOutput(folder(), recorded(path, png))).toEqual(seen);
});
