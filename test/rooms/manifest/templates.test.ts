import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { loadSchemaCompiler } from '../../../src/manifest/check/json-schema.ts';
import {
  findUnsendableInJson,
  whyNumberIsUnsendable,
  whyTextIsUnsendable,
} from '../../../src/manifest/check/unsendable.ts';
import { helpers } from '../../../src/manifest/template/helpers.ts';
import { anyCharacter } from '../../rig/any-character.ts';
import { forAll } from '../../rig/runs.ts';
import { image, load, steps, summarize, tasks } from './load.ts';
import { ofProducts, products, productTask, testMistakes } from './mistakes.ts';

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
  ['{{slug vars.lamp}}', 'aurora-lamp'],
  ['{{slug "Straße 9:16 – 東京"}}', 'strasse-9-16-東京'],
  ['{{slug "Smørrebrød Łódź Æther Åre Đà Þór"}}', 'smorrebrod-lodz-aether-are-da-thor'],
  ['{{slug "???"}}', '3f-3f-3f'],
  ['{{upper vars.lamp}}', 'AURORA LÄMP'],
  ['{{title "the oak-table of émile"}}', 'The Oak-Table Of Émile'],
  ['{{join vars.list}}', 'red, blue & green, 3'],
  ['{{join vars.list " + "}}', 'red + blue & green + 3'],
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
  ['{{#each vars.n}}x{{/each}}', 'MB1204 `vars.n` is not a list'],
  ['{{vars.list.length}} x', 'MB1203 `vars.list.length` is not known: it has no `length`'],
  ['{{slug vars.lamp sep="_"}}', 'MB1202 `{{slug vars.lamp sep="_"}}` has a named argument'],
  ['{{#each vars.list as |x|}}{{x}}{{/each}}', 'MB1202 names with `as |…|` cannot be used'],
  ['{{"x"}}', 'MB1202 `{{"x"}}` prints a fixed value'],
  ['{{@root.vars.n}}', 'MB1202 `@root.vars.n` is not known'],
  ['{{{{raw}}}}x{{{{/raw}}}}', 'MB1202 the block `{{{{raw}}` is not known'],
  ['{{^if vars.n}}x{{/if}}', 'MB1202 the block `{{^if vars.n}}` is not known'],
])('%s', (template, expected) => {
  expect(render(template)).toEqual(expected);
});

