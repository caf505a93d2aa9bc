import { createHash } from 'node:crypto';
import type { PackedData } from '../../contract/report.ts';
import type { ReviewData } from '../../contract/review.ts';
import type { Json } from '../../ground/json.ts';
import { isMap } from '../../ground/values.ts';
import { escapeHtml } from '../serve/page-files.ts';

export const galleryStart = '<!doctype html>\n<!-- mediabatch report -->\n';

export const unfinishedHtml = `${galleryStart}<html lang="en">
<head><meta charset="utf-8"><title>not finished</title></head>
<body><p>This gallery is being written. If no process is writing it, run mediabatch report again.</p></body>
</html>
`;

const longData = 1 << 19;
const closed = "default-src 'none'; base-uri 'none'; form-action 'none'";

export function folderHtml(data: ReviewData): string {
  const policy = `${closed}; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'`;
  const head = '<link rel="icon" href="icon.svg">\n<link rel="stylesheet" href="page.css">';
  return pageHtml(data, { policy, head, script: '<script src="page.js"></script>' });
}

export function singleHtml(data: ReviewData, { script, styles }: { script: string; styles: string }): string {
  // In strings, regular expressions and templates of the script, `\x3c` means the same as `<`.
  const inline = script.replaceAll(/<(?=\/script|!--|script)/gi, '\\x3c');
  const policy = `${closed}; script-src ${hashOf(inline)}; style-src ${hashOf(styles)}; img-src data:`;
  return pageHtml(data, { policy, head: `<style>${styles}</style>`, script: `<script>${inline}</script>` });
}

function pageHtml(data: ReviewData, parts: { policy: string; head: string; script: string }): string {
  const name = escapeHtml(data.campaign);
  return `${galleryStart}<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${parts.policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${name} – gallery</title>
${parts.head}
</head>
<body>
<div id="app"><h1>${name}</h1></div>
<noscript><p>This gallery needs JavaScript.</p></noscript>
<script type="application/json" id="data">${dataInHtml(data)}</script>
${parts.script}
</body>
</html>
`;
}

function dataInHtml(data: ReviewData): string {
  const plain = JSON.stringify(data);
  return safeInHtml(plain.length < longData ? plain : JSON.stringify(pack(JSON.parse(plain) as Json)));
}

function safeInHtml(json: string): string {
  return json.replace(
    /[<>\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

type Packed = PackedData['data'];

const leastText = 8;

function pack(data: Json): PackedData {
  const texts = new Map<string, number>();
  const shapes = new Map<string, number>();
  const repeated = findRepeated(data);
  const packed = (value: Json): Packed => {
    if (typeof value === 'string') {
      if (!repeated.has(value)) return value;
      return { t: numberOf(texts, value) };
    }
    if (Array.isArray(value)) return [-1, ...value.map(packed)];
    if (!isMap(value)) return value;
    return [numberOf(shapes, JSON.stringify(Object.keys(value))), ...Object.values(value).map(packed)];
  };
  const all = packed(data);
  return {
    version: 1,
    shapes: [...shapes.keys()].map((names) => JSON.parse(names) as string[]),
    texts: [...texts.keys()],
    data: all,
  };
}

function findRepeated(data: Json): ReadonlySet<string> {
  const [once, repeated] = [new Set<string>(), new Set<string>()];
  const look = (value: Json): void => {
    if (typeof value === 'string') {
      if (value.length < leastText) return;
      if (once.has(value)) repeated.add(value);
      else once.add(value);
    } else if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) look(one);
  };
  look(data);
  return repeated;
}

function numberOf(numbers: Map<string, number>, text: string): number {
  const known = numbers.get(text) ?? numbers.size;
  numbers.set(text, known);
  return known;
}
