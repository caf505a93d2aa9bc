import { expect, it } from 'vitest';
import { load, steps, summarize } from './load.ts';

/** The prompt that a template gives, or the mistake. */
function render(template: string): unknown {
  const text = `version: 1
name: test
vars:
  lamp: Aurora Lämp
  n: 7
  yes: true
  no: false
  list: [red, "blue & green", 3]
  empty: []
  map: { a: 1, b: { c: deep } }
  people: [{ name: Ann, age: 3 }, { name: Bob }]
  nothing: null
tasks:
  t:
    kind: image
    foreach: [{ id: A1, name: "O'Neil <b>", toString: own, "two words": 2 }]
    key: "{{row.id}}"
    matrix: { ratio: ["1:1"] }
    takes: 2
    with: { prompt: ${JSON.stringify(template)} }
`;
  const { graph, diagnostics } = load(text);
  return graph?.steps[1]?.request.prompt ?? diagnostics.map((one) => `${summarize(one).slice(0, 6)} ${one.message}`)[0];
}

it.each([
  ['plain', 'plain'],
  ['{{row.name}} & "x"', 'O\'Neil <b> & "x"'],
  ['{{vars.lamp}}/{{matrix.ratio}}/{{key}}/{{take}}', 'Aurora Lämp/1:1/A1/2'],
  ['a{{! not this }}b{{!-- nor }} this --}}c', 'abc'],
  ['\\{{row.name}}', '{{row.name}}'],
  ['a {{~ vars.n ~}} b', 'a7b'],
  ['{{row.toString}} x', 'own x'],
  ['{{row.[two words]}} x', '2 x'],
  ['{{vars.list.[1]}} x', 'blue & green x'],
  ['{{vars.map.b.c}} x', 'deep x'],
  ['{{slug vars.lamp}}', 'aurora-lamp'],
  ['{{slug "Straße 9:16 – 東京"}}', 'strasse-9-16-東京'],
  ['{{slug "???"}}', '3f-3f-3f'],
  ['{{upper vars.lamp}}', 'AURORA LÄMP'],
  ['{{lower vars.lamp}}', 'aurora lämp'],
  ['{{title "the oak-table of émile"}}', 'The Oak-Table Of Émile'],
  ['{{join vars.list}}', 'red, blue & green, 3'],
  ['{{join vars.list " + "}}', 'red + blue & green + 3'],
  ['{{default vars.nothing "none"}}', 'none'],
  ['{{default vars.lamp "none"}}', 'Aurora Lämp'],
  ['{{json vars.map}}', '{"a":1,"b":{"c":"deep"}}'],
  ['{{truncate "🎈🎈🎈" 2}}', '🎈🎈'],
  ['{{pad vars.n 3}}{{pad vars.n 2 " "}}', '007 7'],
  ['{{replace row.name "<b>" "!"}}', "O'Neil !"],
  ['{{#if (eq vars.n "7")}}a{{else}}b{{/if}}', 'a'],
  ['{{#if (and vars.yes (not vars.no) (or vars.no vars.n) (ne key "x"))}}a{{/if}}', 'a'],
  ['{{#if vars.empty}}a{{else if vars.nothing}}b{{else}}c{{/if}}', 'c'],
  ['{{#unless vars.no}}a{{/unless}}', 'a'],
  ['{{#each vars.list}}{{@index}}{{this}}{{#unless @last}}, {{/unless}}{{/each}}', '0red, 1blue & green, 23'],
  ['{{#each vars.map}}{{@key}} {{/each}}', 'a b '],
  ['{{#each vars.empty}}a{{else}}none{{/each}}', 'none'],
  [
    '{{#each vars.people}}{{this.name}}{{#if this.age}} {{this.age}}{{/if}} {{vars.n}}{{../vars.n}};{{/each}}',
    'Ann 3 77;Bob 77;',
  ],
  ['{{#each vars.people}}{{#each this}}{{../name}}:{{this}} {{/each}}{{/each}}', 'Ann:Ann Ann:3 Bob:Bob '],
  ['{{#each vars.people}}{{this.age}}{{/each}}', 'MB1203 `this.age` has no value here'],
  ['{{#each vars.people}}{{name}}{{/each}}', 'MB1203 `name` is not known'],
  ['x {{vars.map}}', 'MB1204 `vars.map` is a map and cannot be printed into a text'],
  ['x {{row}}', 'MB1204 `row` is a map and cannot be printed into a text'],
  ['{{upper vars.list}}', 'MB1204 `upper` needs a text, and got a list'],
  ['{{#each vars.n}}x{{/each}}', 'MB1204 `vars.n` is not a list'],
  ['{{vars.list.length}} x', 'MB1203 `vars.list.length` is not known: there is no `length` in it'],
  ['{{slug vars.lamp sep="_"}}', 'MB1202 `{{slug vars.lamp sep="_"}}` has a named argument'],
  ['{{#each vars.list as |x|}}{{x}}{{/each}}', 'MB1202 names with `as |…|` cannot be used'],
  ['{{"x"}}', 'MB1202 `{{"x"}}` prints a fixed value'],
  ['{{@root.vars.n}}', 'MB1202 `@root.vars.n` is not known'],
  ['{{{{raw}}}}x{{{{/raw}}}}', 'MB1202 raw blocks {{{{…}}}} cannot be used'],
  ['{{^if vars.n}}x{{/if}}', 'MB1202 `{{^if vars.n}}` cannot be used'],
])('%s', (template, expected) => {
  expect(render(template)).toEqual(expected);
});

it('a text that is exactly one path keeps the type of the value', () => {
  const text = (value: string) => `version: 1
name: test
vars: { refs: ["https://example.com/a.png"], n: 7 }
tasks:
  t: { kind: image, with: { prompt: x, referenceImages: ${value} } }
`;
  expect(steps(text('"{{vars.refs}}"'))[0]?.request.referenceImages).toEqual(['https://example.com/a.png']);
  expect(load(text('"{{vars.refs}} "')).found).toEqual(['MB1204 campaign.yaml:5:60']);
  expect(load(text('"{{vars.n}}"')).diagnostics[0]?.message).toContain('the number 7');
});

it('an output is limited', () => {
  const text = `version: 1
name: test
vars: { l: ${JSON.stringify(Array.from({ length: 300 }, () => 'x'.repeat(1000)))} }
tasks:
  t: { kind: image, with: { prompt: "x{{#each vars.l}}{{this}}{{/each}}" } }
`;
  expect(load(text).diagnostics.map((one) => one.code)).toEqual(['MB1007']);
});

it('blocks are limited in depth', () => {
  const template = `x${'{{#if 1}}'.repeat(25)}${'{{/if}}'.repeat(25)}`;
  expect(render(template)).toMatch(/^MB1007/);
});

it('vars may use other vars, and outside values are never templates', () => {
  const text = `version: 1
name: test
vars: { b: "{{upper vars.a}}-{{vars.a}}", a: x, list: ["{{vars.b}}"], n: 1 }
tasks:
  t: { kind: image, with: { prompt: "{{vars.b}} {{join vars.list}} {{vars.n}}" } }
`;
  expect(steps(text)[0]?.request.prompt).toBe('X-x X-x 1');
  expect(steps(text, { vars: { a: '{{vars.n}}', n: '2' } })[0]?.request.prompt).toBe(
    '{{VARS.N}}-{{vars.n}} {{VARS.N}}-{{vars.n}} 2',
  );
});
