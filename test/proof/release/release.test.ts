import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { root } from '../../rig/command.ts';
import { findMissing, notesOf, type ReleaseFacts } from './missing.ts';

const url = 'git+https://github.com/team/mediabatch.git';
const ready: ReleaseFacts = {
  package: {
    name: 'mediabatch',
    version: '1.2.0',
    repository: { url },
  },
  changelog: '# Changelog\n\n## [1.2.0] – 2030-05-01\n\n### Added\n\n- More.\n\n## [1.1.0] – 2030-04-01\n\n- Less.\n',
  tags: ['v1.2.0'],
  changed: [],
  sets: ['1.1.0', '1.2.0'],
  owners: { '.github/CODEOWNERS': '* @team/media' },
  registered: 'https://github.com/team/mediabatch',
};

test('where everything is there nothing is missing', () => {
  expect(findMissing(ready)).toEqual([]);
});

const { repository: _repository, ...withoutRepository } = ready.package;
test.each<[string, Partial<ReleaseFacts>]>([
  ['package.json has no repository', { package: withoutRepository, registered: null }],
  ['the registry has no package mediabatch', { registered: null }],
  ['mediabatch on the registry is of https://github.com/other/one', { registered: 'https://github.com/other/one' }],
  ['.github/CODEOWNERS names no owner: # * @OWNER', { owners: { '.github/CODEOWNERS': '# * @OWNER\n' } }],
  ['CHANGELOG.md begins with 1.2.0 – unreleased', { changelog: '## [1.2.0] – unreleased\n' }],
  ['CHANGELOG.md begins with 1.1.0', { changelog: '## [1.1.0] – 2030-04-01\n' }],
  ['CHANGELOG.md begins with no version', { changelog: '' }],
  [
    'CHANGELOG.md says what 1.2.0 changes or removes, and not what to do about it',
    { changelog: '## [1.2.0] – 2030-05-01\n\n### Changed\n\n- Other.\n' },
  ],
  ['test/released/1.2.0 does not exist', { sets: ['1.1.0'] }],
  ['what is checked out is not the commit v1.2.0', { tags: ['v1.1.0'] }],
  ['what is checked out is not the commit v1.2.0', { changed: ['src/a.ts'] }],
])('%s', (what, facts) => {
  expect(findMissing({ ...ready, ...facts }).map((missing) => missing.what)).toContainEqual(
    expect.stringContaining(what),
  );
});

test('who says how to upgrade may change things', () => {
  const changelog = '## [1.2.0] – 2030-05-01\n\n### Changed\n\n- Other.\n\n### Upgrading\n\n- Nothing.\n';
  expect(findMissing({ ...ready, changelog })).toEqual([]);
});

test('the notes of a release are its section of the changelog', () => {
  expect(notesOf('1.2.0', ready.changelog)).toBe('### Added\n\n- More.\n');
  expect(notesOf('1.1.0', ready.changelog)).toBe('- Less.\n');
  expect(notesOf('1', ready.changelog)).toBeUndefined();
});

const folders = ['.github/workflows', 'examples/github'];
const files = folders.flatMap((folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`));
const read = (file: string) => readFileSync(join(root, file), 'utf8');

test('an action is the same commit wherever it is used, and its version stands beside it', () => {
  const pins = new Map<string, Set<string>>();
  for (const file of files) {
    for (const [line, action = '', pin = ''] of read(file).matchAll(/uses: ([^\s@]+)(.*)$/gm)) {
      if (action.startsWith('./')) continue;
      expect(pin, `${file}: ${line}`).toMatch(/^@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
      const [owner = '', name = ''] = action.split('/');
      const known = pins.get(`${owner}/${name}`) ?? new Set();
      pins.set(`${owner}/${name}`, known.add(pin));
    }
  }
  expect([...pins].filter(([, known]) => known.size > 1)).toEqual([]);
});

test('a workflow begins with no permissions, or with reading alone', () => {
  for (const file of files) {
    if (file.endsWith('action.yml')) continue;
    const { permissions } = parse(read(file)) as { permissions?: object };
    expect([{}, { contents: 'read' }], file).toContainEqual(permissions);
  }
});

test('no workflow holds a token of the registry', () => {
  for (const file of files) expect(read(file)).not.toMatch(/NPM_TOKEN|NODE_AUTH_TOKEN|_authToken/);
});
