import { type Dirent, existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { unknownName } from './program/unknown-command.ts';

const examples = new URL('../../examples/', import.meta.url);

/** Contents of files by their path below the new folder. */
export type NewFiles = Readonly<Record<string, string | Uint8Array>>;

export async function listExamples(): Promise<{ name: string; description: string }[]> {
  const names = await exampleNames();
  return Promise.all(
    names.map(async (name) => {
      const manifest = await readFile(new URL(`${name}/campaign.yaml`, examples), 'utf8');
      return { name, description: /^description: (.+)$/m.exec(manifest)?.[1] ?? '' };
    }),
  );
}

/** Reads the files of an example by their path below its folder, without files that runs have written. */
export async function readExample(name: string): Promise<NewFiles> {
  const names = await exampleNames();
  if (!names.includes(name)) throw unknownName('no example', name, names);
  const folder = new URL(`${name}/`, examples);
  const files: Record<string, Uint8Array> = {};
  const visit = async (path: string): Promise<void> => {
    const entries = await readdir(new URL(path, folder), { withFileTypes: true });
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name.startsWith('.') || /\.sandbox$|\.lock\.jsonl$/.test(entry.name)) continue;
      const inner = `${path}${entry.name}`;
      if (entry.isDirectory()) await visit(`${inner}/`);
      else if (entry.isFile()) files[inner] = await readFile(new URL(inner, folder));
    }
  };
  await visit('');
  return files;
}

/** Names of the examples; the recommended first one comes first. */
async function exampleNames(): Promise<string[]> {
  const entries = await readdir(examples, { withFileTypes: true });
  // The folder also has examples that are no campaigns: CI workflows, and setups of workers.
  const isCampaign = ({ name }: Dirent) => existsSync(new URL(`${name}/campaign.yaml`, examples));
  const names = entries.filter(isCampaign).map((entry) => entry.name);
  const first = 'quickstart';
  return [first, ...names.filter((name) => name !== first).sort()];
}
