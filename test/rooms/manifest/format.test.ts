import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Parser } from 'yaml';
import type { Json } from '../../../src/ground/json.ts';
import { formatManifest } from '../../../src/manifest/format/format.ts';
import { manifestFaults, readYaml } from '../../../src/manifest/yaml/read-yaml.ts';
import { readSource } from '../../../src/manifest/yaml/source.ts';
import { runs } from '../../rig/runs.ts';

function format(text: string): string {
  const result = formatManifest('campaign.yaml', text);
  if ('text' in result) return result.text;
  throw new Error(result.diagnostics.map(({ code, message }) => `${code} ${message}`).join('\n'));
}

const lines = (...all: string[]) => `${all.join('\n')}\n`;

describe('what is changed', () => {
  test.each<[string, string, string]>([
    ['spaces', 'a:   1\nb:  [ 1,2 ,  3 ]\nc: {x: 1,y: [] }', 'a: 1\nb: [1, 2, 3]\nc: { x: 1, y: [] }'],
    ['indentation', 'a:\n    b:\n        c: 1\n    d: 2', 'a:\n  b:\n    c: 1\n  d: 2'],
    ['lists below their key', 'a:\n- 1\n-   b: 2\n    c: 3', 'a:\n  - 1\n  - b: 2\n    c: 3'],
    ['a dash on a line of its own', 'a:\n  -\n    b: 1\n  -\n    - 2', 'a:\n  - b: 1\n  - - 2'],
    ['empty lines', '\n\na: 1\n\n\n\nb:\n\n  c: 2\n\n\n', 'a: 1\n\nb:\n  c: 2'],
    ['line ends', 'a: 1\r\nb: |\r\n   x\r\n   y\r\n', 'a: 1\nb: |\n  x\n  y'],
    ['quotes', `a: 'x'\n'b': '1:1'`, 'a: "x"\n"b": "1:1"'],
    ['block texts', 'a: >-\n     one\n       two\n\n     three\n', 'a: >-\n  one\n    two\n\n  three'],
    ['a digit that is not needed', 'a: |4\n    x\n', 'a: |\n  x'],
    ['a digit that is needed', 'a: |4\n      x\n    y\n', 'a: |2\n    x\n  y'],
    ['texts of several lines', 'a: one\n      two\nb: "x\n         y"', 'a: one\n  two\nb: "x\n  y"'],
    ['lists of several lines', 'a: [\n      1, 2,\n      3\n   ]', 'a: [\n  1, 2,\n  3\n]'],
  ])('%s', (_what, text, expected) => {
    expect(format(text)).toBe(`${expected}\n`);
  });

  test('comments stand one space apart, or below each other where they did', () => {
    const text = lines('a: 1    # one', 'bbb: 2  # two', '', 'c: 3      # three', '    # own line', 'd: 4');
    expect(format(text)).toBe(lines('a: 1   # one', 'bbb: 2 # two', '', 'c: 3 # three', '# own line', 'd: 4'));
  });
});

test.each<[string, string]>([
  [
    'comments of every level',
    lines('# top', 'a: # behind', '  # inner', '  b: 1', '  # last of a', '# before c', 'c: 2', '# end'),
  ],
  ['comments in lists', lines('a:', '  # one', '  - # two', '    b: 1', '  - 2', '  # last')],
  ['comments in brackets', lines('a: [', '  1, # one', '  # two', '  2', ']')],
  ['a comment below a key without a value', lines('a:', '# about b', 'b: 1')],
  ['anchors, aliases and merges', lines('a: &x', '  b: 1', 'c:', '  <<: *x', '  d: *x', 'e:', '  - &y 1', '  - *y')],
  ['an alias as a key', lines('a: &x name', '*x : 1')],
  ['quotes that are needed', lines(`a: 'say "x"'`, "b: 'it''s'", "c: 'a\\b'", 'd: "a\\n"')],
  ['a text in the next line', lines('a:', '  "a long text"')],
  ['escapes at line ends', lines('a: "x\\', '  \\ y"')],
  ['chomping', lines('a: |+', '  x', '', '', 'b: |-', '  y', 'c: >', '  z')],
  ['a document marker', lines('# one', '---', 'a: 1')],
  ['templates', lines('a: "{{row.x}}"', 'b: images/{{row.sku}}', 'c: \'{{eq a "b"}}\'')],
  ['keys that are asked for', lines('? a', ': 1')],
  ['order', lines('b: 1', 'a: 2')],
])('%s stay', (_what, text) => {
  expect(format(text)).toBe(text);
});

