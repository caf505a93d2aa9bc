import { dirname, join, relative } from 'node:path';
import { readEnvironment } from '../../campaign/environment.ts';
import { loadManifest } from '../../campaign/load-manifest.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import { makeFolders } from '../../disk/fs/make-folders.ts';
import { findWayOut } from '../../disk/fs/own-tree.ts';
import { lstatOrAbsent, readSmallFile } from '../../disk/fs/plain-file.ts';
import { writeNewFile } from '../../disk/fs/replace.ts';
import { messageOf } from '../../ground/values.ts';
import { advise, call } from '../../plan/advice.ts';
import { safeText } from '../../report/safe-text.ts';
import { askStart, type Start } from '../ask-start.ts';
import { listExamples, type NewFiles, readExample } from '../list-examples.ts';
import { makeCsvCampaign } from '../make-csv-campaign.ts';
import { defaultManifest } from '../program/name-manifest.ts';
import { nameAfterFolder, pointAtSchema } from '../settle-in.ts';
import type { Terminal } from '../terminal.ts';

export interface InitOptions {
  /** The name of an example. */
  example?: string;
  /** A data file to begin with. */
  fromCsv?: string;
  /** Show the examples, write nothing. */
  list?: boolean;
}

const surroundings: NewFiles = {
  // Two branches that bought different things merge by keeping every line; the next run sorts them.
  '.gitattributes': '*.lock.jsonl merge=union text eol=lf\n',
  '.gitignore': '.mediabatch/\n*.report/\n*.sandbox/\n*.sandbox.lock.jsonl\n.env\n',
  '.env.example': 'MEDIABATCH_BASE_URL=https://…/api/v1\nMEDIABATCH_API_KEY=\n',
};

/** In bytes: more than any file that is written here. */
const longestFile = 1024 * 1024;

const defaultExample = 'quickstart';

/** Writes a campaign that runs as it is; somebody at a terminal is asked which. Nothing that exists is changed. */
export async function init(folder: string, options: InitOptions, terminal: Terminal): Promise<number> {
  if (options.list) {
    for (const { name, description } of await listExamples()) terminal.out(`${name}  ${description}\n`);
    return exitCodes.done;
  }
  if (options.example !== undefined && options.fromCsv !== undefined) {
    throw new CampaignError({
      code: 'MB3001',
      message: '--example and --from-csv cannot stand together',
      hint: 'give one of them',
      options: ['--example', '--from-csv'],
    });
  }
  const start = await findStart(folder, options, terminal);
  if (start === 'interrupted') {
    terminal.err('nothing was written\n');
    return exitCodes.interrupted;
  }
  const files =
    start.fromCsv === undefined
      ? await readExample(start.example ?? defaultExample)
      : await makeCsvCampaign(start.fromCsv, folder);
  const { 'campaign.yaml': text = '', ...others } = files;
  const { manifest, copies } = pointAtSchema(nameAfterFolder(String(text), folder), folder);
  await writeAll(
    folder,
    { files: { 'campaign.yaml': manifest, ...others }, around: { ...surroundings, ...copies } },
    terminal,
  );
  const path = relative(process.cwd(), join(folder, defaultManifest)) || defaultManifest;
  terminal.err(`\n${await gitText(path)}`);
  terminal.err(start.money === 'own' ? ownMoneyText(path, terminal) : playMoneyText(path, terminal));
  return exitCodes.done;
}

/** Finds what was asked for, or asks a person, where nothing was, and nothing is in the way. */
async function findStart(folder: string, options: InitOptions, terminal: Terminal): Promise<Start | 'interrupted'> {
  const { example, fromCsv } = options;
  const isSaid = example !== undefined || fromCsv !== undefined;
  if (!isSaid && terminal.interactive && readIfThere(join(folder, defaultManifest)) === undefined) {
    return askStart(terminal);
  }
  return { ...(example !== undefined && { example }), ...(fromCsv !== undefined && { fromCsv }), money: 'play' };
}

function playMoneyText(file: string, { paste }: Terminal): string {
  return `Try it with play money: ${paste({ ...call('apply', '--sandbox'), file })}\n`;
}

