import { nameCell } from '../../ground/diagnostic.ts';
import { zip } from './zip.ts';

/** Maximum number of UTF-16 units that spreadsheet programs accept in a cell. */
const longestCell = 32_767;
const mostRows = 2 ** 20;

/**
 * Application name that mediabatch writes into a workbook. mediabatch may replace a workbook with this name
 * (`isOwnList`). A spreadsheet program removes the name when a user saves the file.
 */
const application = 'mediabatch';

const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const office = 'http://schemas.openxmlformats.org/officeDocument/2006';
const packages = 'http://schemas.openxmlformats.org/package/2006';
const types = 'application/vnd.openxmlformats-officedocument';
const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

/**
 * Makes a workbook with one sheet. Texts are marked as texts, so that no program reads them as numbers, dates or
 * formulas. Returns `undefined` if the rows do not fit in a sheet.
 */
export function writeWorkbook(rows: readonly (readonly (string | number)[])[], sheet: string): Uint8Array | undefined {
  if (rows.length > mostRows) return undefined;
  const lines = rows.map((cells, row) => {
    const written = cells.map((cell, column) => cellXml(cell, nameCell(row + 1, column + 1))).join('');
    return `<row r="${row + 1}">${written}</row>`;
  });
  const parts: [name: string, xml: string][] = [
    [
      '[Content_Types].xml',
      `<Types xmlns="${packages}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/docProps/app.xml" ContentType="${types}.extended-properties+xml"/><Override PartName="/xl/workbook.xml" ContentType="${types}.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${types}.spreadsheetml.worksheet+xml"/></Types>`,
    ],
    [
      'docProps/app.xml',
      `<Properties xmlns="${office}/extended-properties"><Application>${application}</Application></Properties>`,
    ],
    [
      '_rels/.rels',
      `<Relationships xmlns="${packages}/relationships"><Relationship Id="r1" Type="${office}/relationships/officeDocument" Target="xl/workbook.xml"/><Relationship Id="r2" Type="${office}/relationships/extended-properties" Target="docProps/app.xml"/></Relationships>`,
    ],
    [
      'xl/workbook.xml',
      `<workbook xmlns="${main}" xmlns:r="${office}/relationships"><sheets><sheet name="${escapeXml(sheet)}" sheetId="1" r:id="r1"/></sheets></workbook>`,
    ],
    [
      'xl/_rels/workbook.xml.rels',
      `<Relationships xmlns="${packages}/relationships"><Relationship Id="r1" Type="${office}/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
    ],
    ['xl/worksheets/sheet1.xml', `<worksheet xmlns="${main}"><sheetData>${lines.join('')}</sheetData></worksheet>`],
  ];
  return zip(new Map(parts.map(([name, xml]) => [name, Buffer.from(head + xml)])));
}

function cellXml(cell: string | number, address: string): string {
  if (cell === '') return '';
  if (typeof cell === 'number') return `<c r="${address}"><v>${cell}</v></c>`;
  const text = cell.length > longestCell ? `${cell.slice(0, longestCell - 1)}…` : cell;
  return `<c r="${address}" t="inlineStr"><is><t xml:space="preserve">${escapeXml(text)}</t></is></c>`;
}

/**
 * Escapes a text for XML. Replaces characters that XML cannot contain with U+FFFD. Escapes texts such as `_x0041_`,
 * which a program would read as `A`.
 */
function escapeXml(text: string): string {
  return text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[^\t\n\x20-\uffff]|[\ufffe\uffff]/g, '\ufffd')
    .replaceAll(/_(?=x[0-9a-f]{4}_)/gi, '_x005F_')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