it('a string that is exactly one path keeps the type of the value', () => {
  const text = (value: string) => `version: 1
name: test
vars: { refs: ["https://example.com/a.png"], n: 7 }
tasks:
  t: { kind: image, with: { prompt: x, referenceImages: ${value} } }
`;
  expect(steps(text('"{{vars.refs}}"'))[0]?.request.referenceImages).toEqual(['https://example.com/a.png']);
  expect(steps(text('[]'))[0]?.request.referenceImages).toEqual([]);
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

describe('template mistakes', () => {
  testMistakes([
    {
      name: 'a name that is not known',
      text: productTask('    with:', '      prompt: "{{missing}}"'),
      data: { 'products.csv': products },
      found: ['MB1203 9:18'],
      says: ['missing', 'sku, name'],
    },
    {
      name: 'a column without its row',
      text: productTask('    with: { prompt: "{{name}} x" }'),
      data: { 'products.csv': products },
      found: ['MB1203 8:24'],
      says: ['did you mean `row.name`'],
    },
    {
      name: 'names with spaces, but no brackets',
      text: productTask(
        '    when: "{{row.Zimmer Nr}}"',
        '    with: { prompt: "{{row.Name im Haus}} {{join row.Zimmer Nr}} {{#if row.Zimer Nr}}x{{/if}}" }',
        '    save: "{{slug row.Zimmer Nr}}"',
      ),
      data: { 'products.csv': 'sku,Zimmer Nr,Name im Haus\nA-1,101,Suite\nA-2,102,Turm\n' },
      found: ['MB1202 8:14', 'MB1202 9:24', 'MB1202 9:50', 'MB1203 9:72', 'MB1202 10:19'],
      says: ['write `row.[Zimmer Nr]`', 'write `row.[Name im Haus]`', 'did you mean `row.[Zimmer Nr]`'],
    },
    {
      name: 'names with dots and parentheses, but no brackets',
      text: productTask('    with: { prompt: "{{row.Name (EN)}} {{slug row.Name (EN)}} {{row.Art.-Nr.}}" }'),
      data: { 'products.csv': 'sku,Name (EN),Art.-Nr.\nA-1,Suite,1\nA-2,Turm,2\n' },
      found: ['MB1202 8:24', 'MB1202 8:47', 'MB1202 8:65'],
      says: ['write `row.[Name (EN)]`', 'write `row.[Art.-Nr.]`'],
    },
    ['a name in a branch that is not taken', image('prompt: "x{{#if false}}{{row.x}}{{/if}}"'), 'MB1203 7:32'],
    ['a row where there is none', image('prompt: "{{row.x}}"'), 'MB1203 7:18', 'no rows'],
    [
      'a block that is not closed',
      image('prompt: |', '  Line one', '  and {{#if vars.a}} more'),
      'MB1201 9:13',
      '{{#if vars.a}}',
      'not closed',
    ],
    ['braces that are not closed', image('prompt: "a {{vars.x"'), 'MB1201 7:18'],
    ['an expression that is none', image('prompt: "ok {{! fine }} {{matrix.0}}"'), 'MB1201 7:31'],
    [
      'a map in a string',
      `vars: { m: { k: 1 } }\n${image('prompt: "a {{vars.m}}"')}`,
      'MB1204 8:20',
      'vars.m',
      'map',
      'cannot be printed',
    ],
    ['a list in a string', `vars: { l: [1] }\n${image('prompt: "a {{vars.l}}"')}`, 'MB1204 8:20', 'join vars.l'],
    ['nothing in a string', `vars: { n: null }\n${image('prompt: "a {{vars.n}}"')}`, 'MB1204 8:20', 'default vars.n'],
    ['a helper that is none', image('prompt: "{{slugg vars.x}}"'), 'MB1202 7:18, MB1203 7:24', 'did you mean `slug`'],
    [
      'lookup of what is not in the map',
      image('prompt: "{{lookup vars.cta \'frr\'}}"').replace(
        'name: test',
        'name: test\nvars: { cta: { de: Jetzt, fr: Maintenant } }',
      ),
      'MB1203 8:16',
      '`{{lookup vars.cta \'frr\'}}` finds nothing for "frr"',
      'did you mean `fr`? the map has: de, fr',
    ],
    ['lookup in what is no map', image('prompt: "{{lookup \'a\' 1}}"'), 'MB1204 7:16', 'needs a map'],
    ['a partial', image('prompt: "{{> x}}"'), 'MB1202 7:16'],
    ['an inline partial', image('prompt: "{{#*inline \\"x\\"}}y{{/inline}}"'), 'MB1202 7:16'],
    ['with', image('prompt: "{{#with vars}}{{/with}}"'), 'MB1202 7:16'],
    [
      'the environment',
      image('prompt: "{{env.HOME}}"'),
      'MB1203 7:18',
      'under `vars:`',
      '{{vars.HOME}}',
      'MEDIABATCH_VAR_HOME',
    ],
    [
      'what every object has',
      image('prompt: "{{constructor}} {{vars.constructor}} {{vars.__proto__}}"'),
      'MB1203 7:18, MB1203 7:34, MB1203 7:55',
    ],
    ['this outside of a loop', image('prompt: "{{this}}"'), 'MB1202 7:18'],
    ['a template in a kind', tasks('  a: { kind: "{{vars.k}}", with: { prompt: x } }'), 'MB1202 4:14'],
    ['a template in a row', tasks('  a: { kind: image, foreach: ["{{vars.k}}"], with: { prompt: x } }'), 'MB1202 4:31'],
    ['a template of 65 KiB', image(`prompt: "{{vars.x}}${'x'.repeat(65 * 1024)}"`), 'MB1007 7:16'],
    ['a template with too many parts', image(`prompt: "${'{{! }}{{vars.x}}'.repeat(1200)}"`), 'MB1007 7:16016'],
    ['a take where there is one', image('prompt: "{{take}}"'), 'MB1203 7:18', 'takes:'],
    [
      'an output in a key',
      tasks(
        '  b: { kind: image, with: { prompt: x } }',
        '  a: { kind: image, key: "{{tasks.b.url}}", with: { prompt: x } }',
      ),
      'MB1202 5:29',
    ],
    [
      'an output in a helper',
      tasks(
        '  b: { kind: image, with: { prompt: x } }',
        '  a: { kind: image, with: { prompt: "{{upper tasks.b.url}}" } }',
      ),
      'MB1202 5:46',
    ],
    [
      'a list of outputs in a string',
      tasks(
        '  b: { kind: image, with: { prompt: x } }',
        '  a: { kind: image, with: { prompt: "x {{tasks.b.urls}}" } }',
      ),
      'MB1204 5:42',
    ],
    [
      'an output that is none',
      tasks('  b: { kind: image, with: { prompt: x } }', '  a: { kind: image, with: { prompt: "{{tasks.b.uri}}" } }'),
      'MB1203 5:40',
      'tasks.b.url',
    ],
  ]);
});

describe('helpers', () => {
  const page = readFileSync(new URL('../../../src/manual/templates.md', import.meta.url), 'utf8');
  const [, exampleRow = ''] = /`row` is `(\{.*\})`/.exec(page) ?? [];
  const docs = [...page.matchAll(/^- `\{\{#?(\w+) .* `(\{\{[^`]*\}\})` gives `([^`]*)`\.$/gm)].map(
    ([, name = '', example = '', result = '']) => ({ name, example, result }),
  );

  /** What a template gives in a prompt; a link that is known only in a run is shown as the step that it comes from. */
  function render(template: string): unknown {
    const text = tasks(
      '  a:',
      '    kind: image',
      '    foreach: r.json',
      '    key: "{{row.sku}}"',
      `    with: { prompt: ${JSON.stringify(`-${template}-`)} }`,
    );
    const all = steps(text, {
      data: { 'r.json': `[${exampleRow}]`, 'lyrics/rain.txt': 'Rain on the tin roof\n' },
      uploads: { 'assets/logo.png': { sha256: 'a'.repeat(64), bytes: 1 } },
    });
    const prompt = all.find(({ task }) => task === 'a')?.request.prompt;
    if (typeof prompt === 'string') return prompt.slice(1, -1);
    const parts = (prompt as { $text: (string | { $ref: string })[] }).$text;
    return parts
      .map((part) => (typeof part === 'string' ? part : part.$ref))
      .join('')
      .slice(1, -1);
  }

  describe('the helpers in the manual', () => {
    test('every helper is explained, and nothing else', () => {
      const names = docs.map(({ name }) => name);
      expect([...names].sort()).toEqual([...Object.keys(helpers), 'if', 'unless', 'each'].sort());
    });

    test.each(docs)('$example gives $result', ({ name, example, result }) => {
      expect(example).toContain(name);
      expect(render(example)).toBe(result);
    });
  });

  describe('a result is looked at before it is made', () => {
    const long = 'a'.repeat(9000);
    const wrong = { wrong: 'would give more than 262144 characters' };
    test('replace', () => {
      expect(helpers.replace?.run([long, 'a', long])).toEqual(wrong);
      expect(helpers.replace?.run(['a-b-c', '-', '+'])).toEqual({ value: 'a+b+c' });
    });

    test('join', () => {
      expect(helpers.join?.run([Array.from({ length: 100_000 }, () => 'a'), long])).toEqual(wrong);
      expect(helpers.join?.run([['a', 1, true], '-'])).toEqual({ value: 'a-1-true' });
    });

    test('pad', () => {
      expect(helpers.pad?.run(['1', 1001])).toEqual({ wrong: 'needs a width up to 1000, and got the number 1001' });
    });
  });
});

describe('a text that looks like a template and is none', () => {
  const ofPrompt = (prompt: string) => {
    const task = tasks(
      `  a: { kind: image, foreach: r.json, key: "{{row.k}}", with: { prompt: ${JSON.stringify(prompt)} } }`,
    );
    return load(`vars: { brand: Nord }\n${task}`, {
      data: { 'r.json': '[{"k": "a", "name": "L", "topic": "{{topic}}"}]' },
    });
  };

  test.each([
    ['one brace', 'a {row.name}', '{row.name}'],
    ['a column in one brace', 'a { name } on oak', '{ name }'],
    ['a var in one brace', 'a {brand}', '{brand}'],
    ['a template in the data', 'a {{row.topic}}', '{{topic}}'],
    ['a dollar sign', `a \${{vars.brand}}`, `\${{vars.brand}}`],
    ['a block of Jinja', 'a {% if row.name %}b', '{% if row.name %}'],
    ['a tag of ERB', 'a <%= name %>', '<%= name %>'],
  ])('%s is a warning', (_what, prompt, left) => {
    const { diagnostics } = ofPrompt(prompt);
    expect(diagnostics.map(({ severity, message }) => [severity, message])).toEqual([
      ['warning', expect.stringContaining(`contains \`${left}\``)],
    ]);
  });

  test.each(['{a|b}', '{"k": 1}', 'a < b, 5% > c', '{}', '{Name}'])('%s is none', (prompt) => {
    expect(ofPrompt(prompt).diagnostics).toEqual([]);
  });
});

