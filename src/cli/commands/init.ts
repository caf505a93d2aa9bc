import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadManifest } from '../../campaign/load-manifest.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import { makeFolders } from '../../disk/fs/folders.ts';
import { findWayOut, repositoryOf } from '../../disk/fs/own-tree.ts';
import { lstatOrAbsent, readSmallFile } from '../../disk/fs/plain-file.ts';
import { writeNewFile } from '../../disk/fs/replace.ts';
import { call, way } from '../../ground/advice.ts';
import { isMap, messageOf } from '../../ground/values.ts';
import { command, type Document, line, stack } from '../../report/document.ts';
import { safeText } from '../../report/safe-text.ts';
import { listExamples, makeCsvCampaign, type NewFiles, readExample } from '../make-csv-campaign.ts';
import { defaultManifest } from '../program/name-manifest.ts';
import { type Terminal, tell } from '../terminal.ts';
import { readAgentsPage } from './help.ts';

interface InitOptions {
  example?: string;
  fromCsv?: string;
  agents?: boolean;
  /** Whether to list the examples and write nothing. */
  list?: boolean;
}

function surroundingsOf(folder: string): NewFiles {
  // The command may have been installed here before there was a `.gitignore`.
  const packages = existsSync(join(folder, 'node_modules')) ? 'node_modules/\n' : '';
  return {
    // Branches with different purchases merge by keeping every line, and the next run sorts the lines.
    '.gitattributes': '*.lock.jsonl merge=union text eol=lf\n',
    '.gitignore': `${packages}.mediabatch/\n*.report/\n*.sandbox/\n*.sandbox.lock.jsonl\n.env\n`,
    '.env.example': 'MEDIABATCH_BASE_URL=https://…/api/v1\nMEDIABATCH_API_KEY=\n',
  };
}

/** Size limit in bytes. No file that is written here is larger. */
const longestFile = 1024 * 1024;

const defaultExample = 'quickstart';

/** Writes a campaign that runs unchanged. Changes no existing file. */
export async function init(folder: string, options: InitOptions, terminal: Terminal): Promise<number> {
  if (options.list) {
    for (const { name, description } of await listExamples()) terminal.out(`${name}  ${description}\n`);
    return exitCodes.done;
  }
  if (options.example !== undefined && options.fromCsv !== undefined) {
    throw new CampaignError({
      code: 'MB3000',
      message: '--example and --from-csv cannot be combined',
      hint: 'give one of them',
      options: ['--example', '--from-csv'],
    });
  }
  const files =
    options.fromCsv === undefined
      ? await readExample(options.example ?? defaultExample)
      : await makeCsvCampaign(options.fromCsv, folder);
  const { 'campaign.yaml': text = '', ...others } = files;
  const { manifest, copies } = pointAtSchema(nameAfterFolder(String(text), folder), folder);
  const around = {
    ...surroundingsOf(folder),
    ...copies,
    ...(options.agents && { 'AGENTS.md': await readAgentsPage() }),
  };
  await writeAll(folder, { files: { 'campaign.yaml': manifest, ...others }, around }, terminal);
  const path = relative(process.cwd(), join(folder, defaultManifest)) || defaultManifest;
  terminal.err('\n');
  tell(terminal, stack(...(await gitNotes(path)), ...nextSteps(path, options, terminal)));
  return exitCodes.done;
}

function nextSteps(file: string, { example, fromCsv }: InitOptions, { paste }: Terminal): Document {
  const isChosen = example !== undefined || fromCsv !== undefined;
  return [
    command('Try it with sandbox credits', paste({ ...call('apply', '--sandbox'), file })),
    isChosen ? undefined : command('See the other examples', paste(call('init', '--list'))),
  ];
}

