import { describe, expect, test } from 'vitest';
import { load, steps } from '../manifest/load.ts';

const talk = (more = '') => `version: 1
name: t
tasks:
  talk: { kind: clipping, ${more} with: { videoUrl: "https://a.example/v.mp4" } }
`;
const shorts = `  short:
    kind: video
    foreach: "{{tasks.talk.clips}}"
    maxItems: 3
    with: { prompt: "part {{row.number}}", image: "{{row.url}}" }
`;

describe('going through the parts of an output', () => {
  test('makes a step for each part that there may be', () => {
    const made = steps(`${talk()}${shorts}`);
    expect(made.map(({ address }) => address)).toEqual(['talk', 'short@1', 'short@2', 'short@3']);
    const second = made[2];
    expect(second?.request).toEqual({ prompt: 'part 2', image: { $ref: 'talk', field: 'clips.1.url' } });
    expect(second?.part).toEqual({ of: 'talk', fingerprint: made[0]?.fingerprint, index: 1 });
    expect(second?.needs).toEqual(['talk']);
    expect(new Set(made.map(({ fingerprint }) => fingerprint)).size).toBe(4);
  });

  test('`from` narrows which ones, a key of one’s own names them', () => {
    const made = steps(
      `${talk('foreach: [A, B],')}${shorts.replace('maxItems', 'from: { talk: { key: B } }\n    key: "{{row.key}}.{{row.number}}"\n    maxItems')}`,
    );
    expect(made.filter(({ task }) => task === 'short').map(({ address }) => address)).toEqual([
      'short@B.1',
      'short@B.2',
      'short@B.3',
    ]);
  });

  test('a link inside a string is filled in later', () => {
    const made = steps(`${talk()}${shorts.replace('{{row.number}}"', '{{row.number}} of {{row.url}}"')}`);
    expect(made[1]?.request.prompt).toEqual({
      $text: ['part 1 of ', { $ref: 'talk', field: 'clips.0.url' }],
    });
  });

  test.each([
    ['tasks.talk.clips', 'tasks.tlak.clips', 'MB1403', 'did you mean'],
    ['tasks.talk.clips', 'tasks.talk.parts', 'MB1203', '{{tasks.talk.clips}}'],
    ['kind: clipping, ', 'kind: image, ', 'MB1203', 'clipping (clips)'],
    ['"{{row.url}}"', '"{{slug row.url}}"', 'MB1202', '{{row.url}}'],
    ['"{{row.url}}"', "'{{json row}}'", 'MB1202', '{{row}}'],
    ['"{{row.url}}"', '\'{{default row.url "x"}}\'', 'MB1202', '{{row.url}}'],
    ['"{{row.url}}"', '\'{{eq row.url "x"}}\'', 'MB1202', '{{row.url}}'],
    ['"{{row.url}}"', '"{{#if row.url}}x{{/if}}"', 'MB1202', '{{row.url}}'],
    ['"{{row.url}}"', '"{{#each row.url}}{{this}}{{/each}}"', 'MB1202', '{{row.url}}'],
    ['{{row.number}}', '{{row.nubmer}}', 'MB1203', 'row.number'],
    ['{{row.number}}', '{{tasks.talk.clips}}', 'MB1202', 'foreach'],
  ])('%s → %s is %s', (from, to, code, hint) => {
    const { diagnostics } = load(`${talk()}${shorts}`.replace(from, to));
    const found = diagnostics.find((one) => one.code === code);
    expect(found, JSON.stringify(diagnostics, null, 1)).toBeDefined();
    expect(found?.hint).toContain(hint);
  });

  test.each([
    ['{ key: C }', 'MB1405', 'none has key C', 'talk@A  talk@B'],
    ['{ kye: A }', 'MB1405', 'have no `kye`', 'did you mean `key`'],
    ['{ key: "{{row.number}}" }', 'MB1202', 'cannot use values of the rows', 'vars'],
    ['{ key: "{{vars.nobody}}" }', 'MB1203', 'vars.nobody', ''],
  ])('`from: %s` is reported once, and never drops the task silently', (picks, code, said, hint) => {
    const from = `from: { talk: ${picks} }\n    maxItems`;
    const { graph, diagnostics } = load(`${talk('foreach: [A, B],')}${shorts.replace('maxItems', from)}`);
    expect(graph).toBeUndefined();
    expect(diagnostics.map((one) => one.code)).toEqual([code]);
    expect(diagnostics[0]?.message).toContain(said);
    expect(diagnostics[0]?.hint ?? '').toContain(hint);
  });
});