test.each<[string, string]>([
  ['a: [1', 'MB1003'],
  ['a: 1\n\tb: 2', 'MB1005'],
  ['a: 1\na: 2', 'MB1004'],
  ['a: 1\n---\nb: 2', 'MB1006'],
  ['', 'MB1002'],
])('%j is not formatted, but told', (text, code) => {
  const result = formatManifest('campaign.yaml', text);
  expect('diagnostics' in result && result.diagnostics.map((one) => one.code)).toContain(code);
});

/** Comments and anchors in the order in which they stand. */
function remarks(text: string): string[] {
  const found: string[] = [];
  const visit = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return;
    const { type, source } = value as { type?: string; source?: string };
    if (source !== undefined && (type === 'comment' || type === 'anchor' || type === 'alias'))
      found.push(source.trimEnd());
    for (const item of Object.values(value)) visit(item);
  };
  for (const token of new Parser().parse(text)) visit(token);
  return found;
}

const readValue = (text: string) => readYaml(readSource('f', text), manifestFaults).value;

const word = fc.stringMatching(/^[a-z][a-z0-9 ]{0,8}[a-z0-9]$/);
const text = fc.oneof(
  word,
  fc.stringMatching(/^[ -~]{1,12}$/),
  fc.constantFrom(
    '{{row.sku}}',
    'true',
    '1:1',
    '# no',
    'a: b',
    ' lead',
    'it\'s "x"',
    'ä ö',
    '- x',
    '@a',
    'two\nlines\n',
    ' a\nb',
    'a\n\n b\n\n',
  ),
);
const scalar = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null));
const tree = fc.letrec<{ value: Json; map: Json }>((tie) => ({
  map: fc.dictionary(word, tie('value'), { maxKeys: 4 }),
  value: fc.oneof({ maxDepth: 4 }, scalar, fc.array(tie('value'), { maxLength: 4 }), tie('map')),
}));

