import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { kinds } from '../../../src/kinds/index.ts';
import { command, temporaryFolder } from '../../rig/command.ts';
import { type Editor, openEditor } from './editor.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

let editor: Editor;
beforeAll(async () => {
  editor = await openEditor(pathToFileURL(join(root, 'schemas/manifest.schema.json')).href);
});
afterAll(() => editor?.close());

/** A campaign with one task of this kind; `|` is the cursor. */
function taskOf(kind: string, ...lines: string[]): string {
  const fields = lines.map((line) => `      ${line}\n`).join('');
  return `version: 1\nname: x\ntasks:\n  a:\n    kind: ${kind}\n    with:\n${fields}`;
}
const inTask = (line: string) => `version: 1\nname: x\ntasks:\n  a:\n    kind: image\n    ${line}\n`;

describe('what is offered', () => {
  test('every kind', async () => {
    const offered = await editor.complete('version: 1\nname: x\ntasks:\n  a:\n    kind: |');
    expect(offered.sort()).toEqual(Object.keys(kinds).sort());
  });

  test.each(Object.keys(kinds))('every key in the with of the kind %s, and none of another kind', async (kind) => {
    expect((await editor.complete(taskOf(kind, '|'))).sort()).toEqual(Object.keys(kinds[kind]?.fields ?? {}).sort());
  });

  test('what is not written yet', async () => {
    const offered = await editor.complete(taskOf('image', 'prompt: x', '|'));
    expect(offered).toContain('aspectRatio');
    expect(offered).not.toContain('prompt');
  });

  test.each(['image', 'music'])('every model of the kind %s', async (kind) => {
    const offered = await editor.complete(taskOf(kind, 'model: |'));
    expect(offered.sort()).toEqual(Object.keys(kinds[kind]?.model?.models ?? {}).sort());
  });

  test('the keys of a task, of the defaults of a kind, and of a campaign', async () => {
    expect(await editor.complete(inTask('|'))).toEqual(expect.arrayContaining(['foreach', 'matrix', 'save', 'takes']));
    expect(await editor.complete('version: 1\nname: x\ndefaults:\n  music:\n    |')).toContain('output_format');
    expect(await editor.complete('|')).toEqual(expect.arrayContaining(['version', 'name', 'budget', 'tasks']));
  });
});

describe('what is explained', () => {
  test.each<[string, string, RegExp]>([
    ['a field', taskOf('image', 'aspect|Ratio: "1:1"'), /Width to height.*depends on the model/],
    ['a model, with its credits', taskOf('music', 'model: song|-o2'), /song-o2.* 6 credits/],
    ['a voice, with gender and accent', taskOf('voiceover', 'voice_id: Dan|iel'), /Daniel`?: male, british/],
    ['a field by its name', taskOf('voiceover', 'voice|_id: Daniel'), /Charlotte`?: female, swedish/],
    ['a kind', 'version: 1\nname: x\ntasks:\n  a:\n    kind: im|age\n', /Kind of the request/],
    ['a key of a task', inTask('mat|rix: { r: ["1:1"] }'), /one step for each combination/],
    ['the budget', 'version: 1\nname: x\nbud|get: { credits: 10 }\n', /limit on spending/],
  ])('%s', async (_what, text, words) => {
    expect(await editor.hover(text)).toMatch(words);
  });
});

describe('what is underlined', () => {
  test.each<[string, string, number, RegExp]>([
    [
      'a ratio that the model does not have',
      taskOf('image', 'prompt: x', 'model: alpha-pro', 'aspectRatio: "9:16"'),
      9,
      /^Value is not accepted\. Valid values: .*"21:9"\.$/,
    ],
    ['a model that is none', taskOf('image', 'model: alpha-3'), 7, /Valid values: "alpha-2", "alpha-pro"/],
    [
      'a field that the kind does not have',
      taskOf('image', 'prompt: x', 'promt: y'),
      8,
      /^Property promt is not allowed\.$/,
    ],
    ['a key that a task does not have', inTask('withs: {}'), 6, /^Property withs is not allowed\.$/],
    ['a kind that is none', taskOf('imag', 'prompt: x'), 5, /Valid values: "image", "music"/],
    ['lyrics that are too long', taskOf('music', `lyrics: ${'la '.repeat(1001)}`), 7, /3000/],
    ['an axis that is one text', inTask('matrix: { ratio: "1:1" }'), 6, /array|pattern/],
  ])('%s, in one sentence at its place', async (_what, text, line, words) => {
    const problems = await editor.problems(text);
    expect(problems).toEqual([{ line, message: expect.stringMatching(words) }]);
  });

  test('never a template', async () => {
    const text = taskOf('image', 'prompt: "{{row.p}}"', 'model: "{{row.m}}"', 'aspectRatio: "{{matrix.r}}"');
    expect(await editor.problems(text)).toEqual([]);
  });

  test('nothing in the examples', async () => {
    const names = readdirSync(join(root, 'examples'), { recursive: true, encoding: 'utf8' });
    const examples = names.filter((name) => /(^|[\\/])campaign\.yaml$/.test(name) && !name.includes('.sandbox'));
    expect(examples).toContain(join('quickstart', 'campaign.yaml'));
    for (const example of examples) {
      expect(await editor.problemsIn(join(root, 'examples', example)), example).toEqual([]);
    }
  });
});

test('the schema that init writes is found by the first line of a manifest', async () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  expect((await command(['init', 'new'], { cwd: folder.path })).code).toBe(0);
  const path = join(folder.path, 'new/campaign.yaml');
  expect(await editor.problemsIn(path)).toEqual([]);
  const wrong = join(folder.path, 'new/wrong.yaml');
  writeFileSync(wrong, readFileSync(path, 'utf8').replace('prompt:', 'promt:'));
  expect(await editor.problemsIn(wrong)).toEqual([
    { line: expect.any(Number), message: expect.stringContaining('promt') },
  ]);
});

test('nothing was asked of the network; what would have been asked would have been seen', async () => {
  expect(editor.networkCalls()).toBe(0);
  const online = await openEditor('http://127.0.0.1:9/manifest.schema.json');
  await online.hover('na|me: x\n');
  expect(online.networkCalls()).toBeGreaterThan(0);
  await online.close();
});
