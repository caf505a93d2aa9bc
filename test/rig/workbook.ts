import { zip } from '../../src/disk/workbook/zip.ts';
import { nameCell } from '../../src/ground/diagnostic.ts';

const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const links = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** Format 1 is a date, format 0 none. */
const styles = `<styleSheet xmlns="${main}"><cellXfs><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>`;

/** The text of a sheet: cells as texts, or as they stand in the file (`<c r="B2"><v>1</v></c>`); empty ones are left out. */
export function sheetXml(cells: readonly (readonly string[])[], merged: readonly string[] = []): string {
  const rows = cells.map((row, index) => {
    const written = row.map((cell, column) => cellXml(cell, nameCell(index + 1, column + 1))).join('');
    return `<row r="${index + 1}">${written}</row>`;
  });
  const merges = merged.map((ref) => `<mergeCell ref="${ref}"/>`).join('');
  return `<worksheet xmlns="${main}"><sheetData>${rows.join('')}</sheetData><mergeCells>${merges}</mergeCells></worksheet>`;
}

function cellXml(cell: string, address: string): string {
  if (cell === '' || cell.startsWith('<')) return cell;
  return `<c r="${address}" t="inlineStr"><is><t>${cell}</t></is></c>`;
}

/** The parts of a workbook whose sheets have these texts. */
export function workbookParts(sheets: Readonly<Record<string, string>>): Map<string, Buffer> {
  const names = Object.keys(sheets);
  const relations = names.map(
    (_, index) =>
      `<Relationship Id="rId${index + 1}" Type="${links}/worksheet" Target="worksheets/sheet${index + 1}.xml"/>`,
  );
  const listed = names.map((name, index) => `<sheet name="${name}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`);
  const texts: [string, string][] = [
    [
      'xl/_rels/workbook.xml.rels',
      `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${relations.join('')}</Relationships>`,
    ],
    ['xl/workbook.xml', `<workbook xmlns="${main}" xmlns:r="${links}"><sheets>${listed.join('')}</sheets></workbook>`],
    ['xl/styles.xml', styles],
    ...Object.values(sheets).map((xml, index): [string, string] => [`xl/worksheets/sheet${index + 1}.xml`, xml]),
  ];
  return new Map(texts.map(([name, text]) => [name, Buffer.from(text)]));
}

/** A workbook of these sheets. */
export function workbook(sheets: Readonly<Record<string, string>>): Buffer {
  return zip(workbookParts(sheets));
}