async function gitNotes(manifest: string): Promise<Document> {
  const { graph } = await loadManifest(manifest);
  const saves = graph?.steps.map(({ save }) => save) ?? [];
  const saved = saves.filter((save) => save.includes('/')).map((save) => `${save.split('/')[0]}/`);
  const lines =
    readIfThere(join(dirname(manifest), '.gitignore'))
      ?.toString('utf8')
      .split(/\r?\n/) ?? [];
  const ignored = new Set(lines.map((line) => `${line.trim().replaceAll(/^\/|\/$/g, '')}/`));
  const seen = [...new Set(saved)].filter((name) => !ignored.has(name));
  const lock = line('Commit campaign.lock.jsonl after the first run: it records what you paid.');
  const outputs = `Outputs go to ${seen.join(' and ')}, and git sees them. To keep them out, name them in .gitignore: a clone fetches them again, for 0 credits.`;
  return [lock, seen.length === 0 ? undefined : line(outputs)];
}

/** Writes all files of the campaign or none. Of the files around it, writes those that do not exist yet. */
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
      message: `${join(folder, name)} cannot be written: ${wayOut}`,
      hint: way('give another folder', call('init', 'my-campaign')),
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
      hint: way('give another folder', call('init', 'my-campaign')),
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
      const missing = missingLines(join(folder, name), String(surroundingsOf(folder)[name] ?? ''));
      if (missing.length > 0) terminal.err('         add to it:\n');
      for (const line of missing) terminal.err(`         ${line}\n`);
    }
  }
}

function missingLines(path: string, wanted: string): string[] {
  const there = new Set(readIfThere(path)?.toString('utf8').split(/\r?\n/));
  return wanted.split('\n').filter((line) => line !== '' && !there.has(line));
}

function readIfThere(path: string): Buffer | undefined {
  const bytes = readSmallFile(path, longestFile);
  if (bytes !== undefined) return bytes;
  try {
    // A folder, a pipe or an unreadable file of that name also prevents writing.
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

const schemaName = 'mediabatch.schema.json';
const ownSchema = fileURLToPath(new URL('../../../schemas/manifest.schema.json', import.meta.url));

/**
 * Names the campaign after its folder. The name is part of every idempotency key, so two folders must be two campaigns.
 */
function nameAfterFolder(manifest: string, folder: string): string {
  const name = campaignName(basename(resolve(folder)));
  return name === undefined ? manifest : manifest.replace(/^name: .*$/m, () => `name: ${inYaml(name)}`);
}

/** Makes a valid campaign name from the name of a folder; undefined if it has no valid character. */
function campaignName(folder: string): string | undefined {
  const plain = folder.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().replaceAll('ß', 'ss');
  const name = plain
    .replaceAll(/[^a-z0-9\-_.]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, 64);
  return name.replace(/[-.]+$/, '') || undefined;
}

/** Quotes a name that YAML would read as a number or another type. */
function inYaml(name: string): string {
  return /^[a-z][a-z0-9-]*$/.test(name) && !/^(?:true|false|null)$/.test(name) ? name : JSON.stringify(name);
}

/**
 * Points the first line of a manifest at a schema that other clones have, too: in the repository or in a dependency
 * of the project, else in a copy next to the manifest. Uses no path of this machine, and no network.
 */
function pointAtSchema(manifest: string, folder: string): { manifest: string; copies: NewFiles } {
  const shared = findSharedSchema(resolve(folder));
  const way = shared === undefined ? schemaName : relative(resolve(folder), shared).replaceAll('\\', '/');
  return {
    manifest: manifest.replace(/\$schema=\S+/, () => `$schema=${way}`),
    copies: shared === undefined ? { [schemaName]: readFileSync(ownSchema) } : {},
  };
}

function findSharedSchema(folder: string): string | undefined {
  const repository = repositoryOf(join(folder, 'campaign.yaml'));
  if (repository !== undefined && repository === repositoryOf(realpathSync(ownSchema))) return realpathSync(ownSchema);
  for (let project = folder; ; project = dirname(project)) {
    const schema = join(project, 'node_modules/mediabatch/schemas/manifest.schema.json');
    if (existsSync(schema) && isDependencyOf(project)) return schema;
    // A file outside the repository is not part of a clone.
    if (project === (repository ?? folder) || project === dirname(project)) return undefined;
  }
}

function isDependencyOf(project: string): boolean {
  try {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
    return [dependencies, devDependencies].some((names) => isMap(names) && Object.hasOwn(names, 'mediabatch'));
  } catch {
    return false;
  }
}
