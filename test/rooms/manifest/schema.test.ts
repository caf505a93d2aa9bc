import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { expect, it } from 'vitest';
import { composeManifest } from '../../../schemas/compose-manifest.ts';
import type { Schema } from '../../../schemas/schema.ts';
import { kinds } from '../../../src/kinds/index.ts';

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../../schemas/${name}`, import.meta.url), 'utf8')) as Schema;

it('the published schema is made from the base and the kinds', () => {
  expect(read('manifest.schema.json'), 'run `npm run generate` and commit the schema').toEqual(
    composeManifest(read('manifest.base.json'), kinds),
  );
});

it('every property has a description', () => {
  const missing: string[] = [];
  const visit = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, item] of Object.entries(value)) {
      if (key === 'properties' && !/\/(if|then|allOf)\//.test(`${path}/`)) {
        for (const [name, property] of Object.entries(item as Record<string, Record<string, unknown>>)) {
          if (typeof property.description !== 'string') missing.push(`${path}/${name}`);
        }
      }
      visit(item, `${path}/${key}`);
    }
  };
  visit(read('manifest.schema.json'), '');
  expect(missing).toEqual([]);
});

it('nothing of our own notes is published', () => {
  expect(JSON.stringify(read('manifest.schema.json'))).not.toMatch(/"expected"|"tsType"/);
});

interface FieldSchema {
  description?: string;
  anyOf?: { enum?: string[]; enumDescriptions?: string[]; markdownEnumDescriptions?: string[] }[];
}

function fieldOf(definition: string, field: string): FieldSchema {
  const { definitions } = read('manifest.schema.json');
  const { properties } = (definitions as Record<string, { properties: Record<string, FieldSchema> }>)[definition] ?? {};
  return properties?.[field] ?? {};
}

it('whoever chooses a voice sees who it is: on hover, and beside each value', () => {
  const voiceId = fieldOf('voiceoverRequest', 'voice_id');
  const [voices] = voiceId.anyOf ?? [];
  expect(voiceId.description).toContain('River: neutral, american.');
  expect(voices?.enum).toHaveLength(20);
  expect(voices?.enumDescriptions?.[voices.enum?.indexOf('Charlotte') ?? -1]).toBe('female, swedish');
  expect(voices?.markdownEnumDescriptions).toEqual(voices?.enumDescriptions);
});

const accepts = new Ajv({ strict: false }).compile(read('manifest.schema.json'));
const manifest = (kind: string, fields: object, task: object = {}) => ({
  version: 1,
  name: 'x',
  'x-mine': [1],
  tasks: { a: { kind, with: fields, ...task } },
});

it.each<[string, object, boolean]>([
  ['a plain image', manifest('image', { prompt: 'x', resolution: '2k', aspectRatio: '1:1' }), true],
  [
    'templates anywhere',
    manifest('image', { prompt: '{{row.p}}', model: '{{row.m}}', referenceImages: '{{vars.r}}' }),
    true,
  ],
  [
    'a ratio of the model that is named',
    manifest('image', { prompt: 'x', model: 'alpha-pro', aspectRatio: '21:9' }),
    true,
  ],
  ['a ratio of another model', manifest('image', { prompt: 'x', model: 'alpha-pro', aspectRatio: '9:16' }), false],
  [
    'a template where the model limits',
    manifest('image', { prompt: 'x', model: 'alpha-pro', aspectRatio: '{{row.r}}' }),
    true,
  ],
  [
    'a field that the model does not take',
    manifest('image', { prompt: 'x', model: 'beta-v5-lite', resolution: '2k' }),
    false,
  ],
  ['a model that is none', manifest('image', { prompt: 'x', model: 'alpha-3' }), false],
  ['an axis from a var', manifest('image', { prompt: 'x' }, { matrix: { r: '{{ vars.r }}' } }), true],
  ['an axis that is one text', manifest('image', { prompt: 'x' }, { matrix: { r: '1:1' } }), false],
  ['a field of another kind', manifest('image', { prompt: 'x', lyrics: 'y' }), false],
  ['a song', manifest('music', { prompt: 'x', lyrics: 'y', output_format: 'wav' }), true],
  ['lyrics that are too long', manifest('music', { prompt: 'x', lyrics: 'y'.repeat(3001) }), false],
  ['a kind that is none', manifest('imag', {}), false],
  ['a video with fields that nobody knows', manifest('video', { prompt: 'x', fps: 24, style: { a: [1] } }), true],
  ['a length that is no number', manifest('video', { duration: 'long' }), false],
  ['a length from a row', manifest('video', { duration: '{{row.seconds}}' }), true],
  ['a voice', manifest('voiceover', { text: 'x', voice_id: 'Aria' }), true],
  ['a voice that is none', manifest('voiceover', { text: 'x', voice_id: 'Arya' }), false],
  ['a file to upload', manifest('upload', { file: 'assets/logo.png' }), true],
  ['an upload without a source, which defaults may give', manifest('upload', { fileName: 'x.png' }), true],
  ['a field that an upload does not take', manifest('upload', { path: 'x.png' }), false],
  ['a source without https', manifest('upload', { url: 'http://a.example/x.png' }), false],
  [
    'everything a task can have',
    manifest(
      'image',
      { prompt: 'x' },
      {
        foreach: 'p.csv',
        key: '{{row.k}}',
        matrix: { r: ['1:1', 2], include: [{ r: 3 }], exclude: [{ r: 2 }] },
        takes: 2,
        needs: ['a'],
        from: { a: { r: 2 } },
        save: 'x',
        when: '{{row.active}}',
        schema: 's.json',
        timeout: '90s',
        retry: { attempts: 2, credits: 10 },
        expect: {
          width: 1024,
          height: { min: 1 },
          ratio: '1:1',
          duration: { min: 1.5, max: 2 },
          bytes: 9,
          type: 'image',
        },
        tags: ['t'],
        description: 'd',
      },
    ),
    true,
  ],
  [
    'rows from the parts of a task',
    manifest('image', { prompt: 'x' }, { foreach: '{{tasks.b.clips}}', maxItems: 3, when: true }),
    true,
  ],
  [
    'sections of the whole campaign',
    { ...manifest('image', {}), include: ['a.yaml'], selectors: { a: 'b' }, prices: { 'image/alpha-2': 3 } },
    true,
  ],
  ['tasks from elsewhere', { version: 1, name: 'x', include: ['a.yaml'] }, true],
  ['no tasks', { version: 1, name: 'x' }, false],
  ['attempts without a map', manifest('image', {}, { retry: 2 }), false],
  ['a time without a unit', manifest('image', {}, { timeout: 90 }), false],
  ['no time at all', manifest('image', {}, { timeout: '0.0s' }), false],
  ['an expectation of nothing', manifest('image', {}, { expect: { width: {} } }), false],
  ['a key that is none', manifest('image', { prompt: 'x' }, { colour: 'x' }), false],
  ['canaries', manifest('image', { prompt: 'x' }, { canary: 20 }), true],
  ['canaries that ask', manifest('image', { prompt: 'x' }, { canary: JSON.parse('{"first":2,"then":"ask"}') }), true],
  ['half a canary', manifest('image', { prompt: 'x' }, { canary: 1.5 }), false],
  ['too many canaries', manifest('image', { prompt: 'x' }, { canary: { first: 21 } }), false],
  [
    'the address of the service',
    { ...manifest('image', { prompt: 'x' }), service: { url: 'https://example.com' } },
    false,
  ],
])('editors see the same: %s', (_, value, right) => {
  expect(accepts(value)).toBe(right);
});
