// After the compiler: puts the files that it does not carry beside the code that reads them.
import { cpSync } from 'node:fs';

const assets = new URL('../src/sandbox/assets/', import.meta.url);
cpSync(assets, new URL('../dist/sandbox/assets/', import.meta.url), { recursive: true });

const pages = new URL('../src/report/diagnostics/code-pages/', import.meta.url);
cpSync(pages, new URL('../dist/report/diagnostics/code-pages/', import.meta.url), { recursive: true });

cpSync(new URL('../src/manual/', import.meta.url), new URL('../dist/manual/', import.meta.url), { recursive: true });
