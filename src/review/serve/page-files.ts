import { readFile } from 'node:fs/promises';

export const pageFiles: Readonly<Record<string, string>> = {
  'page.js': 'text/javascript; charset=utf-8',
  'page.css': 'text/css; charset=utf-8',
  'icon.svg': 'image/svg+xml',
};

const folders = [new URL('../../page/', import.meta.url), new URL('../../../dist/page/', import.meta.url)];

export async function readPageFile(name: string): Promise<Buffer | undefined> {
  for (const folder of folders) {
    const bytes = await readFile(new URL(name, folder)).catch(() => undefined);
    if (bytes !== undefined) return bytes;
  }
  return undefined;
}

export async function requirePageFile(name: string): Promise<Buffer> {
  const bytes = await readPageFile(name);
  if (bytes === undefined) throw new Error(`internal error: ${name} was not built`);
  return bytes;
}

export function indexHtml(campaign: string): string {
  const name = escapeHtml(campaign);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${name} – review</title>
<link rel="icon" href="icon.svg">
<link rel="stylesheet" href="page.css">
<script src="page.js" defer></script>
</head>
<body>
<div id="app"><h1>${name}</h1></div>
<noscript><p>This page needs JavaScript. Without JavaScript, decide in the terminal: mediabatch pick, reject and unpick.</p></noscript>
</body>
</html>
`;
}

export function escapeHtml(text: string): string {
  const names: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(/[&<>"]/g, (character) => names[character] ?? character);
}
