// After the compiler: puts the files that it does not carry beside the code that reads them.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';

const assets = new URL('../src/sandbox/assets/', import.meta.url);
cpSync(assets, new URL('../dist/sandbox/assets/', import.meta.url), { recursive: true });

const pages = new URL('../src/report/diagnostics/code-pages/', import.meta.url);
cpSync(pages, new URL('../dist/report/diagnostics/code-pages/', import.meta.url), { recursive: true });

// Letters for contact sheets, in the parts by script that their publisher has made, each with the licence of its makers.
// Unpacked, because what draws them takes no packed fonts.
const fonts = {
  'noto-sans': ['latin', 'latin-ext', 'cyrillic', 'cyrillic-ext', 'greek', 'greek-ext', 'vietnamese', 'devanagari'],
  'noto-sans-arabic': ['arabic'],
  'noto-sans-hebrew': ['hebrew'],
  'noto-sans-thai': ['thai'],
};
const fontsFolder = new URL('../dist/review/sheet/fonts/', import.meta.url);
mkdirSync(fontsFolder, { recursive: true });
for (const [family, scripts] of Object.entries(fonts)) {
  const source = new URL(`../node_modules/@fontsource/${family}/`, import.meta.url);
  for (const script of scripts) {
    const name = `${family}-${script}-400-normal`;
    const packed = readFileSync(new URL(`files/${name}.woff`, source));
    writeFileSync(new URL(`${name}.ttf`, fontsFolder), unpackFont(packed));
  }
  cpSync(new URL('LICENSE', source), new URL(`${family}.LICENSE.txt`, fontsFolder));
}

cpSync(new URL('../src/review/sheet/fonts.conf', import.meta.url), new URL('fonts.conf', fontsFolder));

/** OpenType from WOFF 1.0: the same tables, each packed by itself. */
function unpackFont(packed) {
  const [header, entry, packedHeader, packedEntry] = [12, 16, 44, 20];
  const count = packed.readUInt16BE(12);
  const font = Buffer.alloc(packed.readUInt32BE(16));
  packed.copy(font, 0, 4, 8);
  font.writeUInt16BE(count, 4);
  let end = header + count * entry;
  for (let index = 0; index < count; index += 1) {
    const [tag, offset, packedLength, length, sum] = [0, 4, 8, 12, 16].map((field) =>
      packed.readUInt32BE(packedHeader + index * packedEntry + field),
    );
    const table = packed.subarray(offset, offset + packedLength);
    font.set(packedLength < length ? inflateSync(table) : table, end);
    for (const [place, value] of [tag, sum, end, length].entries()) {
      font.writeUInt32BE(value, header + index * entry + place * 4);
    }
    end += (length + 3) & ~3;
  }
  return font;
}

cpSync(new URL('../src/manual/', import.meta.url), new URL('../dist/manual/', import.meta.url), { recursive: true });
