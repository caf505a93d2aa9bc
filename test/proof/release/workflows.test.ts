import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { root } from '../../rig/command.ts';

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
