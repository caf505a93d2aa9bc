// After the compiler: puts the files that it does not carry beside the code that reads them.
import { cpSync } from 'node:fs';

const assets = new URL('../src/sandbox/assets/', import.meta.url);
cpSync(assets, new URL('../dist/sandbox/assets/', import.meta.url), { recursive: true });

const pages = new URL('../src/report/diagnostics/code-pages/', import.meta.url);
cpSync(pages, new URL('../dist/report/diagnostics/code-pages/', import.meta.url), { recursive: true });

// Letters for contact sheets, in the parts by script that their publisher has made, each with the licence of its makers.
const fonts = {
  'noto-sans': ['latin', 'latin-ext', 'cyrillic', 'cyrillic-ext', 'greek', 'greek-ext', 'vietnamese', 'devanagari'],
  'noto-sans-arabic': ['arabic'],
  'noto-sans-hebrew': ['hebrew'],
  'noto-sans-thai': ['thai'],
};
const fontsFolder = new URL('../dist/review/sheet/fonts/', import.meta.url);
for (const [family, scripts] of Object.entries(fonts)) {
  const source = new URL(`../node_modules/@fontsource/${family}/`, import.meta.url);
  for (const script of scripts) {
    const name = `${family}-${script}-400-normal.woff`;
    cpSync(new URL(`files/${name}`, source), new URL(name, fontsFolder));
  }
  cpSync(new URL('LICENSE', source), new URL(`${family}.LICENSE.txt`, fontsFolder));
}

cpSync(new URL('../src/manual/', import.meta.url), new URL('../dist/manual/', import.meta.url), { recursive: true });
