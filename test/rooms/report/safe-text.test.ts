import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { safeJson, safeText } from '../../../src/report/safe-text.ts';
import { shellWord } from '../../../src/report/shell-word.ts';

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

  it('cuts at 500 where nothing else is said', () => {
    expect(safeText('x'.repeat(500))).toBe('x'.repeat(500));
    expect(safeText('x'.repeat(501))).toBe(`${'x'.repeat(499)}…`);
  });

  it('never holds a character that a terminal obeys, and keeps to its length', () => {
    fc.assert(
      fc.property(nasty, fc.integer({ min: 0, max: 60 }), (text, maxLength) => {
        const safe = safeText(text, maxLength);
        expect(safe.length).toBeLessThanOrEqual(maxLength);
        expect([...safe].filter((character) => isObeyed(character.codePointAt(0) ?? 0))).toEqual([]);
        expect(safe).not.toMatch(orders);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('safeJson', () => {
  it('parses to the same value and holds nothing that a terminal obeys', () => {
    fc.assert(
      fc.property(fc.dictionary(nasty, nasty), (value) => {
        const text = safeJson(value);
        expect(JSON.parse(text)).toEqual(value);
        expect([...text].filter((character) => isObeyed(character.codePointAt(0) ?? 0))).toEqual([]);
        expect(text).not.toMatch(orders);
        expect(text).not.toMatch(/::[a-z][\w-]*(\s[^\n]*?)?::/i);
      }),
      { numRuns: 1000 },
    );
  });

  it('holds no order to a build system, as a key or as a value', () => {
    const value = { '##vso[task.x]': '::set-env name=PATH::/tmp', plain: 'a::b ## [x] 16:9' };
    const text = safeJson([value]);
    expect(text).toBe('[{"#\\u0023vso[task.x]":":\\u003aset-env name=PATH::/tmp","plain":"a::b ## [x] 16:9"}]');
    expect(JSON.parse(text)).toEqual([value]);
  });

  it('keeps the line feeds of its own indentation', () => {
    expect(safeJson({ a: '\n\u009b' }, 2)).toBe('{\n  "a": "\\n\\u009b"\n}');
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
