import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { Diagnostic } from '../../../src/ground/diagnostic.ts';
import {
  diagnosticsGithub,
  diagnosticsJson,
  diagnosticsText,
  failureGithub,
} from '../../../src/report/diagnostics/diagnostics-text.ts';
import { inertText } from '../../../src/report/safe-text.ts';
import { displayWidth } from '../../../src/report/text-width.ts';
import { forAll } from '../../rig/runs.ts';
import { mistake, noColor, place } from './samples.ts';

const manifest = `version: 1
name: aurora
tasks:
  hero:
    kind: image
    with:
      prompt: "{{row.nmae}} on an oak table"
  hero:
    kind: image
`;

function show(diagnostics: Diagnostic[]): string {
  const sources = new Map([
    ['campaign.yaml', manifest],
    ['products.csv', 'sku,name\r\nA1,Lamp\r\nA2,"Big\r\nLamp"\r\n'],
  ]);
  return diagnosticsText(diagnostics, sources, { style: noColor });
}

describe('diagnosticsText', () => {
  it('shows place, code, excerpt, caret, other places, trail, hint and counts', () => {
    const text = show([
      {
        code: 'MB1009',
        severity: 'warning',
        message: 'the # cuts the prompt short',
        place: place('campaign.yaml', [5, 5], [5, 9]),
      },
      mistake('there is no column nmae', {
        hint: 'the columns are sku, name; did you mean name',
        place: place('campaign.yaml', [7, 18], [7, 26]),
        related: [{ message: 'the columns are named here', place: place('products.csv', [1, 1], [1, 9]) }],
        trail: ['task hero', 'row 14 of products.csv', 'ratio 9:16'],
      }),
      {
        code: 'MB1004',
        severity: 'error',
        message: 'the key hero stands twice',
        place: place('campaign.yaml', [8, 3], [8, 7]),
        related: [{ message: 'the first one', place: place('campaign.yaml', [4, 3], [4, 7]) }],
      },
      { code: 'MB1001', severity: 'error', message: 'the manifest cannot be read', hint: 'start with mediabatch init' },
    ]);
    expect(text).toMatchInlineSnapshot(`
      "error MB1001 the manifest cannot be read
        hint: start with mediabatch init

      campaign.yaml:7:18 error MB1203 there is no column nmae
         7 |       prompt: "{{row.nmae}} on an oak table"
           |                  ^^^^^^^^
        products.csv:1:1 the columns are named here
         1 | sku,name
           | ^^^^^^^^
        in task hero › row 14 of products.csv › ratio 9:16
        hint: the columns are sku, name; did you mean name

      campaign.yaml:8:3 error MB1004 the key hero stands twice
         8 |   hero:
           |   ^^^^
        campaign.yaml:4:3 the first one
         4 |   hero:
           |   ^^^^

      campaign.yaml:5:5 warning MB1009 the # cuts the prompt short
         5 |     kind: image
           |     ^^^^

      3 errors, 1 warning
      "
    `);
  });

  it('orders errors before warnings, then by file and position', () => {
    const at = (file: string, line: number, column: number) => ({
      place: place(file, [line, column], [line, column + 1]),
    });
    const text = show([
      { ...mistake('w', at('a.yaml', 1, 1)), severity: 'warning' },
      mistake('e4', at('b.yaml', 1, 1)),
      mistake('e3', at('a.yaml', 10, 1)),
      mistake('e2', at('a.yaml', 9, 7)),
      mistake('e1', at('a.yaml', 9, 2)),
      mistake('e0'),
    ]);
    expect(text.match(/ (e\d|w)$/gm)?.map((found) => found.trim())).toEqual(['e0', 'e1', 'e2', 'e3', 'e4', 'w']);
  });

  it('shows one mistake in several positions as one block', () => {
    const text = show([3, 4, 5, 6, 7, 8, 9].map((line) => mistake('m', { place: place('a', [line, 1], [line, 2]) })));
    expect(text).toBe(
      'a:3:1 error MB1203 m\n  the same problem in a:4:1, a:5:1, a:6:1, a:7:1, a:8:1, … and 1 more\n\n7 errors\n',
    );
  });

  it('lets nothing from outside reach the terminal', () => {
    const bad = '\u001b[2J\n::error::x';
    const text = show([
      mistake(bad, { hint: bad, trail: [bad], place: place(`${bad}.yaml`, [1, 1], [1, 2]) }),
      mistake('m', { related: [{ message: bad, place: place(bad, [1, 1], [1, 2]) }] }),
    ]);
    expect(text).not.toContain('\u001b');
    expect(text).not.toMatch(/^\s*::/m);
  });
});

