import { expect, it } from 'vitest';
import type { Task } from '../../../src/manifest/manifest.ts';
import { parse, oneTaskOf as task } from './load.ts';

it.each<[string, Partial<Task>]>([
  ['when: true', { when: true }],
  ['when: false', { when: false }],
  ['when: "true"', { when: 'true' }],
  ['when: "{{row.active}}"', { when: '{{row.active}}' }],
  ['when: "{{eq row.market \\"de\\"}}"', { when: '{{eq row.market "de"}}' }],
  ['timeout: 90s', { timeoutMs: 90_000 }],
  ['pin: true', { pin: true }],
  ['timeout: 30m', { timeoutMs: 1_800_000 }],
  ['timeout: 1.5h', { timeoutMs: 5_400_000 }],
  ['retry: { attempts: 2 }', { retry: { attempts: 2 } }],
  ['retry: { attempts: 5, credits: 0 }', { retry: { attempts: 5, credits: 0 } }],
  ['expect: { width: 1024 }', { expect: { width: { min: 1024, max: 1024 } } }],
  ['expect: { height: { min: 5 }, bytes: { max: 9 } }', { expect: { height: { min: 5 }, bytes: { max: 9 } } }],
  ['expect: { ratio: 16:9, type: image/png }', { expect: { ratio: '16:9', type: 'image/png' } }],
  ['foreach: p.csv', { rows: { from: 'file', path: 'p.csv' } }],
  ['foreach: p.csv, schema: p.schema.json', { schema: 'p.schema.json' }],
  ['foreach: "photos/*.jpg"', { rows: { from: 'files', pattern: 'photos/*.jpg' } }],
  ['foreach: "photos/a?.jpg"', { rows: { from: 'files', pattern: 'photos/a?.jpg' } }],
  ['foreach: "photos/[ab].jpg"', { rows: { from: 'files', pattern: 'photos/[ab].jpg' } }],
  ['foreach: "photos/{a,b}.jpg"', { rows: { from: 'files', pattern: 'photos/{a,b}.jpg' } }],
  ['foreach: "{{vars.list}}"', { rows: { from: 'var', text: '{{vars.list}}' } }],
])('%s', (keys, wanted) => {
  const { manifest, diagnostics } = parse(task(keys));
  expect(diagnostics).toEqual([]);
  expect(manifest?.tasks[0]).toMatchObject({ folder: '', ...wanted });
  const known = Object.entries(manifest?.tasks[0] ?? {}).filter(([, value]) => value !== undefined);
  expect(known.map(([name]) => name).sort()).toEqual(
    [...new Set(['folder', 'from', 'id', 'kind', 'needs', 'rows', 'tags', 'with', ...Object.keys(wanted)])].sort(),
  );
});

it('a length is met half a second earlier or later, unless a range is written', () => {
  const read = (duration: string) =>
    parse(task(`expect: { duration: ${duration} }`, 'video')).manifest?.tasks[0]?.expect?.durationSeconds;
  expect(read('8')).toEqual({ min: 7.5, max: 8.5 });
  expect(read('0.2')).toEqual({ min: 0, max: 0.7 });
  expect(read('{ min: 7.9, max: 8.1 }')).toEqual({ min: 7.9, max: 8.1 });
});

it('a mistake leaves out the value that has it, and nothing else', () => {
  const { manifest } = parse(
    task('when: yes, timeout: 90, retry: 2, pin: yes, expect: { width: x, ratio: "1:1" }, takes: 2'),
  );
  const wrong = { when: undefined, timeoutMs: undefined, retry: undefined, pin: undefined };
  expect(manifest?.tasks[0]).toMatchObject({ takes: 2, expect: { ratio: '1:1' }, ...wrong });
  expect(manifest?.sound).toBe(false);
});
