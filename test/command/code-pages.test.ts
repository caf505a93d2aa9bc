import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { titles } from '../../src/contract/failure.ts';
import { pageText } from '../../src/report/manual/page-text.ts';
import { makeStyle } from '../../src/report/style.ts';
import { temporaryFolder } from '../rig/command.ts';
import { bufferTerminal } from './buffer-terminal.ts';

const pages = fileURLToPath(new URL('../../src/report/diagnostics/code-pages/', import.meta.url));
const names = readdirSync(pages).sort();
const style = makeStyle(false);

/**
 * A page of `mediabatch help CODE`, read from `code-pages/`: a title, the cause, examples and `Fix: …`.
 * A fenced block is a file, with its name after the language. ```yaml tasks is a fragment of `tasks`, and
 * ```yaml manifest a fragment of the manifest. ```run COMMAND replaces `mediabatch validate campaign.yaml`.
 */
interface CodePage {
  code: string;
  title: string;
  parts: PagePart[];
}

type PagePart =
  | { is: 'text'; text: string }
  | { is: 'file'; name: string; text: string }
  /** A symbolic link, which no file block can show. */
  | { is: 'link'; name: string; to: string }
  | { is: 'run'; command: string };

/** Reads a page. @throws when it is malformed, which is a bug */
function readCodePage(markdown: string): CodePage {
  const lines = markdown.split('\n');
  const title = /^# (MB\d{4}): (.+)$/.exec(lines.shift() ?? '');
  if (title === null) throw new Error('internal error: the page of a code has no title');
  const parts: PagePart[] = [];
  for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
    const fence = /^```(\S+) (.+)$/.exec(line);
    if (fence !== null) {
      const end = lines.indexOf('```');
      if (end === -1) throw new Error('internal error: a fence is not closed in the page of a code');
      parts.push(partOf(fence[1] ?? '', fence[2] ?? '', lines.splice(0, end + 1).slice(0, -1)));
    } else if (line !== '') parts.push({ is: 'text', text: line });
  }
  return { code: title[1] ?? '', title: title[2] ?? '', parts };
}

function partOf(language: string, name: string, lines: string[]): PagePart {
  const text = lines.map((line) => `${line}\n`).join('');
  switch (language) {
    case 'run':
      return { is: 'run', command: name };
    case 'link':
      return { is: 'link', name, to: text.trim() };
    default:
      return { is: 'file', name, text };
  }
}

const hasExample = ({ parts }: CodePage) => parts.some(({ is }) => is !== 'text');

test('every code has a page, and every page a code; most have an example', () => {
  expect(names).toEqual(
    Object.keys(titles)
      .sort()
      .map((code) => `${code}.md`),
  );
  const shown = names.filter((name) => hasExample(readCodePage(readFileSync(join(pages, name), 'utf8'))));
  expect(shown.length).toBeGreaterThanOrEqual(names.length - 31);
});

const hero = '  hero:\n    kind: image\n    with:\n      prompt: A lamp on an oak table\n';
const head = 'version: 1\nname: spring\n';

/** Returns the file of a block. Fragments become a whole campaign.yaml, next to a products.csv with `sku,name`. */
function fileOf({ name, text }: { name: string; text: string }): [string, string] {
  if (name === 'tasks') return ['campaign.yaml', `${head}tasks:\n${text.replace(/^(?=.)/gm, '  ')}`];
  if (name !== 'manifest') return [name, text];
  return ['campaign.yaml', `${head}${text}${/^tasks:/m.test(text) ? '' : `tasks:\n${hero}`}`];
}

/** Runs the example of a page and returns what it prints as errors. */
async function runExample(parts: readonly PagePart[]): Promise<string> {
  const folder = temporaryFolder();
  const before = process.cwd();
  const { MEDIABATCH_BASE_URL: url, MEDIABATCH_API_KEY: key } = process.env;
  onTestFinished(() => {
    process.chdir(before);
    folder.remove();
    if (url !== undefined) process.env.MEDIABATCH_BASE_URL = url;
    if (key !== undefined) process.env.MEDIABATCH_API_KEY = key;
  });
  if (parts.some((part) => part.is === 'file' && part.name === 'campaign.lock.jsonl'))
    writeFileSync(join(folder.path, 'campaign.yaml'), `${head}tasks:\n${hero}`);
  const isFragment = parts.some((part) => part.is === 'file' && /^(tasks|manifest)$/.test(part.name));
  if (isFragment) writeFileSync(join(folder.path, 'products.csv'), 'sku,name\nlamp,Aurora Lamp\nvase,Tide Vase\n');
  let command = 'mediabatch validate campaign.yaml';
  for (const part of parts) {
    if (part.is === 'run') ({ command } = part);
    if (part.is !== 'file' && part.is !== 'link') continue;
    const [name, text] = part.is === 'file' ? fileOf(part) : [part.name, ''];
    const path = join(folder.path, name);
    mkdirSync(dirname(path), { recursive: true });
    if (part.is === 'file') writeFileSync(path, text);
    else symlinkSync(part.to, path);
  }
  process.chdir(folder.path);
  delete process.env.MEDIABATCH_BASE_URL;
  delete process.env.MEDIABATCH_API_KEY;
  const { terminal, said } = bufferTerminal();
  await main(command.split(' ').slice(1), terminal);
  return said.err;
}

test.each(names)('%s: the example is reported with this code only', async (name) => {
  const written = readFileSync(join(pages, name), 'utf8');
  const page = readCodePage(written);
  expect(`${page.code}.md`).toBe(name);
  expect(page.title).toBe(titles[page.code]);
  for (const code of written.match(/\bMB\d{4}\b/g) ?? []) expect(titles).toHaveProperty(code);
  expect(written).toMatch(/^Fix: /m);
  expect(written.trimEnd().split('\n').length).toBeLessThanOrEqual(16);
  // Without an example are those that need a service, another run or an answer of the user.
  if (!hasExample(page)) return;
  const err = await runExample(page.parts);
  expect([...new Set(err.match(/\bMB\d{4}\b/g))], err).toEqual([page.code]);
});

test('a page as it is shown', () => {
  expect(pageText(readFileSync(join(pages, 'MB1203.md'), 'utf8'), { style, width: 80 })).toMatchSnapshot();
});

test('pages fit 80 columns in their own words', () => {
  const lines = names.flatMap((name) => {
    const words = readFileSync(join(pages, name), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '');
    return pageText(words, { style, width: 80 }).split('\n');
  });
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
});