function ownMoneyText(file: string, { paste }: Terminal): string {
  const { token } = readEnvironment(process.env, process.cwd());
  const key =
    token === undefined
      ? `Set MEDIABATCH_BASE_URL and MEDIABATCH_API_KEY, or fill in a copy of ${safeText(join(dirname(file), '.env.example'))} named .env, here, and keep it out of git.\n`
      : '';
  return `${key}Check the way to the service: ${paste(call('doctor'))}\nSee what it costs: ${paste({ ...call('plan'), file })}\n`;
}

/** Says what of a campaign git sees: the lock has to be committed, and what is saved may be. */
async function gitText(manifest: string): Promise<string> {
  const { graph } = await loadManifest(manifest);
  const saves = graph?.steps.map(({ save }) => save) ?? [];
  const saved = saves.filter((save) => save.includes('/')).map((save) => `${save.split('/')[0]}/`);
  const lines =
    readIfThere(join(dirname(manifest), '.gitignore'))
      ?.toString('utf8')
      .split(/\r?\n/) ?? [];
  const ignored = new Set(lines.map((line) => `${line.trim().replaceAll(/^\/|\/$/g, '')}/`));
  const seen = [...new Set(saved)].filter((name) => !ignored.has(name));
  const lock = 'Commit campaign.lock.jsonl as soon as there is one: it says what was paid for.\n';
  if (seen.length === 0) return lock;
  return `${lock}Outputs go to ${safeText(seen.join(' and '))}, and git sees them. To keep them out, name them in .gitignore: a clone fetches them again, for 0 credits.\n`;
}

/** Writes all or nothing of the campaign itself; of what stands around it, what is not there yet. */
async function writeAll(
  folder: string,
  { files, around }: { files: NewFiles; around: NewFiles },
  terminal: Terminal,
): Promise<void> {
  const { style } = terminal;
  const tell = (what: string, name: string) => terminal.err(`  ${what} ${safeText(join(folder, name))}\n`);
  for (const name of Object.keys({ ...files, ...around })) {
    const wayOut = findWayOut(dirname(join(folder, name)));
    if (wayOut === undefined) continue;
    throw new CampaignError({
      code: 'MB3301',
      message: `${join(folder, name)} is not written: ${wayOut}`,
      hint: 'give another folder: mediabatch init my-campaign',
      path: join(folder, name),
    });
  }
  await makeFolder(folder);
  const taken: string[] = [];
  for (const [name, content] of Object.entries(files)) {
    const found = readIfThere(join(folder, name));
    if (found !== undefined && !found.equals(Buffer.from(content))) taken.push(name);
  }
  if (taken.length > 0) {
    throw new CampaignError({
      code: 'MB3304',
      message: `${taken.map((name) => join(folder, name)).join(', ')} would be overwritten`,
      hint: advise`give another folder: ${call('init', 'my-campaign')}`,
      files: taken.map((name) => join(folder, name)),
    });
  }
  for (const [name, content] of Object.entries({ ...files, ...around })) {
    await makeFolder(dirname(join(folder, name)));
    try {
      await writeNewFile(join(folder, name), Buffer.from(content));
      tell(style.green('wrote'), name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      tell(style.yellow('kept '), name);
      const missing = missingLines(join(folder, name), String(surroundings[name] ?? ''));
      if (missing.length > 0) terminal.err('         add to it:\n');
      for (const line of missing) terminal.err(`         ${line}\n`);
    }
  }
}

/** The lines that a file of the person's own should have, too. */
function missingLines(path: string, wanted: string): string[] {
  const there = new Set(readIfThere(path)?.toString('utf8').split(/\r?\n/));
  return wanted.split('\n').filter((line) => line !== '' && !there.has(line));
}

function readIfThere(path: string): Buffer | undefined {
  const bytes = readSmallFile(path, longestFile);
  if (bytes !== undefined) return bytes;
  try {
    // A folder of that name, a pipe, or something that may not be read: it is in the way all the same.
    return lstatOrAbsent(path) === undefined ? undefined : Buffer.alloc(0);
  } catch {
    return undefined;
  }
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await makeFolders(folder);
  } catch (error) {
    throw new CampaignError({
      code: 'MB3301',
      message: `the folder ${folder} cannot be made: ${messageOf(error)}`,
      hint: 'give the name of a new folder',
      path: folder,
    });
  }
}