/** The text under which the carets stand, as a reader would see it. */
function caretColumns(lines: string[]): [start: number, length: number] {
  const carets = lines[1] ?? '';
  return [carets.indexOf('^') - carets.indexOf('|') - 2, carets.trimEnd().length - carets.indexOf('^')];
}

describe('excerpts', () => {
  const excerpt = (text: string, start: [number, number], end: [number, number], width = 60) =>
    diagnosticsText([mistake('m', { place: place('f', start, end) })], new Map([['f', text]]), {
      style: noColor,
      width: width + 2,
    })
      .split('\n')
      .flatMap((line) => (/^ {3}[ \d]*\|/.test(line) ? [line.slice(2)] : []));

  test.each<[name: string, text: string, start: number, end: number, code: string, columns: [number, number]]>([
    ['plain text', 'abc def ghi', 5, 8, 'abc def ghi', [4, 3]],
    ['an empty range', 'abc', 2, 2, 'abc', [1, 1]],
    ['the end of a line', 'abc', 4, 4, 'abc', [3, 1]],
    ['a column beyond the line', 'abc', 40, 50, 'abc', [3, 1]],
    ['tabs before', '\ta\tbc', 4, 6, '    a    bc', [9, 2]],
    ['a tab itself', 'a\tb', 2, 3, 'a    b', [1, 4]],
    ['wide characters before', '漢字 abc', 4, 7, '漢字 abc', [5, 3]],
    ['wide characters themselves', 'x 漢字 y', 3, 5, 'x 漢字 y', [2, 4]],
    ['an emoji of two units', '🎉 abc', 4, 7, '🎉 abc', [3, 3]],
    ['a combining mark', 'e\u0301 abc', 4, 7, 'e\u0301 abc', [2, 3]],
    ['a control character before', '\u001b abc', 3, 6, '\\x1b abc', [5, 3]],
    ['a control character itself', 'a\u202eb', 2, 3, 'a\\u202eb', [1, 6]],
  ])('%s', (_name, text, start, end, code, columns) => {
    const lines = excerpt(text, [1, start], [1, end]);
    expect(lines[0]).toBe(` 1 | ${code}`);
    expect(caretColumns(lines)).toEqual(columns);
  });

  const line = fc.string({
    unit: fc.constantFrom('a', ' ', '\t', '漢', '🎉', '\u001b', '\u202e', 'é'),
    maxLength: 300,
  });
  forAll([line, line, fc.integer({ min: 20, max: 90 })], 400)('keeps carets at their place', (before, after, width) => {
    const lines = excerpt(`${before}MARK${after}`, [1, before.length + 1], [1, before.length + 5], width);
    const code = (lines[0] ?? '').slice(5);
    const [start, length] = caretColumns(lines);
    expect(displayWidth(code.slice(0, code.indexOf('MARK')))).toBe(start);
    expect(length).toBe(4);
    expect(displayWidth(lines[0] ?? '')).toBeLessThanOrEqual(Math.max(25, width));
  });

  it('shows the lines of a longer place, and counts what it leaves out', () => {
    const text = 'a: >\n  one\r\n  two\n  three\n  four\n  five\n';
    expect(excerpt(text, [1, 4], [6, 7])).toMatchInlineSnapshot(`
      [
        " 1 | a: >",
        "   |    ^",
        " 2 |   one",
        "   |   ^^^",
        " 3 |   two",
        "   |   ^^^",
        "   | … and 3 more lines",
      ]
    `);
    expect(excerpt(text, [2, 3], [3, 1]).length).toBe(2);
  });
});