const influencer = (...lines: string[]) => image(...lines).replace('kind: image', 'kind: influencer');

describe('strings that no request can carry', () => {
  testMistakes([
    [
      'NUL, as each of its escapes',
      image('prompt: "a \\0 b"', 'model: "alpha\\u00002"', 'resolution: "\\x00"', 'aspectRatio: "\\U00000000"'),
      'MB1106 7:15, MB1106 8:14, MB1106 9:19, MB1106 10:20',
      'U+0000',
      'remove it',
    ],
    [
      'half a character, first or second',
      image('prompt: "a \\ud83d b"', 'referenceImages: ["https://example.com/\\uDE00.png"]'),
      'MB1106 7:15, MB1106 8:25',
      'U+D83D',
      'U+DE00',
      'both of its halves',
    ],
    [
      'half a character behind a whole one, and two halves in the wrong order',
      image('prompt: "\\ud83d\\ude00\\ud83d"', 'model: "\\ude00\\ud83d"', 'resolution: "\\ud83d \\ude00"'),
      'MB1106 7:15, MB1106 8:14, MB1106 9:19',
    ],
    [
      'in a name, a tag, a key, a var, a default, a save name, the campaign’s name',
      `${[
        'version: 1',
        'name: "a\\0"',
        'vars: { v: "a\\0", list: [["\\ud800"]] }',
        'defaults: { image: { prompt: "\\ud800" } }',
        'tasks:',
        '  "he\\0ro": { kind: image, with: { prompt: x } }',
        '  vase: { kind: image, tags: ["\\0"], save: "a\\0", key: "\\0", description: "\\0" }',
        '  bowl: { kind: influencer, with: { a: { b: { "\\ud800": 1 } } } }',
      ].join('\n')}\n`,
      'MB1106 2:7, MB1106 3:12, MB1106 3:27, MB1106 4:30, MB1106 6:3, MB1106 7:31, MB1106 7:44, MB1106 7:56, MB1106 7:75, MB1106 8:47',
    ],
    ['a raw NUL in the manifest', image('prompt: a \0 b', '# nothing'), 'MB1003 7:17', 'NUL byte', 'save it as UTF-8'],
    ofProducts('a raw NUL in a table', '.csv', 'sku,name\nA,b\nB,c\0d\n', 'MB1302 products.csv:3:4'),
    ofProducts(
      'a table in UTF-16 without a mark',
      '.csv',
      [...'sku,name\nA,b\n'].join('\0'),
      'MB1302 products.csv:1:2',
      'UTF-16',
    ),
    ofProducts(
      'in data, as a value and as a column',
      '.json',
      '[{"sku": "A", "name": "x\\u0000"},\n {"sku": "B", "na\\ud800me": "\\\\u0000"}]',
      'MB1106 products.json:1:23, MB1106 products.json:2:15',
    ),
    {
      name: 'in an included manifest and in YAML rows',
      text: `include: [more.yaml]\n${tasks('  a: { kind: image, foreach: r.yaml, key: "{{row.k}}", with: { prompt: "{{row.p}}" } }')}`,
      data: { 'more.yaml': 'vars: { v: "\\0" }\n', 'r.yaml': '- { k: a, p: "\\ud800" }\n' },
      found: ['MB1106 more.yaml:1:12', 'MB1106 r.yaml:1:14'],
    },
    [
      'made by a helper',
      tasks('  a: { kind: image, foreach: [a], with: { prompt: \'{{pad row 4 "😀"}}\' } }'),
      'MB1204 4:52',
      'would cut "😀" in half',
    ],
    {
      name: 'in a value from outside',
      text: `vars: { map: {}, list: [], text: a }\n${tasks('  a: { kind: image, with: { prompt: x } }')}`,
      vars: { map: '{"a": "\\u0000"}', list: '["\\ud800"]', text: 'caf\ufffd' },
      found: ['MB1106 1:9', 'MB1106 1:18', 'MB1106 1:28'],
      says: ['set outside of the manifest', 'U+FFFD'],
    },
    ['a character lost in a conversion', image('prompt: caf\ufffd'), 'MB1106 7:15', 'U+FFFD', 'UTF-8'],
    ...[
      { file: 'r.csv', content: 'k,p,unused\na,caf\ufffd,\ufffd\n' },
      { file: 'r.json', content: '[{"k": "a", "p": "caf\\ufffd", "unused": "\\ufffd"}]' },
    ].map(({ file, content }) => ({
      name: `one in a value of ${file} that a request uses`,
      text: tasks(`  a: { kind: image, foreach: ${file}, key: "{{row.k}}", with: { prompt: "{{row.p}}" } }`),
      data: { [file]: content },
      found: [`MB1106 4:${66 + file.length}`],
      says: ['U+FFFD'],
    })),
  ]);

  it('is no mistake where both halves stand, or where the escape is escaped', () => {
    const [step] = steps(image('prompt: "\\ud83d\\ude00 😀 \\\\u0000 \\\\ud800"'));
    expect(step?.request.prompt).toBe('😀 😀 \\u0000 \\ud800');
  });
});

