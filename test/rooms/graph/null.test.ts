import { describe, expect, it } from 'vitest';
import { unknownValue } from '../../../src/ground/values.ts';
import { load, tasks } from '../manifest/load.ts';
import { testMistakes } from '../manifest/mistakes.ts';

const withVars = (vars: string, ...lines: string[]) => `vars: { ${vars} }\n${tasks(...lines)}`;

describe('null in a template', () => {
  testMistakes([
    [
      'printed into a text, from vars and loops',
      withVars(
        'n: null, e: , l: [~]',
        '  a: { kind: image, with: { prompt: "a {{vars.n}}" } }',
        '  b: { kind: image, with: { prompt: "a {{vars.e}}" } }',
        '  c: { kind: image, with: { prompt: "{{#each vars.l}}{{this}}{{/each}}" } }',
      ),
      'MB1204 5:42, MB1204 6:42, MB1204 7:56',
      '`vars.n` is null and cannot be printed',
      '`vars.e` is null',
      '`this` is null',
    ],
    [
      'given to a helper',
      withVars(
        'n: null, l: [a, null]',
        '  a: { kind: image, with: { prompt: "{{upper vars.n}} {{join vars.l}} {{pad vars.n 2}}" } }',
      ),
      'MB1204 5:38, MB1204 5:55, MB1204 5:71',
      'got null',
      'found null in it',
    ],
    [
      'alone, where a text or a number must stand',
      withVars(
        'n: null, m: "{{vars.n}}", l: [a, null]',
        '  a: { kind: image, with: { prompt: "{{vars.n}}" } }',
        '  b: { kind: image, with: { prompt: x }, save: "{{vars.m}}" }',
        '  d: { kind: image, with: { prompt: x }, key: "{{vars.n}}" }',
        '  e: { kind: image, with: { prompt: x }, matrix: { r: "{{vars.l}}" } }',
      ),
      'MB1503 5:37, MB1602 6:48, MB1401 7:47, MB1103 8:55',
      '`prompt` is null',
      'the key of task `d` is null',
      'a list with null in it',
    ],
  ]);

  it('is sent as null where nobody documents that it cannot be, and never as something else', () => {
    const text = withVars(
      'n: null',
      '  a: { kind: influencer, with: { prompt: x, seed: "{{vars.n}}", more: ["{{vars.n}}", { b: "{{vars.n}}" }] } }',
    );
    const [step] = load(text).graph?.steps ?? [];
    expect(step?.request).toEqual({ prompt: 'x', seed: null, more: [null, { b: null }] });
    expect(JSON.stringify(step?.request)).not.toContain(JSON.stringify(unknownValue));
  });
});
