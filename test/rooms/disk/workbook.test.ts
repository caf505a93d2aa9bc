import { deflateRawSync } from 'node:zlib';
import { describe, expect, it, test } from 'vitest';
import { readWorkbook } from '../../../src/disk/workbook/read-workbook.ts';
import { writeWorkbook } from '../../../src/disk/workbook/write-workbook.ts';
import { zip } from '../../../src/disk/workbook/zip.ts';
import { sheetXml, workbook, workbookParts } from '../../rig/workbook.ts';

/** The cells of the only sheet. */
async function cellsOf(cells: string[][], merged: string[] = []) {
  const read = await readWorkbook(workbook({ Texts: sheetXml(cells, merged) }), [undefined]);
  if ('problem' in read) throw new Error(read.problem);
  return { cells: read.sheets[0]?.cells, faults: read.sheets[0]?.faults };
}

describe('values of a workbook', () => {
  test.each([
    ['a text', ['Licht &amp; Raum '], 'Licht & Raum '],
    ['a number', ['<c r="A1"><v>19.989999999999998</v></c>'], '19.99'],
    ['a date', ['<c r="A1" s="1"><v>46352</v></c>'], '2026-11-26'],
    ['a date with a time', ['<c r="A1" s="1"><v>46352.354166666664</v></c>'], '2026-11-26T08:30:00'],
    ['yes', ['<c r="A1" t="b"><v>1</v></c>'], 'true'],
    ['a formula that was calculated', ['<c r="A1" t="str"><f>B1&amp;C1</f><v>AB</v></c>'], 'AB'],
    ['a formula that gives nothing', ['<c r="A1" t="str"><f>B1</f><v></v></c>', 'x'], ''],
  ])('%s', async (_name, row, expected) => {
    const { cells, faults } = await cellsOf([row]);
    expect(cells?.[0]?.[0]).toBe(expected);
    expect(faults).toEqual([]);
  });

  it('finds a formula that nobody calculated, also where a library left an empty value', async () => {
    for (const value of ['', '<v/>', '<v></v>']) {
      const { faults } = await cellsOf([[`<c r="A1"><f>1+1</f>${value}</c>`]]);
      expect(faults).toEqual([{ row: 1, column: 1, is: 'formula' }]);
    }
  });

  it('gives all cells that are merged downwards the value of the first', async () => {
    const rowsWith = (sku: string) => [
      ['lamp', '1'],
      [sku, '2'],
    ];
    expect((await cellsOf(rowsWith(''), ['A1:A2'])).cells).toEqual(rowsWith('lamp'));
  });

  it('names cells that nobody knows the value of', async () => {
    const row = ['<c r="A1" t="e"><f>1/0</f><v>#DIV/0!</v></c>', '<c r="B1"><f>A1</f></c>', 'x'];
    row.push('', '', '<c r="F1"><v>1.2345678901234499E+17</v></c>', '<c r="G1"><v>4006381333931</v></c>');
    expect((await cellsOf([row], ['C1:D1', 'D1:E1'])).faults).toEqual([
      { row: 1, column: 1, is: 'error', shows: '#DIV/0!' },
      { row: 1, column: 2, is: 'formula' },
      { row: 1, column: 6, is: 'digits' },
      { row: 1, column: 3, is: 'merged' },
    ]);
  });
});

it('reads the sheets that are asked for, and names those that a person sees', async () => {
  const book = workbook({ Notes: sheetXml([['a']]), 'A &amp; B': sheetXml([['b']]) });
  const read = await readWorkbook(book, ['A & B']);
  expect(read).toMatchObject({ names: ['Notes', 'A & B'], sheets: [{ name: 'A & B', cells: [['b']] }] });
  expect(await readWorkbook(book, [undefined])).toEqual({ names: ['Notes', 'A & B'], sheets: [] });
});

