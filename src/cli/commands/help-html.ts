import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import { renameFile } from '../../disk/fs/durable.ts';
import { lstatOrAbsent, readStart } from '../../disk/fs/plain-file.ts';
import {
  llmsText,
  manualMark,
  pageFile,
  pageHtml,
  searchHtml,
  searchScript,
  textMark,
} from '../../report/manual/page-html.ts';
import { topics } from '../../report/manual/topics.ts';
import { safeText } from '../../report/safe-text.ts';
import { readCodePages, readTopic } from '../read-manual.ts';
import type { Terminal } from '../terminal.ts';

/** Bytes within which the mark stands, at the beginning of a page. */
const markWithin = 1000;

/** The whole manual as pages and as Markdown in a folder, which is replaced as a whole. One that holds anything else is left alone (73). */
export async function helpHtml(folder: string, program: Command, terminal: Terminal): Promise<number> {
  const target = resolve(folder);
  await orRefusal(folder, () => requireOurs(target, folder));
  const beside = (what: string) => join(dirname(target), `.${basename(target)}.${randomUUID().slice(0, 8)}.${what}`);
  const [made, old] = [beside('new'), beside('old')];
  await orRefusal(folder, async () => {
    try {
      // Its parent has to be there: a folder that was mistyped is not made.
      await mkdir(made);
      const pages = new Map<string, string>();
      const texts = new Map([['llms.txt', llmsText()]]);
      for (const name of ['index', ...topics.keys()]) {
        const page = await readTopic(name, program);
        const whole = name === 'codes' ? `${page}\n${await readCodePages()}` : page;
        pages.set(name, pageHtml(name, whole));
        texts.set(`${name}.md`, pageFile(whole));
      }
      const digest = createHash('sha256').update(searchScript).digest('base64');
      pages.set('search', searchHtml(pages, `sha256-${digest}`));
      for (const [name, html] of pages) await writeFile(join(made, `${name}.html`), html);
      for (const [name, text] of texts) await writeFile(join(made, name), text);
      await replaceFolder(target, { made, old });
    } finally {
      await rm(made, { recursive: true, force: true });
    }
  });
  terminal.out(`${safeText(join(folder, 'index.html'), 4096)}\n`);
  return exitCodes.done;
}

/** Turns what the disk refuses into a failure (73). */
async function orRefusal(folder: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Error) || !('syscall' in error)) throw error;
    throw new CampaignError(
      {
        code: 'MB3301',
        message: `the manual cannot be written to ${folder}: ${error.message}`,
        hint: 'name a folder beside which this user may write',
        path: folder,
      },
      { cause: error },
    );
  }
}

/** Replaces a folder: whoever looks finds all of the old pages or all of the new ones. */
async function replaceFolder(target: string, { made, old }: { made: string; old: string }): Promise<void> {
  if (lstatOrAbsent(target) === undefined) return renameFile(made, target);
  await renameFile(target, old);
  try {
    await renameFile(made, target);
  } catch (error) {
    await renameFile(old, target);
    throw error;
  }
  await rm(old, { recursive: true });
}

/** Requires a folder that is absent, empty, or as this command wrote it. */
async function requireOurs(target: string, folder: string): Promise<void> {
  const there = lstatOrAbsent(target);
  if (there === undefined) return;
  const entries = there.isDirectory() ? await readdir(target) : undefined;
  if (entries?.length === 0) return;
  const isOurs = entries?.every((name) => isManualPage(join(target, name), name));
  if (isOurs) return;
  throw new CampaignError({
    code: 'MB3301',
    message: `${folder} holds something else than a manual, and is left alone`,
    hint: 'name a folder that is empty or not there yet',
    path: target,
  });
}

function isManualPage(path: string, name: string): boolean {
  const mark = name.endsWith('.html') ? manualMark : textMark;
  return readStart(path, markWithin)?.includes(mark) === true;
}