describe('numbers that arrive as others', () => {
  testMistakes([
    [
      'in every way to write one',
      influencer(
        'prompt: x',
        'a: -9007199254740993',
        'b: 0x20000000000001',
        'c: 0o400000000000000001',
        'd: 1e400',
        'e: -1e999',
        'f: 9007199254740993.0',
        'g: 1e-400',
        'h: [[12345678901234567890]]',
      ),
      'MB1106 8:10, MB1106 9:10, MB1106 10:10, MB1106 11:10, MB1106 12:10, MB1106 13:10, MB1106 14:10, MB1106 15:12',
    ],
    ['.inf and .nan', influencer('a: .inf', 'b: .nan'), 'MB1003 7:10, MB1003 8:10'],
    {
      name: 'in JSON rows, at their own places, five of many',
      text: productTask('    with: { prompt: "{{row.name}}" }').replace('.csv', '.json'),
      data: {
        'products.json': `[${Array.from({ length: 9 }, (_, at) => `{"sku": "A${at}", "id": 9007199254740993}`).join(',\n')}]`,
      },
      found: [22, 21, 21, 21, 21].map((column, at) => `MB1106 products.json:${at + 1}:${column}`),
      says: ['(and 4 more like this)'],
    },
    ofProducts(
      'in JSON Lines',
      '.jsonl',
      '{"sku": "A", "name": 1}\n{"sku": "B", "name": 1e400}\n',
      'MB1106 products.jsonl:2:22',
    ),
    {
      name: 'from outside',
      text: `vars: { a: 1, b: 2, c: [], d: 3 }\n${tasks('  a: { kind: image, with: { prompt: x } }')}`,
      vars: { a: '9007199254740993', b: ' 1e400 ', c: '[9007199254740993]', d: 'Infinity' },
      found: ['MB1106 1:9', 'MB1106 1:15', 'MB1106 1:21', 'MB1103 1:28'],
    },
  ]);

  it('stay as they are up to 2^53 - 1, as texts, in tables and with an exponent', () => {
    const [step] = steps(influencer('a: 9007199254740991', 'b: -9007199254740991', 'c: "9007199254740993"', 'd: 1e15'));
    expect(step?.request).toEqual({ a: 9007199254740991, b: -9007199254740991, c: '9007199254740993', d: 1e15 });
    const text = productTask('    with: { prompt: "{{row.name}}" }');
    const [first] = steps(text, { data: { 'products.csv': 'sku,name\nA,9007199254740993\n' } });
    expect(first?.request.prompt).toBe('9007199254740993');
  });

  it('may stand in a schema of rows, which is sent nowhere', async () => {
    const schemaCompiler = await loadSchemaCompiler();
    const schema =
      '{"properties": {"name": {"type": "string", "pattern": "^[^\\u0000]*$"}, "n": {"maximum": 18446744073709551615}}}';
    const text = productTask('    schema: s.json', '    with: { prompt: "{{row.name}}" }');
    const data = { 'products.csv': 'sku,name\nA,b\n', 's.json': schema };
    expect(load(text, { data, schemaCompiler }).found).toEqual([]);
  });
});

