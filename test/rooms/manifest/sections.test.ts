import { describe, expect, it } from 'vitest';
import { image, parse } from './load.ts';
import { testShapeMistakes } from './mistakes.ts';

/** A manifest with one further section in its first line. */
const section = (line: string) => `${line}\n${image('prompt: x')}`;

it('selectors and prices are read as they are written', () => {
  const text = [
    'selectors: { launch: "tag:launch kind:video", a-1_b: hero }',
    'prices:',
    '  video: 30',
    '  image: 0',
    '  image/alpha-pro: 6',
    '  image/alpha-2/resolution=4k: 8',
    '  image/resolution=1k: 2',
    '  music/song-9: 5',
    '  video/some-model/duration=8/prompt~256: 40',
    image('prompt: x'),
  ].join('\n');
  const { manifest, diagnostics } = parse(text);
  expect(diagnostics).toEqual([]);
  expect({ ...manifest?.selectors }).toEqual({ launch: 'tag:launch kind:video', 'a-1_b': 'hero' });
  expect({ ...manifest?.prices }).toEqual({
    video: 30,
    image: 0,
    'image/alpha-pro': 6,
    'image/alpha-2/resolution=4k': 8,
    'image/resolution=1k': 2,
    'music/song-9': 5,
    'video/some-model/duration=8/prompt~256': 40,
  });
});

it('without these sections there are none', () => {
  const { manifest } = parse(image('prompt: x'));
  expect(Object.keys(manifest?.selectors ?? { missing: true })).toEqual([]);
  expect(Object.keys(manifest?.prices ?? { missing: true })).toEqual([]);
});

describe('selectors', () => {
  testShapeMistakes([
    { name: 'a list', text: section('selectors: [a]'), found: ['MB1103 1:1'], says: ['tag:launch kind:video'] },
    {
      name: 'an upper-case name',
      text: section('selectors: { Launch: hero }'),
      found: ['MB1103 1:14'],
      says: ['cannot be the name of a selector', 'lower-case'],
    },
    { name: 'a name with a dot', text: section('selectors: { a.b: hero }'), found: ['MB1103 1:14'] },
    { name: 'a name that is a number', text: section('selectors: { 1a: hero }'), found: ['MB1103 1:14'] },
    {
      name: 'a list as selection',
      text: section('selectors: { a: [hero] }'),
      found: ['MB1103 1:14'],
      says: ['a selection, as in "hero tag:launch"'],
    },
    { name: 'an empty selection', text: section('selectors: { a: " " }'), found: ['MB1103 1:17'] },
    {
      name: 'a template',
      text: section('selectors: { a: "{{vars.x}}" }'),
      found: ['MB1202 1:17'],
      says: ['a selector cannot be a template'],
    },
    { name: 'a template without quotes', text: section('selectors: { a: {{vars.x}} }'), found: ['MB1008 1:17'] },
    {
      name: 'a typing mistake',
      text: section('selector: { a: hero }'),
      found: ['MB1101 1:1'],
      says: ['did you mean `selectors`'],
    },
  ]);
});

describe('prices', () => {
  testShapeMistakes([
    { name: 'one number', text: section('prices: 5'), found: ['MB1103 1:9'], says: ['prices: { video: 30'] },
    {
      name: 'a kind with a typing mistake',
      text: section('prices: { vidoe: 5 }'),
      found: ['MB1101 1:11'],
      says: ['did you mean `video`'],
    },
    { name: 'a kind that every object has', text: section('prices: { constructor: 5 }'), found: ['MB1101 1:11'] },
    {
      name: 'the name of a task',
      text: section('prices: { hero: 5 }'),
      found: ['MB1101 1:11'],
      says: ['kinds: image'],
    },
    {
      name: 'a model with a typing mistake',
      text: section('prices: { image/aplha-2: 5 }'),
      found: ['MB1101 1:11'],
      says: ['did you mean `image/alpha-2`'],
    },
    {
      name: 'a field that does not matter',
      text: section('prices: { image/aspectRatio=1:1: 5 }'),
      found: ['MB1101 1:11'],
      says: ['does not depend on it', 'resolution'],
    },
    {
      name: 'a field where only the model matters',
      text: section('prices: { music/output_format=wav: 5 }'),
      found: ['MB1101 1:11'],
      says: ['write music, or music/ and a model'],
    },
    {
      name: 'two models',
      text: section('prices: { image/alpha-2/alpha-pro: 5 }'),
      found: ['MB1103 1:11'],
      says: ['image/alpha-2/resolution=4k'],
    },
    { name: 'a field without a value', text: section('prices: { image/resolution=: 5 }'), found: ['MB1103 1:11'] },
    { name: 'an empty part', text: section('prices: { image//resolution=4k: 5 }'), found: ['MB1103 1:11'] },
    {
      name: 'a kind that takes no credits',
      text: section('prices: { upload: 5 }'),
      found: ['MB1103 1:11'],
      says: ['takes no credits'],
    },
    {
      name: 'half a credit',
      text: section('prices: { video: 2.5 }'),
      found: ['MB1103 1:18'],
      says: ['a whole number'],
    },
    { name: 'a credit less than none', text: section('prices: { video: -1 }'), found: ['MB1103 1:18'] },
    { name: 'credits in words', text: section('prices: { video: 5 credits }'), found: ['MB1103 1:18'] },
    {
      name: 'a typing mistake',
      text: section('price: { video: 5 }'),
      found: ['MB1101 1:1'],
      says: ['did you mean `prices`'],
    },
  ]);
});
