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

/** Everything that is missing, in the order in which it is done: first what only the owner of repository and name decides. */
export function findMissing(facts: ReleaseFacts): Missing[] {
  const { package: own, owners, registered, changelog, tags, changed, sets, tarball } = facts;
  const { version } = own;
  const url = own.repository?.url;
  const [, named, date = ''] = /^## \[([^\]]+)\] – (.+)$/m.exec(changelog) ?? [];
  const notes = notesOf(version, changelog) ?? '';
  const checks: [isMissing: boolean, what: string, todo: string][] = [
    [
      url === undefined,
      'package.json has no repository',
      'add "repository": { "type": "git", "url": "git+https://github.com/OWNER/NAME.git" }: npm compares it with where the package is built, and takes no provenance without it',
    ],
    [own.bugs === undefined, 'package.json has no bugs', 'add where that is'],
    [own.homepage === undefined, 'package.json has no homepage', 'add where that is'],
    [
      own.publishConfig?.access !== 'public' || own.publishConfig.provenance !== true,
      'package.json publishes without provenance, or not for everybody',
      'add "publishConfig": { "access": "public", "provenance": true }',
    ],
    [
      registered === null,
      `the registry has no package ${own.name}`,
      'take the name: its owner publishes a first version by hand, and then names this repository and release.yml as its trusted publisher',
    ],
    [
      typeof registered === 'string' && (url === undefined || !isSame(registered, url)),
      `${own.name} on the registry is of ${registered}`,
      'choose another name in package.json, README.md and src/manual, or have that one handed over',
    ],
    ...Object.entries(owners).map(([file, text]): [boolean, string, string] => {
      const open = /^.*\bOWNER\b.*$/m.exec(text);
      return [open !== null, `${file} names no owner: ${open?.[0].trim()}`, 'put the name there'];
    }),
    [
      named !== version,
      `CHANGELOG.md begins with ${named ?? 'no version'}, and package.json with ${version}`,
      'set both to the version that is released',
    ],
    [
      named === version && !/^\d{4}-\d{2}-\d{2}$/.test(date),
      `CHANGELOG.md says ${version} is ${date}`,
      'put the day there, as in 2030-05-01',
    ],
    [
      /^### (Changed|Removed)$/m.test(notes) && !/^### Upgrading$/m.test(notes),
      `CHANGELOG.md says what ${version} changes or removes, and not what to do about it`,
      'add a section ### Upgrading, with the command that shows each difference',
    ],
    [
      !sets.includes(version),
      `test/released/${version} does not exist`,
      'npm run build && npx tsx test/released/make.ts, and commit what it makes',
    ],
    [
      tarball.bytes > mostBytes,
      `the tarball has ${tarball.bytes} bytes, more than ${mostBytes}`,
      'npm ci, because it may hold files of earlier builds; else look at npm pack --dry-run',
    ],
    [changed.length > 0, `not committed: ${changed.slice(0, 3).join(', ')}`, 'commit it'],
    [
      !tags.includes(`v${version}`),
      `this commit has no tag v${version}`,
      `git tag v${version}, when all else is there`,
    ],
  ];
  return checks.flatMap(([isMissing, what, todo]) => (isMissing ? [{ what, todo }] : []));
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