describe('what is said of a value', () => {
  const loneSurrogates = fc.string({ unit: fc.constantFrom('\ud83d', '\ude00', 'a') });
  const texts = fc.oneof(fc.string({ unit: anyCharacter }), loneSurrogates);
  const numbers = fc.bigInt({ min: -(2n ** 60n), max: 2n ** 60n });
  forAll([texts, numbers], 2000)('is nothing exactly where JSON in UTF-8 gives it back', (text, number) => {
    const isSame = new TextDecoder().decode(new TextEncoder().encode(text)) === text;
    expect(whyTextIsUnsendable(text) === undefined).toBe(isSame && !text.includes('\0'));
    const isExact = number > -(2n ** 53n) && number < 2n ** 53n;
    expect(whyNumberIsUnsendable(Number(number), String(number)) === undefined).toBe(isExact);
  });

  const odd = fc.constantFrom('9007199254740993', '"a\\u0000"', '"\\ud83d"', '1e400', '"\\\\\\ud800"');
  forAll([fc.json(), fc.json(), odd], 500)('is found and located anywhere in a JSON text', (before, after, written) => {
    expect([...findUnsendableInJson(`[${before}]`)].length).toBe([...findUnsendableInJson(`[${before}, "x"]`)].length);
    const text = `[${before}, ${written}, ${after}]`;
    const at = `[${before}, `.length;
    const found = [...findUnsendableInJson(text)].filter(({ start }) => start >= at && start < at + written.length);
    expect(found).toHaveLength(1);
    expect(written).toContain(text.slice(found[0]?.start, found[0]?.end));
  });
});
