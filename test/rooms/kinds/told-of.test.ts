import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { kinds } from '../../../src/kinds/index.ts';
import { kinds as sandboxKinds } from '../../../src/sandbox/kinds/index.ts';
import { root } from '../../rig/command.ts';

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const page = (name: string) => read(`src/manual/${name}.md`);

/** Where kinds stand in a list that people keep. */
const lists: readonly { where: string; text: string; form(kind: string): RegExp }[] = [
  { where: 'operations, help service', text: page('service'), form: (kind) => new RegExp(`\`${kind}\``) },
  { where: 'every kind once, all-kinds.test.ts', text: read('test/command/all-kinds.test.ts'), form: madeOf },
  { where: 'every kind on workers, cluster/kinds.test.ts', text: read('test/cluster/kinds.test.ts'), form: madeOf },
  { where: 'what a release has written, released/make.ts', text: read('test/released/make.ts'), form: madeOf },
];

function madeOf(kind: string): RegExp {
  return new RegExp(`kind: ${kind}\\b`);
}

describe.each(Object.keys(kinds))('%s', (kind) => {
  test.each(lists)('is in the list of $where', ({ text, form }) => {
    expect(text).toMatch(form(kind));
  });

  test('its create is among the operations of the manual', () => {
    const [path] = kinds[kind]?.create.paths ?? [];
    expect(page('service')).toContain(`POST ${path}`);
  });

  test('the manual says how a lost answer of it is settled', () => {
    // An upload costs nothing, and is made again.
    if (kinds[kind]?.free === true) return;
    const [, list = ''] = /## Automatic recovery\n([\s\S]*?)\n\nThe search/.exec(page('sends')) ?? [];
    expect(list.match(/^\| [^|]+ \|/gm)?.join(' ')).toMatch(new RegExp(`\\b${kind}\\b`));
  });
});

test('the page of the sandbox counts every kind that it makes', () => {
  const [, listed = ''] = /const knownKinds = \[([^\]]*)\]/.exec(read('src/sandbox/assets/page.html')) ?? [];
  const names = Array.from(listed.matchAll(/'(\w+)'/g), ([, name]) => name);
  expect(names.sort()).toEqual(sandboxKinds.map(({ name }) => name).sort());
});
