import { mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { ownVersion } from '../../src/campaign/own-version.ts';
import { main } from '../../src/cli/main.ts';
import { titles } from '../../src/contract/failure.ts';
import { codePageText, type PagePart, type PageSection, readCodePage } from '../../src/report/diagnostics/code-page.ts';
import { makeStyle } from '../../src/report/style.ts';
import { temporaryFolder } from '../rig/command.ts';
import { bufferTerminal } from './buffer-terminal.ts';

const pages = fileURLToPath(new URL('../../src/report/diagnostics/code-pages/', import.meta.url));
const names = readdirSync(pages).sort();
const style = makeStyle(false);

/** They take a service, another run, or a person in the middle of it: files and one command cannot show them. */
const unsaid = [
  'MB1507',
  'MB1511',
  'MB3100',
  'MB3102',
  'MB3202',
  'MB3203',
  'MB3204',
  'MB3205',
  'MB3207',
  'MB3303',
  'MB3401',
  'MB3402',
  'MB3403',
  'MB3404',
  'MB3405',
  'MB3406',
  'MB3409',
  'MB3411',
  'MB3415',
  'MB3416',
  'MB3501',
  'MB3602',
  'MB3603',
  'MB3604',
  'MB3605',
  'MB3606',
  'MB3607',
  'MB3701',
  'MB3702',
  'MB3703',
  'MB3704',
  'MB3705',
  'MB3707',
  'MB3901',
];

test('every code has a page, and every page a code', () => {
  expect(names).toEqual(
    Object.keys(titles)
      .sort()
      .map((code) => `${code}.md`),
  );
});

/** Runs the command of a page where its files lie, and gives what a person would see. */
async function say(section: PageSection, command: string): Promise<{ code: number; err: string }> {
  const folder = temporaryFolder();
  const before = process.cwd();
  const { MEDIABATCH_BASE_URL: url, MEDIABATCH_API_KEY: key } = process.env;
  onTestFinished(() => {
    process.chdir(before);
    folder.remove();
    if (url !== undefined) process.env.MEDIABATCH_BASE_URL = url;
    if (key !== undefined) process.env.MEDIABATCH_API_KEY = key;
  });
  for (const part of section.parts) {
    if (part.is !== 'file' && part.is !== 'link') continue;
    const path = join(folder.path, part.name);
    mkdirSync(dirname(path), { recursive: true });
    if (part.is === 'file') writeFileSync(path, part.text);
    else symlinkSync(part.to, path);
  }
  process.chdir(folder.path);
  delete process.env.MEDIABATCH_BASE_URL;
  delete process.env.MEDIABATCH_API_KEY;
  const { terminal, said } = bufferTerminal();
  const code = await main(command.split(' ').slice(1), terminal);
  const shown = said.err
    .replaceAll(`${realpathSync(folder.path)}/`, '/campaigns/')
    .replaceAll(`${folder.path}/`, '/campaigns/')
    .replaceAll(`this is mediabatch ${ownVersion()}`, 'this is mediabatch 0.1.0');
  return { code, err: shown };
}

const isFile = ({ is }: PagePart) => is === 'file' || is === 'link';
const codesIn = (text: string) => [...new Set(text.match(/\bMB\d{4}\b/g))];

test.each(names)('%s: what is wrong is said, and what is right is not', async (name) => {
  const written = readFileSync(join(pages, name), 'utf8');
  const page = readCodePage(written);
  expect(`${page.code}.md`).toBe(name);
  expect(page.title).toBe(titles[page.code]);
  for (const code of page.related) expect(titles).toHaveProperty(code);
  const says = page.wrong.parts.find((part) => part.is === 'says');
  if (says?.is !== 'says') {
    expect(unsaid).toContain(page.code);
    return;
  }
  expect(unsaid).not.toContain(page.code);

  const { err } = await say(page.wrong, says.command);
  const place = written.indexOf('```says ');
  const after = written.indexOf('```\n', place + 8);
  const head = written.slice(0, written.indexOf('\n', place) + 1);
  await expect(`${head}${err}${written.slice(after)}`).toMatchFileSnapshot(join(pages, name));
  expect(codesIn(err)).toEqual([page.code]);

  const other = page.right.parts.find((part) => part.is === 'run');
  // Where it shows no files, the same ones are meant.
  const files = page.right.parts.some(isFile) || other === undefined ? page.right : page.wrong;
  const right = await say(files, other?.is === 'run' ? other.command : says.command);
  expect(codesIn(right.err), right.err).toEqual([]);
  expect(right.code, right.err).toBe(0);
});

test('a page as it is shown', () => {
  const page = readCodePage(readFileSync(join(pages, 'MB1203.md'), 'utf8'));
  expect(codePageText(page, { style, width: 80 })).toMatchSnapshot();
});

test.each(names)('%s fits 80 columns in its own words', (name) => {
  const page = readCodePage(readFileSync(join(pages, name), 'utf8'));
  const lines = codePageText({ ...page, wrong: { parts: [] }, right: { parts: [] } }, { style, width: 80 }).split('\n');
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
});
