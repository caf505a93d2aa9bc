import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { repositoryOf } from '../disk/fs/own-tree.ts';
import { isMap } from '../ground/values.ts';
import type { NewFiles } from './list-examples.ts';

const schemaName = 'mediabatch.schema.json';
const ownSchema = fileURLToPath(new URL('../../schemas/manifest.schema.json', import.meta.url));

/** The name of a campaign is part of every idempotency key: two folders are two campaigns. */
export function nameAfterFolder(manifest: string, folder: string): string {
  const name = campaignName(basename(resolve(folder)));
  return name === undefined ? manifest : manifest.replace(/^name: .*$/m, () => `name: ${inYaml(name)}`);
}

/** The name of a folder as campaigns may be named; undefined when nothing of it may stay. */
function campaignName(folder: string): string | undefined {
  const plain = folder.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().replaceAll('ß', 'ss');
  const name = plain
    .replaceAll(/[^a-z0-9\-_.]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, 64);
  return name.replace(/[-.]+$/, '') || undefined;
}

/** In quotes where YAML would read a number, or the like. */
function inYaml(name: string): string {
  return /^[a-z][a-z0-9-]*$/.test(name) && !/^(?:true|false|null)$/.test(name) ? name : JSON.stringify(name);
}

/**
 * Points the first line of a manifest at a schema that whoever gets the folder has, too: that of the repository or of the
 * project's own dependency, else a copy beside the manifest. No path of this machine, and nothing that needs a network.
 */
export function pointAtSchema(manifest: string, folder: string): { manifest: string; copies: NewFiles } {
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
    // Beyond it nothing goes along with the folder.
    if (project === (repository ?? folder) || project === dirname(project)) return undefined;
  }
}

/** Whoever installs the project gets this package. */
function isDependencyOf(project: string): boolean {
  try {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
    return [dependencies, devDependencies].some((names) => isMap(names) && Object.hasOwn(names, 'mediabatch'));
  } catch {
    return false;
  }
}
