import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { Finding } from '../../../src/contract/notice.ts';
import { situate } from '../../../src/plan/situation/situation.ts';
import { shellWord } from '../../../src/report/advice-text.ts';
import { type Column, type Text, table } from '../../../src/report/document.ts';
import { mermaidText } from '../../../src/report/mermaid.ts';
import { ageText, spanText } from '../../../src/report/numbers.ts';
import { safeJson, safeText } from '../../../src/report/safe-text.ts';
import { accountsJson, accountsView } from '../../../src/report/tables/lists.ts';
import { doctorJson, doctorView } from '../../../src/report/tables/local-state.ts';
import { displayWidth } from '../../../src/report/text-width.ts';
import { graphOf } from '../../rig/campaign.ts';
import { forAll } from '../../rig/runs.ts';
import { paste } from './paste.ts';
import { textOf } from './samples.ts';

/** Written out, so that the test does not lean on the same classes as the code. */
function isObeyed(code: number): boolean {
  const ranges: [number, number][] = [
    [0x00, 0x1f],
    [0x7f, 0x9f],
    [0xad, 0xad],
    [0x61c, 0x61c],
    [0x180e, 0x180e],
    [0x200b, 0x200f],
    [0x2028, 0x202e],
    [0x2060, 0x206f],
    [0xd800, 0xdfff],
    [0xfeff, 0xfeff],
    [0xfff9, 0xfffb],
    [0xe0000, 0xe007f],
  ];
  return ranges.some(([first, last]) => code >= first && code <= last);
}

/** Where a build system begins to obey: anywhere, or at the beginning of a line. */
const orders = /##[\w.-]*\[|^\s*::[a-z]/i;

const nasty = fc.string({
  unit: fc.oneof(
    fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code)),
    fc.constantFrom('\u001b[2J', '\u009b31m', '\u202e', '\u2028', '\ud800', '\u200b', '##[', '##vso[', '…', 'a'),
    fc.constantFrom('#', '[', ':', '::', '::error::', '::set-env name=', '##my.tool-2[', '###vso[', '\n', ' '),
  ),
});

describe('safeText', () => {
  test.each([
    ['plain text', 'plain text'],
    ['Größe 大きい ❤️ 🎉', 'Größe 大きい ❤️ 🎉'],
    ['\u001b[2Jboom', '\\x1b[2Jboom'],
    ['\u009b31m', '\\x9b31m'],
    ['a\nb\r\tc\0\u007f', 'a\\nb\\r\\tc\\x00\\x7f'],
    ['user\u202egnp.exe', 'user\\u202egnp.exe'],
    ['a\u2028b\u2029c', 'a\\u2028b\\u2029c'],
    ['zero\u200bwidth\u200d\ufeff', 'zero\\u200bwidth\\u200d\\ufeff'],
    ['tag\u{e0041}', 'tag\\u{e0041}'],
    ['half \ud83c end', 'half \\ud83c end'],
    ['##[error]x ##vso[task.complete]', '#\\x23[error]x #\\x23vso[task.complete]'],
    ['###vso[x ##teamcity[x ##my.tool-2[x', '##\\x23vso[x #\\x23teamcity[x #\\x23my.tool-2[x'],
    ['::error::boom', '\\x3a:error::boom'],
    [' ::SET-env name=PATH::/tmp', ' \\x3a:SET-env name=PATH::/tmp'],
    ['a::b and 16::9, std::move', 'a::b and 16::9, std::move'],
    ['::9', '::9'],
    ['## heading [1]', '## heading [1]'],
  ])('shows %j as %j', (text, shown) => {
    expect(safeText(text)).toBe(shown);
  });

  test.each([
    ['abcdef', 6, 'abcdef'],
    ['abcdefg', 6, 'abcde…'],
    ['abcd\u001b', 6, 'abcd…'],
    ['ab\u001b', 6, 'ab\\x1b'],
    ['ab\u001bc', 6, 'ab…'],
    ['🎉🎉🎉', 4, '🎉…'],
    ['abc', 1, '…'],
    ['abc', 0, ''],
    ['', 0, ''],
  ])('cuts %j at %i without breaking a character or an escape', (text, maxLength, shown) => {
    expect(safeText(text, maxLength)).toBe(shown);
  });

  forAll([nasty, fc.integer({ min: 0, max: 60 })], 2000)(
    'never holds a character that a terminal obeys, and keeps to its length',
    (text, maxLength) => {
      const safe = safeText(text, maxLength);
      expect(safe.length).toBeLessThanOrEqual(maxLength);
      expect([...safe].filter((character) => isObeyed(character.codePointAt(0) ?? 0))).toEqual([]);
      expect(safe).not.toMatch(orders);
    },
  );
});

