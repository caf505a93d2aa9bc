import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { keepAnswer, readAnswer } from '../../../src/disk/state/kept-document.ts';
import { writeSealedFile } from '../../../src/disk/state/sealed-file.ts';
import type { Json } from '../../../src/ground/json.ts';

const service = 'sha256:0123abcd';
const document: Json = { openapi: '3.1.0', paths: { '/videos/create': { post: {} } } };

function makeState(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mediabatch-kept-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return join(folder, '.mediabatch');
}

const keptFile = (state: string) => join(state, 'service', readdirSync(join(state, 'service'))[0] ?? '');

it('what was kept is read, each service by itself', async () => {
  const state = makeState();
  expect(await readAnswer(state, service, 'document')).toBeUndefined();
  await keepAnswer(state, service, 'document', document);
  expect(await readAnswer(state, service, 'document')).toEqual(document);
  expect(await readAnswer(state, 'sha256:other', 'document')).toBeUndefined();
  await keepAnswer(state, service, 'document', { paths: {} });
  expect(await readAnswer(state, service, 'document')).toEqual({ paths: {} });
  expect(readdirSync(join(state, 'service'))).toHaveLength(1);
});

const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
it.each<[string, (text: string) => string]>([
  ['empty', () => ''],
  ['cut', (text) => text.slice(0, -9)],
  ['another document', (text) => text.replace('/videos/create', '/videos')],
  ['a list', () => '[]'],
  ['nothing', () => 'null'],
  ['nested without end', () => `{"sha256":"x","document":${deep}}`],
  ['too large', (text) => text + ' '.repeat(8 * 1024 * 1024)],
])('a damaged one is none: %s', async (_name, damage) => {
  const state = makeState();
  await keepAnswer(state, service, 'document', document);
  const path = keptFile(state);
  writeFileSync(path, damage(readFileSync(path, 'utf8')));
  expect(await readAnswer(state, service, 'document')).toBeUndefined();
  await keepAnswer(state, service, 'document', document);
  expect(await readAnswer(state, service, 'document')).toEqual(document);
});

it.each([
  ['without a document', '{}'],
  ['a list', '[]'],
  ['nothing', 'null'],
  ['nested without end', `{"document":${deep}`],
])('one that was kept here by another version is none: %s', async (_name, text) => {
  const state = makeState();
  await keepAnswer(state, service, 'document', document);
  await writeSealedFile(state, relative(state, keptFile(state)), text);
  expect(await readAnswer(state, service, 'document')).toBeUndefined();
});

it.each<[string, Json]>([
  ['is too large', 'x'.repeat(8 * 1024 * 1024)],
  ['is nested without end', JSON.parse(deep) as Json],
])('a document that %s is not kept', async (_name, hostile) => {
  const state = makeState();
  await keepAnswer(state, service, 'document', document);
  await keepAnswer(state, service, 'document', hostile);
  expect(await readAnswer(state, service, 'document')).toEqual(document);
});

it.each<[string, (state: string, elsewhere: string) => void]>([
  ['the state folder', (state, elsewhere) => symlinkSync(elsewhere, state)],
  [
    'the folder in it',
    (state, elsewhere) => {
      mkdirSync(state);
      symlinkSync(elsewhere, join(state, 'service'));
    },
  ],
  ['a file', (state) => writeFileSync(state, 'x')],
])('nothing is written or read through a link: %s', async (_name, prepare) => {
  const state = makeState();
  const elsewhere = join(state, '..', 'elsewhere');
  mkdirSync(elsewhere);
  prepare(state, elsewhere);
  await keepAnswer(state, service, 'document', document);
  expect(readdirSync(elsewhere)).toEqual([]);
  expect(await readAnswer(state, service, 'document')).toBeUndefined();
});

it('a link in place of the file is not followed', async () => {
  const state = makeState();
  await keepAnswer(state, service, 'document', document);
  const path = keptFile(state);
  const other = join(state, 'other.json');
  writeFileSync(other, readFileSync(path));
  rmSync(path);
  symlinkSync(other, path);
  expect(await readAnswer(state, service, 'document')).toBeUndefined();
});
