import { expect, test } from 'vitest';
import type { Verdict } from '../../../src/lock/record.ts';
import { readLockFile } from '../../rig/oracle.ts';
import { bringTogether, orders } from './branches.ts';
import { makeStudio } from './studio.ts';
import type { Copy, Tasks } from './working-copy.ts';

const drafts: Tasks = {
  hero: { kind: 'image', says: 'a lamp', more: { takes: 3, gate: { choose: 1 } } },
  card: { kind: 'image', says: 'with {{tasks.hero.url}}' },
};

/** Three takes that are bought, on `ours`; `theirs` has the same. */
async function makeDrafts(tasks = drafts) {
  const studio = await makeStudio();
  const copy = studio.copy();
  copy.tasks(tasks);
  expect((await copy.apply()).code).toBe(5);
  copy.commit('drafts');
  copy.git('branch', 'theirs');
  copy.branch('ours');
  return { studio, copy };
}

async function decide(copy: Copy, command: string, ...words: string[]): Promise<void> {
  const { code, err } = await copy.run(command, copy.manifest, ...words);
  expect(code, err).toBe(0);
}

/** What the plan says of the step behind the gate. */
async function cardOf(copy: Copy): Promise<string> {
  const { out } = await copy.run('plan', copy.manifest, '--json');
  const rows: { address: string; action: string; reason: { text: string } }[] = JSON.parse(out).rows;
  const card = rows.find(({ address }) => address === 'card');
  return `${card?.action}: ${card?.reason.text}`;
}

async function expectDone(copy: Copy, code = 0): Promise<void> {
  const ran = await copy.apply();
  expect(ran.code, ran.err).toBe(code);
}

test.each(orders)(
  'two branches that picked differently: both are named, and one pick settles it; %j',
  async (order) => {
    const { studio, copy } = await makeDrafts();
    await bringTogether(
      copy,
      {
        ours: () => decide(copy, 'pick', 'hero/1', '--note', 'calm'),
        theirs: async () => {
          await decide(copy, 'pick', 'hero/3');
          await expectDone(copy);
        },
      },
      order,
    );
    const paid = studio.service.ledger.length;
    await expectDone(copy, 5);
    expect(studio.service.ledger).toHaveLength(paid);
    const { out } = await copy.run('status', copy.manifest);
    expect(out).toContain('hero');
    // The card of the one is there, and is not given up before anybody has decided.
    expect(await cardOf(copy)).toContain('hero is contested: hero/1 and hero/3 are picked, but only 1 may be');
    await decide(copy, 'pick', 'hero/3');
    expect(await cardOf(copy)).toBe('keep: up to date');
    await expectDone(copy);
    expect(studio.service.ledger).toHaveLength(paid);
  },
);

test.each(orders)(
  'two that picked the same for different reasons: it is picked, for one of them; %j',
  async (order) => {
    const { copy } = await makeDrafts();
    await bringTogether(
      copy,
      {
        ours: () => decide(copy, 'pick', 'hero/1', '--note', 'ä calm one'),
        theirs: () => decide(copy, 'pick', 'hero/1', '--note', `${'ö'.repeat(499)}→`),
      },
      order,
    );
    await expectDone(copy);
    // The same in whatever order they come together.
    expect(copy.lock).toContain(`${'ö'.repeat(499)}→`);
    expect(copy.lock).not.toContain('ä calm one');
  },
);

test.each(orders)('picked here, rejected there: it is rejected; %j', async (order) => {
  const { copy } = await makeDrafts();
  await bringTogether(
    copy,
    {
      ours: () => decide(copy, 'pick', 'hero/1'),
      theirs: () => decide(copy, 'reject', 'hero/1'),
    },
    order,
  );
  expect(await cardOf(copy)).toBe('blocked: waits for a pick: hero, 2 to see');
});

