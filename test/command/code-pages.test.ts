import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { titles } from '../../src/contract/failure.ts';
import { pageText } from '../../src/report/manual/page-text.ts';
import { makeStyle } from '../../src/report/style.ts';
import { products, workplaceForEach } from './in-process.ts';

const pages = fileURLToPath(new URL('../../src/report/diagnostics/code-pages/', import.meta.url));
const names = readdirSync(pages).sort();
const style = makeStyle(false);

/**
 * A page of `mediabatch help CODE`: a title, the cause, examples and `Fix: …`. A fenced block is a file, with its name
 * after the language. ```yaml tasks is a fragment of `tasks`, and ```yaml manifest a fragment of the manifest; ```link
 * is a symbolic link; ```run COMMAND replaces `mediabatch validate campaign.yaml`.
 */
const pageOf = (name: string) => {
  const markdown = readFileSync(join(pages, name), 'utf8');
  const [, code = '', title = ''] = /^# (MB\d{4}): (.+)$/m.exec(markdown) ?? [];
  const parts = [...markdown.matchAll(/^```(\S+) (.+)\n([\s\S]*?)^```$/gm)].map(([, is, called = '', text = '']) => ({
    is,
    name: called,
    text,
  }));
  return { markdown, code, title, parts };
};

test('every code has a page, and every page a code; most have an example', () => {
  expect(names).toEqual(
    Object.keys(titles)
      .sort()
      .map((code) => `${code}.md`),
  );
  const shown = names.filter((name) => pageOf(name).parts.length > 0);
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

const place = workplaceForEach();

/** Runs the example of a page, without a service, and returns what it prints as errors. */
async function runExample(parts: ReturnType<typeof pageOf>['parts']): Promise<string> {
  if (parts.some(({ name }) => name === 'campaign.lock.jsonl')) place.write('campaign.yaml', `${head}tasks:\n${hero}`);
  if (parts.some(({ name }) => /^(tasks|manifest)$/.test(name))) place.write('products.csv', products);
  let command = 'mediabatch validate campaign.yaml';
  for (const part of parts) {
    if (part.is === 'run') command = part.name;
    else if (part.is === 'link') symlinkSync(part.text.trim(), part.name);
    else place.write(...fileOf(part));
  }
  vi.stubEnv('MEDIABATCH_BASE_URL', undefined);
  vi.stubEnv('MEDIABATCH_API_KEY', undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
  return (await place.run(...command.split(' ').slice(1))).err;
}

test.each(names)('%s: the example is reported with this code only', async (name) => {
  const { markdown: written, code, title, parts } = pageOf(name);
  expect(`${code}.md`).toBe(name);
  expect(title).toBe(titles[code]);
  for (const code of written.match(/\bMB\d{4}\b/g) ?? []) expect(titles).toHaveProperty(code);
  expect(written).toMatch(/^Fix: /m);
  expect(written.trimEnd().split('\n').length).toBeLessThanOrEqual(16);
  // Without an example are those that need a service, another run or an answer of the user.
  if (parts.length === 0) return;
  const err = await runExample(parts);
  expect([...new Set(err.match(/\bMB\d{4}\b/g))], err).toEqual([code]);
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
