import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findWrong, makeTeam, type Repository } from './repositories.ts';

async function expectDone(repository: Repository): Promise<string> {
  const { code, err } = await repository.apply();
  expect(code, err).toBe(0);
  return err;
}

/** All three where git leaves markers; where it joins the lines itself they differ little. */
const ways: { name: string; bring(repository: Repository): void }[] = [
  { name: 'merge', bring: ({ git }) => git(['merge', '--quiet', 'theirs'], { mayFail: true }) },
  { name: 'rebase', bring: ({ git }) => git(['rebase', '--quiet', 'theirs'], { mayFail: true }) },
  { name: 'cherry-pick', bring: ({ git }) => git(['cherry-pick', 'theirs'], { mayFail: true }) },
];

describe.each([true, false])('branches of one campaign, merge=union %s', (union) => {
  test.each(union ? ways.slice(0, 1) : ways)(
    'I7 two branches that bought other steps, brought together by $name',
    async ({ name, bring }) => {
      const team = await makeTeam({ union });
      const { first } = team;
      await expectDone(first);
      first.commit('a and b');
      first.git(['checkout', '--quiet', '-b', 'theirs']);
      first.rows('a', 'b', 'c');
      await expectDone(first);
      first.commit('c');
      first.git(['checkout', '--quiet', 'main']);
      first.rows('a', 'b', 'd');
      await expectDone(first);
      first.commit('d');
      bring(first);
      // The list of rows is a person's to put right. The lock is taken as git left it, with markers if there are any.
      const hasMarkers = first.lockText().includes('<<<<<<<');
      expect(hasMarkers).toBe(!union);
      first.rows('a', 'b', 'c', 'd');
      const err = await expectDone(first);
      expect(err.includes('MB2004')).toBe(hasMarkers);
      expect(findWrong(team, first, 4)).toEqual([]);
      expect(first.lockText()).not.toContain('<<<<<<<');
      first.git(['add', '-A']);
      first.git(name === 'merge' ? ['commit', '--quiet', '-m', 'joined'] : [name, '--continue']);
      expect(first.git(['status', '--porcelain'])).toBe('');
      expect(await expectDone(first)).toContain('Nothing to do');
    },
  );
});

describe('branches that bought the same', () => {
  test('I7 two branches that bought the same step within a day have the same job', async () => {
    const team = await makeTeam();
    const { first } = team;
    first.git(['checkout', '--quiet', '-b', 'theirs']);
    await expectDone(first);
    first.commit('bought here');
    first.git(['checkout', '--quiet', 'main']);
    expect(first.lockText()).toBe('');
    await expectDone(first);
    first.commit('bought there');
    first.git(['merge', '--quiet', 'theirs']);
    expect(await expectDone(first)).toContain('Nothing to do');
    expect(findWrong(team, first, 2)).toEqual([]);
  });

  test('I7 two branches that bought the same step two days apart keep both jobs, and it is said', async () => {
    let laterMs = 0;
    const team = await makeTeam({ now: () => Date.now() + laterMs });
    const { first, service } = team;
    first.git(['checkout', '--quiet', '-b', 'theirs']);
    await expectDone(first);
    first.commit('bought here');
    first.git(['checkout', '--quiet', 'main']);
    laterMs = 48 * 3_600_000;
    // On another machine, which has neither the purchase journal nor the outputs.
    rmSync(join(service.env.XDG_STATE_HOME ?? '', 'mediabatch', 'purchases'), { recursive: true });
    rmSync(join(first.folder, 'output'), { recursive: true });
    await expectDone(first);
    first.commit('bought there');
    expect(service.ledger()).toHaveLength(4);
    first.git(['merge', '--quiet', 'theirs'], { mayFail: true });
    const { code, err } = await first.apply();
    expect(code, err).toBe(0);
    expect(err).toContain('paid for twice');
    expect(new Set(first.jobIds())).toEqual(new Set(service.ledger().map(({ id }) => id)));
    expect(service.ledger()).toHaveLength(4);
  });
});

describe('one working copy', () => {
  test('a stash, and its return: nothing is bought again, no id is lost', async () => {
    const team = await makeTeam();
    const { first } = team;
    await expectDone(first);
    first.commit('a and b');
    first.rows('a', 'b', 'c');
    await expectDone(first);
    first.git(['stash', '--quiet']);
    expect(first.jobIds()).toHaveLength(2);
    expect(await expectDone(first)).toContain('Nothing to do');
    first.git(['stash', 'pop', '--quiet']);
    expect(await expectDone(first)).toContain('Nothing to do');
    expect(findWrong(team, first, 3)).toEqual([]);
  });

  test('back to a commit from before the purchase, within a day: the same jobs again', async () => {
    const team = await makeTeam();
    const { first } = team;
    await expectDone(first);
    first.commit('a and b');
    first.git(['reset', '--quiet', '--hard', 'HEAD~1']);
    expect(first.lockText()).toBe('');
    await expectDone(first);
    expect(findWrong(team, first, 2)).toEqual([]);
  });

  test('git puts an older lock in the place of the one that a run writes: both are joined', async () => {
    const team = await makeTeam({ speed: 4 });
    const { first, service } = team;
    await expectDone(first);
    first.commit('a and b');
    first.rows('a', 'b', 'c', 'd', 'e');
    let swapped = false;
    const during = await first.apply([], () => {
      if (swapped || service.ledger().length < 4) return;
      swapped = true;
      first.git(['checkout', '--quiet', 'HEAD', '--', 'campaign.lock.jsonl']);
    });
    expect(swapped).toBe(true);
    expect([0, 73], during.err).toContain(during.code);
    const known = new Set(first.jobIds());
    expect(service.ledger().filter(({ id }) => !known.has(id))).toEqual([]);
    await expectDone(first);
    expect(findWrong(team, first, 5)).toEqual([]);
  });
});

describe('two working copies', () => {
  test('I20 two clones with one account buy each image and each song once, at the same moment', async () => {
    const team = await makeTeam();
    const second = team.clone();
    for (const { folder, rows } of [team.first, second]) {
      expect(folder).not.toBe('');
      rows('a', 'b', 'c', 'd');
    }
    await Promise.all([expectDone(team.first), expectDone(second)]);
    expect(findWrong(team, team.first, 4)).toEqual([]);
    expect(findWrong(team, second, 4)).toEqual([]);
    expect(second.lockText()).toBe(team.first.lockText());
  });

  test('a laptop and a runner without memory: what one has paid for, the other fetches', async () => {
    const team = await makeTeam();
    const { first: laptop } = team;
    laptop.rows('a', 'b', 'c');
    await expectDone(laptop);
    laptop.commit('bought on the laptop');
    const runner = team.clone();
    runner.rows('a', 'b', 'd');
    await expectDone(runner);
    runner.commit('bought in the pipeline');
    runner.git(['push', '--quiet', 'origin', 'HEAD:main']);
    laptop.git(['pull', '--quiet', '--no-rebase', 'origin', 'main'], { mayFail: true });
    laptop.rows('a', 'b', 'c', 'd');
    laptop.commit('joined');
    await expectDone(laptop);
    expect(findWrong(team, laptop, 4)).toEqual([]);
    laptop.commit('settled');
    laptop.git(['push', '--quiet', 'origin', 'main']);
    const fresh = team.clone();
    await expectDone(fresh);
    expect(findWrong(team, fresh, 4)).toEqual([]);
  });
});