test.each(orders)('picked here, redone there: the new one is undecided; %j', async (order) => {
  const { studio, copy } = await makeDrafts();
  await bringTogether(
    copy,
    {
      ours: () => decide(copy, 'pick', 'hero/1'),
      theirs: async () => {
        const { code, err } = await copy.apply('--redo', 'hero/1');
        expect(code, err).toBe(5);
      },
    },
    order,
  );
  const paid = studio.service.ledger.length;
  expect(await cardOf(copy)).toBe('blocked: waits for a pick: hero, 3 to see');
  await expectDone(copy, 5);
  expect(studio.service.ledger).toHaveLength(paid);
});

const rows = (...keys: string[]): Tasks => ({
  hero: {
    kind: 'image',
    says: 'a {{row.say}}',
    more: {
      foreach: keys.map((id, index) => ({ id, say: `thing ${index}` })),
      key: '{{row.id}}',
      takes: 2,
      gate: { choose: 1 },
    },
  },
});

test.each(orders)('picked here, keys exchanged there: the verdict is about the picture; %j', async (order) => {
  const { copy } = await makeDrafts({
    ...rows('a', 'b'),
    card: { kind: 'image', says: 'x', more: { needs: ['hero'] } },
  });
  await bringTogether(
    copy,
    {
      ours: async () => {
        await decide(copy, 'pick', 'hero@a/2');
        await decide(copy, 'reject', 'hero@b/2', '--note', 'dark');
      },
      theirs: async () => {
        copy.tasks({ ...rows('b', 'a'), card: { kind: 'image', says: 'x', more: { needs: ['hero'] } } });
        await expectDone(copy, 5);
      },
    },
    order,
  );
  copy.tasks({ ...rows('b', 'a'), card: { kind: 'image', says: 'x', more: { needs: ['hero'] } } });
  const gatesOf = async () => {
    const { out } = await copy.run('status', copy.manifest, '--json');
    return JSON.parse(out).gates;
  };
  const open = [{ name: 'hero@a', toSee: ['hero@a/1'] }];
  expect(await gatesOf()).toMatchObject(open);
  await expectDone(copy, 5);
  expect(await gatesOf()).toMatchObject(open);
  await decide(copy, 'pick', 'hero@a/1');
  await expectDone(copy);
});

test('three branches, merged in every order: the same lock', async () => {
  const texts = new Set<string>();
  let said: (Verdict[] | undefined)[] = [];
  const { studio, copy } = await makeDrafts();
  copy.git('branch', 'third');
  const acts: [string, () => Promise<void>][] = [
    ['ours', () => decide(copy, 'pick', 'hero/1', '--note', 'calm')],
    [
      'theirs',
      async () => {
        await decide(copy, 'pick', 'hero/2');
        await decide(copy, 'pick', 'hero/2', '--undo');
        await decide(copy, 'reject', 'hero/3');
      },
    ],
    ['third', () => decide(copy, 'reject', 'hero', '--note', 'too blue')],
  ];
  for (const [branch, act] of acts) {
    copy.git('checkout', '--quiet', branch);
    await act();
    copy.commit(branch);
  }
  const permutations = [
    ['ours', 'theirs', 'third'],
    ['third', 'ours', 'theirs'],
    ['theirs', 'third', 'ours'],
    ['third', 'theirs', 'ours'],
  ];
  for (const [index, [first = '', second = '', third = '']] of permutations.entries()) {
    copy.branch(`merged-${index}`, first);
    copy.merge(second);
    copy.merge(third);
    // And across: what the second had before.
    if (index > 0) copy.merge(`merged-${index - 1}`);
    const { steps } = readLockFile(copy.lockPath);
    said = ['hero/1', 'hero/2', 'hero/3'].map((address) => steps.get(address)?.decisions?.verdicts);
    texts.add(JSON.stringify(said));
  }
  expect(texts.size).toBe(1);
  expect(said).toMatchObject([
    [{ is: 'rejected', revision: 1 }],
    [{ revision: 2 }],
    [{ is: 'rejected', note: 'too blue', revision: 1 }],
  ]);
  expect(said[1]?.[0]).not.toHaveProperty('is');
  expect(studio.service.ledger).toHaveLength(3);
});