describe('a workbook that would harm its reader', () => {
  const rows = (...cells: string[][]) => workbook({ T: sheetXml(cells) });
  const merged = () => workbook({ T: sheetXml(Array(2000).fill(['x']), Array(1000).fill('A1:A2000')) });
  const cell = (address: string) => `<c r="${address}"><v>1</v></c>`;

  /** A part that unpacks to more than the archive says. */
  function bomb(): Buffer {
    const packed = deflateRawSync(Buffer.alloc(64 * 1024 ** 2));
    const book = zip(new Map([...workbookParts({ Texts: sheetXml([['a']]) }), ['xl/sharedStrings.xml', packed]]));
    book.writeUInt16LE(8, book.lastIndexOf(Buffer.from('PK\u0001\u0002', 'latin1')) + 10);
    return book;
  }

  test.each<[string, () => Buffer, string]>([
    ['a bomb', bomb, 'holds more than 12 MiB when it is unpacked'],
    ['a cell in the billionth row', () => rows([cell('A1000000000')]), 'beyond row 1048576'],
    ['a row of that number', () => workbook({ T: '<row r="1000000000"></row>' }), 'beyond row 1048576'],
    ['a cell in column 300,000', () => rows([cell('QAAA1')]), 'or column 16384'],
    ['cells far apart', () => rows([cell('A1'), cell('XFD1')], [cell('A900000')]), 'too many cells'],
    ['merged cells without end', merged, 'too many merged cells'],
    ['a torn archive', () => rows(['a']).subarray(0, 500), 'is damaged'],
    ['another file', () => Buffer.from('sku,name\n'), 'is not a workbook: it begins with "sku,name'],
    ['an empty file', () => Buffer.alloc(0), 'is empty'],
    ['an archive of something else', () => zip(new Map([['a.xml', Buffer.from('<a/>')]])), 'it has no sheets'],
    ['an old workbook', () => Buffer.from('d0cf11e0a1b11ae1', 'hex'), 'save it as .xlsx without a password'],
    ['a sheet that is no XML', () => workbook({ T: `<sheetData><row r="1">${cell('A1')}<c r="B1"` }), 'cannot be read'],
  ])('%s is told', async (_name, make, expected) => {
    expect(await readWorkbook(make(), [undefined])).toEqual({ problem: expect.stringContaining(expected) });
  });
});

test('a written workbook has the texts and numbers that it was given', async () => {
  const texts = ['007', '=1+1', ' a & <b> "c" ', 'two\nlines', '😀', '1e5', '\u0000', 'x'.repeat(40_000)];
  const read = await readWorkbook(writeWorkbook([texts, [1.5, '', 2]], 'outputs') ?? new Uint8Array(), ['outputs']);
  const [first = [], second] = 'sheets' in read ? (read.sheets[0]?.cells ?? []) : [];
  expect(first.slice(0, 7)).toEqual([...texts.slice(0, 6), '\ufffd']);
  expect(first[7]).toHaveLength(32_767);
  expect(second?.slice(0, 3)).toEqual(['1.5', '', '2']);
});

test('leading zeros and the percent sign of a format are a part of the value, as in a CSV export', async () => {
  const cells = ['12', '12', '0.25', '0.125'].map((value, style) => {
    return `<c r="${'ABCD'[style]}1" s="${style}"><v>${value}</v></c>`;
  });
  const parts = workbookParts({ T: sheetXml([cells]) });
  const styles =
    '<numFmts><numFmt numFmtId="164" formatCode="00000"/><numFmt numFmtId="165" formatCode="0.0%"/></numFmts>' +
    '<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="9"/><xf numFmtId="165"/></cellXfs>';
  parts.set('xl/styles.xml', Buffer.from(`<styleSheet>${styles}</styleSheet>`));
  const read = await readWorkbook(zip(parts), ['T']);
  expect('sheets' in read && read.sheets[0]?.cells).toEqual([['12', '00012', '25%', '12.5%']]);
});