describe('safeJson', () => {
  forAll([fc.dictionary(nasty, nasty)], 1000)('parses to the same value and holds no terminal control', (value) => {
    const text = safeJson(value);
    expect(JSON.parse(text)).toEqual(value);
    expect([...text].filter((character) => isObeyed(character.codePointAt(0) ?? 0))).toEqual([]);
    expect(text).not.toMatch(orders);
    expect(text).not.toMatch(/::[a-z][\w-]*(\s[^\n]*?)?::/i);
  });

  it('holds no order to a build system, as a key or as a value', () => {
    const value = { '##vso[task.x]': '::set-env name=PATH::/tmp', plain: 'a::b ## [x] 16:9' };
    const text = safeJson([value]);
    expect(text).toBe('[{"#\\u0023vso[task.x]":":\\u003aset-env name=PATH::/tmp","plain":"a::b ## [x] 16:9"}]');
    expect(JSON.parse(text)).toEqual([value]);
  });
});

test.each([
  ['hero@de,16:9', 'hero@de,16:9'],
  ['hero@größe/2', 'hero@größe/2'],
  ['my file.yaml', "'my file.yaml'"],
  ["a'b", "'a'\\''b'"],
  ['$(rm)', "'$(rm)'"],
  ['', "''"],
])('shellWord writes %j as %s', (text, word) => {
  expect(shellWord(text)).toBe(word);
});

function tableText(columns: readonly Column[], rows: readonly (readonly Text[])[], width?: number): string {
  return textOf([table(columns, rows)], width);
}

const columns: Column[] = [
  { title: 'id' },
  { title: 'credits', align: 'right' },
  { title: 'note', least: 6 },
  { title: 'path', least: 8, cut: 'middle' },
];
const rows = [
  ['job-1', '5', 'a long note that goes on', 'images/hero/at/the/end.png'],
  ['job-22', '?', '', 'a.png'],
];

describe('tableText', () => {
  test('a file or a pipe gets everything, in columns of spaces', () => {
    expect(tableText(columns, rows)).toMatchInlineSnapshot(`
      "id      credits  note                      path
      job-1         5  a long note that goes on  images/hero/at/the/end.png
      job-22        ?                            a.png
      "
    `);
  });

  test('a terminal gets what fits; what people copy is never cut', () => {
    expect(tableText(columns, rows, 45)).toMatchInlineSnapshot(`
      "id      credits  note           path
      job-1         5  a long note …  images…nd.png
      job-22        ?                 a.png
      "
    `);
  });

  test('empty columns are left out, and no rows are no text', () => {
    expect(tableText(columns, [['a', '', '', 'x']])).toBe('id  path\na   x\n');
    expect(tableText(columns, [])).toBe('');
  });

  test('strings from elsewhere do nothing to a terminal or a build system', () => {
    const text = tableText([{ title: 'id' }, { title: 'x' }], [['::error::\u001b[31m', 'a\n::b\tc']]);
    expect(text).toBe('id                    x\n\\x3a:error::\\x1b[31m  a\\n::b\\tc\n');
  });

  const cell = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 30 }), fc.constantFrom('::stop::', '\t', '\u001b[1m'));
  forAll([fc.array(fc.tuple(cell, cell, cell, cell), { minLength: 1 }), fc.integer({ min: 20, max: 90 })], 200)(
    'whatever the strings are, a table fits or becomes blocks, and has no tabs',
    (all, width) => {
      const text = tableText(columns, all, width);
      expect(text).not.toContain('\t');
      const [head = '', ...lines] = text.split('\n');
      const isTable = columns.filter(({ title }) => head.includes(title)).length > 1;
      if (isTable) for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width);
    },
  );
});

/** Names that would end the text, the line or the label where they stand, or be read as HTML or Markdown. */
const hostile = [
  '</text><script>alert(1)</script>',
  '"]; click n0 "javascript:alert(1)"',
  '%%{init: {"theme":"dark"}}%%',
  'a`b` **c** #quot; &lt;',
  'line\u2028break\u202e',
];

