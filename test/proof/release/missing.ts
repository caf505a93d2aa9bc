/** What is known before a release. */
export interface ReleaseFacts {
  package: {
    name: string;
    version: string;
    repository?: { url?: string };
    bugs?: { url?: string };
    homepage?: string;
    publishConfig?: { access?: string; provenance?: boolean };
  };
  changelog: string;
  /** Of the commit that is checked out. */
  tags: readonly string[];
  /** What git would say is not committed. */
  changed: readonly string[];
  /** Versions of which there is a set in `test/released/`. */
  sets: readonly string[];
  /** Files in which only the owner can name people and places, with their texts. */
  owners: { readonly [file: string]: string };
  tarball: { bytes: number };
  /** The repository of the package of this name, as the registry has it: `null` where it has none, `undefined` where nobody asked. */
  registered?: string | null;
}

/** Something without which there is no release, and what to do. */
export interface Missing {
  what: string;
  todo: string;
}

const mostBytes = 2.5 * 1024 * 1024;

/** Everything that is missing, in the order in which it is done. */
export function findMissing(facts: ReleaseFacts): Missing[] {
  return [...missingOfOwner(facts), ...missingOfVersion(facts)];
}

/** What only the owner of repository and name can decide. */
function missingOfOwner({ package: own, owners, registered }: ReleaseFacts): Missing[] {
  const missing: Missing[] = [];
  const url = own.repository?.url;
  if (url === undefined) {
    missing.push({
      what: 'package.json has no repository',
      todo: 'add "repository": { "type": "git", "url": "git+https://github.com/OWNER/NAME.git" }: npm compares it with where the package is built, and takes no provenance without it',
    });
  }
  for (const key of ['bugs', 'homepage'] as const) {
    if (own[key] === undefined) missing.push({ what: `package.json has no ${key}`, todo: `add where that is` });
  }
  if (own.publishConfig?.access !== 'public' || own.publishConfig.provenance !== true) {
    missing.push({
      what: 'package.json publishes without provenance, or not for everybody',
      todo: 'add "publishConfig": { "access": "public", "provenance": true }',
    });
  }
  if (registered === null) {
    missing.push({
      what: `the registry has no package ${own.name}`,
      todo: 'take the name: its owner publishes a first version by hand, and then names this repository and release.yml as its trusted publisher',
    });
  } else if (registered !== undefined && (url === undefined || !isSame(registered, url))) {
    missing.push({
      what: `${own.name} on the registry is of ${registered}`,
      todo: 'choose another name in package.json, README.md and src/manual, or have that one handed over',
    });
  }
  for (const [file, text] of Object.entries(owners)) {
    const open = /^.*\bOWNER\b.*$/m.exec(text);
    if (open !== null) missing.push({ what: `${file} names no owner: ${open[0].trim()}`, todo: 'put the name there' });
  }
  return missing;
}

/** What each version needs. */
function missingOfVersion({ package: { version }, changelog, tags, changed, sets, tarball }: ReleaseFacts): Missing[] {
  const missing: Missing[] = [];
  const [, named, date = ''] = /^## \[([^\]]+)\] – (.+)$/m.exec(changelog) ?? [];
  if (named !== version) {
    missing.push({
      what: `CHANGELOG.md begins with ${named ?? 'no version'}, and package.json with ${version}`,
      todo: 'set both to the version that is released',
    });
  } else if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) {
    missing.push({ what: `CHANGELOG.md says ${version} is ${date}`, todo: 'put the day there, as in 2030-05-01' });
  }
  const notes = notesOf(version, changelog) ?? '';
  if (/^### (Changed|Removed)$/m.test(notes) && !/^### Upgrading$/m.test(notes)) {
    missing.push({
      what: `CHANGELOG.md says what ${version} changes or removes, and not what to do about it`,
      todo: 'add a section ### Upgrading, with the command that shows each difference',
    });
  }
  if (!sets.includes(version)) {
    missing.push({
      what: `test/released/${version} does not exist`,
      todo: 'npm run build && npx tsx test/released/make.ts, and commit what it makes',
    });
  }
  if (tarball.bytes > mostBytes) {
    missing.push({
      what: `the tarball has ${tarball.bytes} bytes, more than ${mostBytes}`,
      todo: 'npm ci, because it may hold files of earlier builds; else look at npm pack --dry-run',
    });
  }
  if (changed.length > 0) {
    missing.push({ what: `not committed: ${changed.slice(0, 3).join(', ')}`, todo: 'commit it' });
  }
  if (!tags.includes(`v${version}`)) {
    missing.push({ what: `this commit has no tag v${version}`, todo: `git tag v${version}, when all else is there` });
  }
  return missing;
}

function isSame(a: string, b: string): boolean {
  const plain = (url: string) =>
    url
      .replace(/^git\+/, '')
      .replace(/\.git$/, '')
      .toLowerCase();
  return plain(a) === plain(b);
}

/** The section of a version in the changelog, without its heading. */
export function notesOf(version: string, changelog: string): string | undefined {
  const sections = changelog.split(/^## /m).slice(1);
  const [heading = '', ...lines] = (sections.find((text) => text.startsWith(`[${version}]`)) ?? '').split('\n');
  return heading === '' ? undefined : `${lines.join('\n').trim()}\n`;
}
