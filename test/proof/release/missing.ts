/** What is known before a release. */
export interface ReleaseFacts {
  package: {
    name: string;
    version: string;
    repository?: { url?: string };
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
  /** The repository of the package of this name, as the registry has it: `null` where it has none, `undefined` where nobody asked. */
  registered?: string | null;
}

/** Something without which there is no release, and what to do. */
export interface Missing {
  what: string;
  todo: string;
}

/** Everything that is missing, in the order in which it is done: first what only the owner of repository and name decides. */
export function findMissing(facts: ReleaseFacts): Missing[] {
  const { package: own, owners, registered, changelog, tags, changed, sets } = facts;
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
      named !== version || !/^\d{4}-\d{2}-\d{2}$/.test(date),
      `CHANGELOG.md begins with ${named ?? 'no version'} – ${date}, and package.json has ${version}`,
      'set both to the version that is released, and put its day there, as in 2030-05-01',
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
      changed.length > 0 || !tags.includes(`v${version}`),
      `what is checked out is not the commit v${version}`,
      `commit everything, and then: git tag v${version}`,
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