it('the report as JSON carries everything', () => {
  const full = mistake('there is no column nmae', {
    hint: 'did you mean name',
    place: place('campaign.yaml', [7, 18], [7, 26]),
    related: [{ message: 'here', place: place('products.csv', [1, 1], [1, 9]) }],
    trail: ['task hero'],
    fix: { place: place('campaign.yaml', [7, 18], [7, 26]), text: 'row.name' },
  });
  const warning: Diagnostic = { code: 'MB1009', severity: 'warning', message: 'cut' };
  const json = diagnosticsJson([warning, full], { file: 'campaign.yaml', steps: 3, tasks: 2 });
  const start = { line: 7, column: 18, offset: 0 };
  const range = { file: 'campaign.yaml', start, end: { ...start, column: 26 } };
  const there = { file: 'products.csv', start: { line: 1, column: 1 }, end: { line: 1, column: 9 } };
  const related = [{ message: 'here', range: there }];
  expect(json).toMatchObject({
    ...{ valid: false, errors: 1, warnings: 1, steps: 3, tasks: 2 },
    diagnostics: [
      { code: 'MB1203', hint: 'did you mean name', range, related, trail: ['task hero'], fix: { range } },
      { code: 'MB1009', severity: 'warning', message: 'cut' },
    ],
  });
});

describe('diagnostics github', () => {
  const show = (...diagnostics: Diagnostic[]) =>
    diagnosticsGithub(diagnostics, { toCheckoutPath: (file) => `ads/${file}` });

  test('one line for each mistake, errors first', () => {
    const error = mistake('there is no column nmae', {
      hint: 'did you mean `name`?',
      place: place('campaign.yaml', [7, 18], [7, 26]),
      trail: ['task hero', 'row 14 of products.csv'],
    });
    const warning: Diagnostic = { code: 'MB1009', severity: 'warning', message: 'the # cuts the prompt short' };
    expect(show(warning, error)).toBe(
      '::error file=ads/campaign.yaml,line=7,endLine=7,col=18,endColumn=25,title=MB1203::there is no column nmae%0A' +
        'in task hero › row 14 of products.csv%0Adid you mean `name`?\n' +
        '::warning title=MB1009::the # cuts the prompt short\n',
    );
  });

  test('what would end a message or a property is escaped, and nothing else is obeyed', () => {
    const text = show(
      mistake('50% off\n::error::gone\u001b[2J', { hint: 'a, b: c\r', place: place('a,b:c%d.yaml', [1, 1], [1, 2]) }),
    );
    expect(text).toBe(
      '::error file=ads/a%2Cb%3Ac%25d.yaml,line=1,endLine=1,col=1,endColumn=1,title=MB1203::' +
        '50%25 off\\n::error::gone\\x1b[2J%0Aa, b: c\\r\n',
    );
    expect(text.split('\n')).toHaveLength(2);
  });
});

/** As the runner reads a line: `::name properties::message`, spaces before it aside, and `##[name]` anywhere. */
const obeyed = (line: string) => line.trimStart().startsWith('::') || line.includes('##[');

test('a failure without a place is one annotation', () => {
  expect(failureGithub('MB2003', ['the lock is of another\nservice', '100% sure'])).toBe(
    '::error title=MB2003::the lock is of another\\nservice%0A100%25 sure\n',
  );
});

test.each(['::error::x', '  ::add-mask::a', 'a\n\t::stop-commands::t\nb', 'a prompt with ##[error]x', '::::', '\r::a'])(
  'nothing in %j is obeyed, and it reads the same',
  (text) => {
    const inert = inertText(text);
    expect(text.split('\n').some(obeyed)).toBe(true);
    expect(inert.split('\n').some(obeyed)).toBe(false);
    expect(inert.replaceAll('\u200b', '')).toBe(text);
  },
);
