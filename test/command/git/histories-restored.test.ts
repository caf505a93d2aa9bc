import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { expectExit } from '../../rig/command.ts';
import {
  type Campaign,
  expectOpen,
  expectSettled,
  makeBranches,
  makeCampaign,
  priceOf,
  recordJob,
} from './branches.ts';
import type { Copy } from './working-copy.ts';

const lock = 'campaign.lock.jsonl';
const kinds = ['image', 'video', 'influencer'];
const other = { kind: 'image', says: 'a rug' };

/** Commits on main: `lost` has an open create of `hero`, `found` its job. */
async function loseAndFind(kind: string): Promise<Campaign> {
  const campaign = await makeCampaign(kind);
  const { copy, subject } = campaign;
  copy.git('tag', 'start');
  expect(await copy.applyUnanswered(subject)).toBe(true);
  copy.commit('lost');
  copy.git('tag', 'lost');
  if (kind === 'influencer') await recordJob(campaign);
  await expectExit(0, copy.apply());
  copy.commit('found');
  copy.git('tag', 'found');
  return campaign;
}

describe('an old lock that git restored', () => {
  test.each(kinds)('%s: by checkout of the file from the commit with the lost answer', async (kind) => {
    const campaign = await loseAndFind(kind);
    const { studio, copy, booked } = campaign;
    copy.git('checkout', '--quiet', 'lost', '--', lock);
    await expectOpen(copy, studio.service, priceOf(kind));
    // Nobody else can be asked.
    if (kind === 'influencer') await recordJob(campaign);
    await expectSettled(copy, studio.service, booked(1));
  });

  test('image: by reset to the commit before the create request, within a day', async () => {
    const { studio, copy, booked } = await loseAndFind('image');
    copy.git('reset', '--quiet', '--hard', 'start');
    await expectSettled(copy, studio.service, booked(1));
  });

  test.each(kinds)('%s: by cherry-pick onto the commit with the recovered job', async (kind) => {
    const { studio, copy, booked } = await loseAndFind(kind);
    copy.branch('again', 'found');
    copy.tryGit('cherry-pick', '--strategy-option=theirs', 'lost');
    copy.tryGit('add', '-A');
    copy.commit('picked');
    // A union of both texts: old and new lines of one step stand in it.
    writeFileSync(
      copy.lockPath,
      copy.git('show', `lost:${lock}`) + copy.git('show', `found:${lock}`).replace(/^.*\n/, ''),
    );
    await expectSettled(copy, studio.service, booked(1));
    writeFileSync(
      copy.lockPath,
      copy.git('show', `found:${lock}`) + copy.git('show', `lost:${lock}`).replace(/^.*\n/, ''),
    );
    await expectSettled(copy, studio.service, booked(1));
  });
});

/** Branch `theirs` has an open create, `ours` has bought something else. No `merge=union`: git leaves the choice to people. */
async function conflict(kind: string): Promise<Campaign> {
  const campaign = await makeBranches(kind, { other });
  const { copy, subject } = campaign;
  for (const [branch, act] of [
    ['ours', () => copy.apply('-s', 'other')],
    // Runs on this machine bought something for a lock that this branch does not have: it is to have one of its own.
    ['theirs', () => copy.applyUnanswered(subject, '-s', 'hero', '--new')],
  ] as const) {
    copy.git('checkout', '--quiet', branch);
    rmSync(join(copy.folder, '.gitattributes'));
    await act();
    copy.commit(branch);
  }
  return campaign;
}

const bought = { 'image a rug': 1 };

describe('without merge=union', () => {
  test.each([
    ['merge', ['merge', '--quiet', '--no-edit']],
    ['rebase', ['rebase', '--quiet']],
    ['cherry-pick', ['cherry-pick']],
  ])('reads an unresolved create request from a lock with conflict markers (%s)', async (_, words) => {
    const { studio, copy, booked } = await conflict('video');
    copy.git('checkout', '--quiet', 'ours');
    copy.tryGit(...words, 'theirs');
    await expectOpen(copy, studio.service, 10);
    await expectSettled(copy, studio.service, { ...booked(1), ...bought });
    expect(copy.lock).not.toContain('<<<<<<<');
  });

  test.each(['--ours', '--theirs'])('a user takes %s: the image is still paid for once', async (side) => {
    const { studio, copy, booked } = await conflict('image');
    copy.git('checkout', '--quiet', 'ours');
    copy.tryGit('merge', '--quiet', '--no-edit', 'theirs');
    copy.git('checkout', side, '--', lock);
    copy.commit('merged');
    await expectSettled(copy, studio.service, { ...booked(1), ...bought });
  });

  test('a user takes the side with the unresolved create request, and the other side is restored', async () => {
    const { studio, copy, booked } = await conflict('video');
    copy.git('checkout', '--quiet', 'ours');
    copy.tryGit('merge', '--quiet', '--no-edit', 'theirs');
    copy.git('checkout', '--theirs', '--', lock);
    await expectOpen(copy, studio.service, 10);
    await expectSettled(copy, studio.service, { ...booked(1), ...bought });
  });
});

describe('two clones at the same moment', () => {
  const share = async (studio: Campaign['studio'], copies: Copy[]) => {
    const [first, second] = copies as [Copy, Copy];
    for (const copy of copies) copy.commit('at the same moment');
    first.tryGit('pull', '--quiet', '--no-rebase', '--no-edit', second.folder, 'main');
    first.commit('joined');
    second.git('pull', '--quiet', '--no-rebase', '--no-edit', first.folder, 'main');
    expect(studio.service.violations).toEqual([]);
  };

  test('pays for each image and song once although answers in both clones are lost', async () => {
    const { studio, copy, booked } = await makeCampaign('image', { song: { kind: 'music', says: 'a tune' }, other });
    const { service } = studio;
    const second = studio.clone(copy);
    service.fate = ({ nth }) => (nth === 2 || nth === 4 ? 'lose' : nth === 3 ? 'drop' : 'book');
    await Promise.all([copy.apply(), second.apply()]);
    service.fate = () => 'book';
    await share(studio, [copy, second]);
    for (const one of [copy, second]) await expectSettled(one, service, { ...booked(1), ...bought, 'music a tune': 1 });
  });
});