test('nothing in a name means anything to Mermaid', () => {
  const { steps, ...graph } = graphOf(
    'version: 1\nname: names\ntasks:\n  a: { kind: music, takes: 5, with: { prompt: x, model: song-7.5 } }\n',
  );
  const named = { ...graph, steps: steps.map((step, index) => ({ ...step, address: `a@${hostile[index]}` })) };
  const text = mermaidText(situate(named, { version: 2, steps: new Map() }), { selected: undefined, bySteps: true });
  const [start, title, ...nodes] = (text ?? '').trimEnd().split('\n');
  expect([start, title]).toEqual(['flowchart LR', '  accTitle: names']);
  expect(nodes).toHaveLength(hostile.length);
  for (const node of nodes) expect(node).toMatch(/^ {2}n\d\["(?:[\p{L}\p{N} .,/@+·…-]|#\d+;|<br\/>)+"\]$/u);
});

const now = Date.parse('2030-01-31T12:00:00Z');
const day = 86_400_000;

test.each([
  [0, '0 s'],
  [59_999, '59 s'],
  [60_000, '1 min'],
  [3_599_999, '59 min'],
  [3_600_000, '1 h'],
  [47 * 3_600_000, '47 h'],
  [2 * day, '2 d'],
  [-5, '0 s'],
])('%d ms are %s', (ms, text) => {
  expect(spanText(ms)).toBe(text);
});

test.each([
  ['2030-01-31T11:00:00Z', '1 h'],
  ['2030-01-31T13:00:00Z', '0 s'],
  ['yesterday', '?'],
  [undefined, '?'],
])('the age of %s is %s', (time, text) => {
  expect(ageText(time, now)).toBe(text);
});

describe('accounts', () => {
  test.each([
    [undefined, 'unknown'],
    ['soon', 'unknown'],
    ['2030-01-31T12:00:00Z', 'past'],
    ['2030-02-07T12:00:00Z', 'soon'],
    ['2030-02-07T12:00:01Z', 'valid'],
  ])('one that expires at %s is %s', (expiresAt, expiry) => {
    const row = { id: 'a', provider: 'x', name: '', username: '', ...(expiresAt !== undefined && { expiresAt }) };
    expect(accountsJson([row], now)).toMatchObject({ accounts: [{ expiry }] });
  });

  test('are shown with what to write into a post, and when they end', () => {
    const rows = [
      { id: 'a1', provider: 'google', name: 'Lamp TV', username: '@lamps', expiresAt: '2030-01-29T12:00:00Z' },
      { id: 'a2', provider: 'tiktok', name: 'Lamps', username: 'lamps', expiresAt: '2030-02-03T12:00:00Z' },
      { id: 'a3', provider: 'bluesky', name: '', username: '', expiresAt: '2030-12-24T12:00:00Z' },
      { id: 'a4', provider: 'threads', name: 'x', username: 'y' },
    ];
    expect(textOf(accountsView(rows, now))).toMatchInlineSnapshot(`
      "id  platform  name     username  expires
      a1  YouTube   Lamp TV  @lamps    2030-01-29, expired
      a2  TikTok    Lamps    @lamps    2030-02-03, soon
      a3  Bluesky                      2030-12-24
      a4  Threads   x        @y        ?
      "
    `);
    expect(accountsJson(rows.slice(0, 1), now)).toEqual({
      mediabatch: 'accounts',
      version: 1,
      accounts: [{ ...rows[0], platform: 'YouTube', expiry: 'past' }],
    });
  });
});

test('the doctor groups findings, and says what to do', () => {
  const findings: Finding[] = [
    { about: 'environment', state: 'ok', text: 'Node' },
    { about: 'locks', state: 'warning', text: 'torn', hint: 'run again' },
    { about: 'environment', state: 'problem', text: 'no key\u001b[2J', exit: 77 },
  ];
  expect(textOf(doctorView(findings, paste))).toMatchInlineSnapshot(`
    "environment
      ok       Node
      problem  no key\\x1b[2J
    locks
      warning  torn
               → run again

    1 problem, 1 warning
    "
  `);
  expect(textOf(doctorView(findings.slice(0, 1), paste))).toContain('no problems');
  expect(doctorJson(findings, 77, paste)).toMatchObject({ mediabatch: 'doctor', version: 1, exit: 77 });
});