/** Writes a value as a person might: any style, comments, empty lines and indentation, all drawn from `draw`. */
function write(value: Json, draw: (count: number) => number): string {
  let anchors = 0;
  const nextAnchor = () => {
    anchors += 1;
    return anchors;
  };
  const space = () => ' '.repeat(1 + (draw(4) === 0 ? draw(6) : 0));
  const remark = () => (draw(5) === 0 ? `${space()}# c${draw(100)}` : '');
  const between = (indent: number) =>
    [...Array(draw(3) === 0 ? draw(3) : 0)]
      .map(() => (draw(2) ? '\n' : `${' '.repeat(draw(3) ? indent : draw(9))}# l${draw(100)}\n`))
      .join('');
  const quoted = (written: string) => {
    const single = !/[\n\\]|[^\x20-\x7e]/.test(written) && draw(2) === 0;
    return single ? `'${written.replaceAll("'", "''")}'` : JSON.stringify(written);
  };
  const flat = (item: Json): string => {
    if (Array.isArray(item)) return `[${item.map((one) => `${space()}${flat(one)}`).join(',')}${draw(2) ? ' ' : ''}]`;
    if (item !== null && typeof item === 'object') {
      const pairs = Object.entries(item).map(([key, one]) => `${space()}${quoted(key)}:${space()}${flat(one)}`);
      return `{${pairs.join(`,${draw(4) ? '' : '\n          '}`)} }`;
    }
    return typeof item === 'string' ? quoted(item) : JSON.stringify(item);
  };
  const block = (item: string, indent: number): string | undefined => {
    if (!/^[!-~][ -~]*(\n+[ -~]+)*\n*$/.test(item) || draw(2)) return undefined;
    const body = item.replace(/\n*$/, '');
    const ends = item.length - body.length;
    const sign = ends === 0 ? '-' : ends === 1 ? '' : '+';
    const margin = ' '.repeat(indent + 1 + draw(4));
    const inner = body.split('\n').map((line) => (line === '' ? '' : `${margin}${line}`));
    return `|${sign}${remark()}\n${inner.join('\n')}\n${'\n'.repeat(Math.max(0, ends - 1))}`;
  };
  /** After `key:` or `-`. */
  const behind = (item: Json, indent: number): string => {
    const anchor = draw(8) === 0 ? ` &n${nextAnchor()}` : '';
    if (typeof item === 'string') {
      const lines = block(item, indent);
      if (lines !== undefined) return `${anchor}${space()}${lines}`;
      if (/^[a-z][a-z0-9 ]*$/.test(item) && !['true', 'false', 'null'].includes(item)) {
        const broken = draw(4) ? item : item.replace(/ (?=[a-z0-9])/, `\n${' '.repeat(indent + 1 + draw(3))}`);
        return `${anchor}${space()}${/ {2}/.test(item) ? quoted(item) : broken}${remark()}\n`;
      }
      return `${anchor}${space()}${quoted(item)}${remark()}\n`;
    }
    const isFull = item !== null && typeof item === 'object' && Object.keys(item).length > 0;
    if (!isFull || draw(3) === 0) return `${anchor}${space()}${flat(item)}${remark()}\n`;
    const next = indent + 1 + draw(4);
    return `${anchor}${remark()}\n${nested(item, next)}`;
  };
  const nested = (item: Json, indent: number): string => {
    const margin = ' '.repeat(indent);
    if (Array.isArray(item)) return item.map((one) => `${between(indent)}${margin}-${behind(one, indent)}`).join('');
    if (item === null || typeof item !== 'object') return `${margin}${flat(item)}\n`;
    return Object.entries(item)
      .map(([key, one]) => `${between(indent)}${margin}${draw(3) ? key : quoted(key)}:${behind(one, indent)}`)
      .join('');
  };
  const isFull = value !== null && typeof value === 'object' && Object.keys(value).length > 0;
  return isFull ? nested(value, 0) + between(0) : `${flat(value)}\n`;
}

describe('any manifest', () => {
  const written = fc
    .tuple(
      fc.dictionary(word, tree.value, { minKeys: 1, maxKeys: 5 }),
      fc.array(fc.nat(1000), { minLength: 300, maxLength: 300 }),
    )
    .map(([value, numbers]) => {
      let at = 0;
      const draw = (count: number) => (numbers[at++ % numbers.length] ?? 0) % count;
      return write(value, draw);
    })
    .filter((one) =>
      readYaml(readSource('f', one), manifestFaults).diagnostics.every(({ severity }) => severity !== 'error'),
    );

  test('means the same, keeps its comments and anchors, and is formatted once and for all', () => {
    fc.assert(
      fc.property(written, (one) => {
        const once = format(one);
        expect(readValue(once)).toEqual(readValue(one));
        expect(remarks(once)).toEqual(remarks(one));
        expect(format(once)).toBe(once);
      }),
      { numRuns: runs(400) },
    );
  });

  test('any text is formatted or told', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[-a-c:{}[\]"'|>#&*?!,\s]{0,40}$/), (one) => {
        const result = formatManifest('f', one);
        if ('diagnostics' in result) expect(result.diagnostics.length).toBeGreaterThan(0);
        else expect(format(result.text)).toBe(result.text);
      }),
      { numRuns: runs(2000) },
    );
  });
});

test('the example is formatted already', () => {
  const example = readFileSync(new URL('../../../examples/quickstart/campaign.yaml', import.meta.url), 'utf8');
  expect(readValue(format(example))).toEqual(readValue(example));
  expect(remarks(format(example))).toEqual(remarks(example));
});
