import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CommandError, exitCodes } from '../exit.ts';
import type { Terminal } from '../terminal.ts';

const examples = new URL('../../../examples/quickstart/', import.meta.url);

const files: Record<string, string> = {
  // Two branches that bought different things merge by keeping every line; the next run sorts them.
  '.gitattributes': '*.lock.jsonl merge=union text eol=lf\n',
  '.gitignore': '.mediabatch/\n*.sandbox/\n*.sandbox.lock.jsonl\n.env\n',
  '.env.example': 'MEDIABATCH_BASE_URL=https://…/api/v1\nMEDIABATCH_API_KEY=\n',
};

/** Writes a campaign that runs as it is. Nothing that exists is changed. */
export async function init(folder: string, terminal: Terminal): Promise<number> {
  const taken = (await listFolder(folder)).includes('campaign.yaml');
  if (taken) {
    throw new CommandError(
      exitCodes.wrongUsage,
      `${join(folder, 'campaign.yaml')} exists already`,
      'give another folder: mediabatch init my-campaign',
    );
  }
  const { style } = terminal;
  const told = (name: string, what: string) => terminal.err(`  ${style.green(what)} ${join(folder, name)}\n`);
  const written = { ...(await exampleFiles(folder)), ...files };
  for (const [name, text] of Object.entries(written)) {
    await writeFile(join(folder, name), text, { flag: 'wx' }).then(
      () => told(name, 'wrote'),
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
        terminal.err(`  ${style.yellow('kept ')} ${join(folder, name)}\n`);
        if (!name.startsWith('.')) return;
        terminal.err('         it should hold:\n');
        for (const line of text.trimEnd().split('\n')) terminal.err(`         ${line}\n`);
      },
    );
  }
  const manifest = relative(process.cwd(), join(folder, 'campaign.yaml')) || 'campaign.yaml';
  terminal.err(`\nTry it with play money: mediabatch apply ${manifest} --sandbox\n`);
  return exitCodes.done;
}

/** The folder's names; it is made when it is not there. */
async function listFolder(folder: string): Promise<string[]> {
  try {
    await mkdir(folder, { recursive: true });
    return await readdir(folder);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new CommandError(
      exitCodes.cannotWrite,
      `the folder ${folder} cannot be made: ${message}`,
      'give the name of a new folder',
    );
  }
}

/** The quickstart, with the way to the schema of this very installation, so that editors complete and check. */
async function exampleFiles(folder: string): Promise<Record<string, string>> {
  const schema = fileURLToPath(new URL('../../../schemas/manifest.schema.json', import.meta.url));
  const way = relative(resolve(folder), schema).replaceAll('\\', '/');
  const manifest = await readFile(new URL('campaign.yaml', examples), 'utf8');
  return {
    'campaign.yaml': manifest.replace(/\$schema=\S+/, `$schema=${way}`),
    'products.csv': await readFile(new URL('products.csv', examples), 'utf8'),
  };
}
