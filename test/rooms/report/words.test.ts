import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { bytesText, countOf, creditsText, elapsedText } from '../../../src/report/numbers.ts';
import { paintLine, wrap } from '../../../src/report/render/spans.ts';
import { makeStyle, wantsColor, wantsScreen } from '../../../src/report/style.ts';
import { cutMiddle, cutToWidth, displayWidth, padLeft, padRight } from '../../../src/report/text-width.ts';

function linesOf(text: string, room: number, most: number): string[] {
  const style = makeStyle(false);
  return wrap(text, { style, room }, { most, isHard: true }).map((line) => paintLine(line, style));
}

describe('widths', () => {
  test.each([
    ['', 0],
    ['abc', 3],
    ['größe', 5],
    ['e\u0301', 1],
    ['漢字', 4],
    ['한글', 4],
    ['ｱ', 1],
    ['Ａ', 2],
    ['🎉', 2],
    ['❤️', 2],
    ['❤', 1],
    ['🇩🇪', 2],
    ['“→”…', 4],
  ])('%s takes %i columns', (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });

  test.each([
    ['abcdef', 4, 'abc…'],
    ['abcd', 4, 'abcd'],
    ['漢字漢字', 4, '漢…'],
    ['漢字', 4, '漢字'],
    ['abc', 0, ''],
  ])('%s is cut to %i columns as %s', (text, width, cut) => {
    expect(cutToWidth(text, width)).toBe(cut);
  });

  test.each([
    ['abcdefghij', 7, 'abc…hij'],
    ['abcdefghij', 6, 'ab…hij'],
    ['漢字漢字漢字', 7, '漢…字'],
    ['abc', 3, 'abc'],
    ['abc', 0, ''],
  ])('%s loses its middle at %i columns as %s', (text, width, cut) => {
    expect(cutMiddle(text, width)).toBe(cut);
  });

  it('never exceeds the width, and pads exactly to it', () => {
    const text = fc.string({ unit: fc.constantFrom('a', ' ', '漢', '🎉', 'é', '::') });
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 30 }), (value, width) => {
        for (const cut of [cutToWidth(value, width), cutMiddle(value, width)]) {
          expect(displayWidth(cut)).toBeLessThanOrEqual(width);
          expect(displayWidth(padLeft(cut, width))).toBe(width);
          expect(displayWidth(padRight(cut, width))).toBe(width);
        }
        if (width < 5) return;
        const lines = linesOf(value, width, 3);
        expect(lines.length).toBeLessThanOrEqual(3);
        for (const line of lines) {
          expect(displayWidth(line)).toBeLessThanOrEqual(width);
          expect(line.startsWith('::')).toBe(false);
        }
      }),
    );
  });

  test.each([
    ['one two three', 20, ['one two three']],
    ['one two three', 8, ['one two', 'three']],
    ['one two three four', 8, ['one two', 'three …']],
    ['abcdefghijkl', 5, ['abcd', 'efgh…']],
    ['say ::error::x', 6, ['say', '\\x3a:…']],
  ])('%s is wrapped at %i', (text, width, lines) => {
    expect(linesOf(text, width, 2)).toEqual(lines);
  });
});

describe('numbers', () => {
  test.each([
    [null, '?'],
    [0, '0'],
    [9999, '9999'],
    [10_000, '10\u202f000'],
    [1_234_567, '1\u202f234\u202f567'],
    [-12_000, '-12\u202f000'],
  ])('%s credits are written %s', (credits, text) => {
    expect(creditsText(credits)).toBe(text);
  });

  test.each([
    [0, '0:00'],
    [41_999, '0:41'],
    [600_000, '10:00'],
    [3_723_000, '1:02:03'],
    [-5, '0:00'],
  ])('%i ms are written %s', (ms, text) => {
    expect(elapsedText(ms)).toBe(text);
  });

  test.each([
    [812, '812 B'],
    [1000, '1.0 kB'],
    [123_456, '123 kB'],
    [999_600, '1.0 MB'],
    [1_234_567, '1.2 MB'],
    [4_000_000_000, '4.0 GB'],
  ])('%i bytes are written %s', (bytes, text) => {
    expect(bytesText(bytes)).toBe(text);
  });

  it('says one step and two steps', () => {
    expect([countOf(1, 'step'), countOf(2, 'step'), countOf(0, 'step')]).toEqual(['1 step', '2 steps', '0 steps']);
  });
});

describe('style', () => {
  test.each([
    [{}, true, true],
    [{}, false, false],
    [{ TERM: 'dumb' }, true, false],
    [{ NO_COLOR: '1' }, true, false],
    [{ NO_COLOR: '' }, true, true],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '' }, false, true],
    [{ FORCE_COLOR: '0' }, true, false],
    [{ NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
    [{ CI: 'true' }, false, false],
    [{ CI: 'true', FORCE_COLOR: '1' }, false, true],
  ])('with %j and terminal %s, colours: %s', (env, isTerminal, wanted) => {
    expect(wantsColor(env, isTerminal)).toBe(wanted);
  });

  test.each([
    [{}, true, true],
    [{}, false, false],
    [{ CI: 'true' }, true, false],
    [{ CI: 'false' }, true, true],
    [{ TERM: 'dumb' }, true, false],
    [{ FORCE_COLOR: '1' }, false, false],
  ])('with %j and terminal %s, a screen: %s', (env, isTerminal, wanted) => {
    expect(wantsScreen(env, isTerminal)).toBe(wanted);
  });

  it('leaves texts alone without colour, and sets them off with it', () => {
    expect(makeStyle(false).red('x')).toBe('x');
    expect(makeStyle(true).red('x')).toBe('\u001b[31mx\u001b[39m');
  });
});
