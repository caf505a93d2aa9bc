import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from '../../src/ground/json.ts';
import { isMap } from '../../src/ground/values.ts';
import { type LockReading, readLock } from '../../src/lock/read.ts';
import { writeLock } from '../../src/lock/write.ts';
import { root } from '../rig/command.ts';

const home = join(root, 'test/released');

/** A folder for each version that was released. */
export const releasedVersions = readdirSync(home, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

export const pathInSet = (version: string, name = '') => join(home, version, name);
export const readInSet = (version: string, name: string) => readFileSync(pathInSet(version, name), 'utf8');

/** Locks of a set: each stands beside what the release itself read in it. */
export const locksOf = (version: string) =>
  readdirSync(pathInSet(version))
    .filter((name) => name.endsWith('.lock.jsonl'))
    .map((name) => name.replace('.lock.jsonl', ''));

export type LockReader = (text: string) => LockReading;
export const readWhole: LockReader = (text) => readLock('campaign.lock.jsonl', Buffer.from(text));

type Line = { [name: string]: Json };
const linesOf = (text: string) => text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Line]));
const subjectOf = (line: Line) => (typeof line.address === 'string' ? line.address : 'header');

/** What a reader lost of a lock, or does not know any more; empty is good. It may know more than the release did. */
export function findForgotten(lock: { text: string; expected: string }, read: LockReader = readWhole): string[] {
  const { lock: found, diagnostics } = read(lock.text);
  const errors = diagnostics.filter(({ severity }) => severity === 'error').map(({ message }) => message);
  const now = new Map(linesOf(writeLock(found)).map((line) => [subjectOf(line), line]));
  const lost = linesOf(lock.expected).flatMap((line) =>
    findMissing(line, now.get(subjectOf(line)) ?? null, subjectOf(line)),
  );
  return [...errors, ...lost, ...findUnknown(found)];
}

/** Fields that are kept word for word because nobody knows what they mean: they no longer count. */
function findUnknown(value: unknown, at = 'lock'): string[] {
  if (value instanceof Map) return [...value].flatMap(([name, item]) => findUnknown(item, `${at} ${name}`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) =>
    name === 'unknownFields' && item !== undefined
      ? [`${at}: ${Object.keys(item as object).join(', ')} is not known any more`]
      : findUnknown(item, `${at}.${name}`),
  );
}

/** Fields, and with `values` also values, that were there and are no more. */
export function findMissing(before: Json, now: Json, at: string, compare: 'values' | 'fields' = 'values'): string[] {
  if (Array.isArray(before) && Array.isArray(now)) {
    return before.flatMap((item, index) => findMissing(item, now[index] ?? null, `${at}[${index}]`, compare));
  }
  if (isMap(before) && isMap(now)) {
    return Object.entries(before).flatMap(([name, item]) =>
      name in now ? findMissing(item as Json, now[name] as Json, `${at}.${name}`, compare) : [`${at}.${name} is gone`],
    );
  }
  const isSame = compare === 'fields' ? kindOf(before) === kindOf(now) : before === now;
  return isSame ? [] : [`${at} was ${JSON.stringify(before)} and is ${JSON.stringify(now)}`];
}

const kindOf = (value: Json) => (Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value);
