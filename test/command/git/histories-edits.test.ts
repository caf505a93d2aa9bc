import { describe, expect, test } from 'vitest';
import { expectExit } from '../../rig/command.ts';
import { type Campaign, expectOpen, expectSettled, makeCampaign, priceOf } from './branches.ts';
import type { Tasks } from './working-copy.ts';

const other = { kind: 'image', says: 'a rug' };

/** What becomes of the manifest while the answer to the create of `hero` is lost; `buys`: what is to be paid for besides. */
interface Change {
  change: string;
  tasks(kind: string): Tasks;
  buys: string[];
  /** How the commands are called after it. */
  with?: string[];
  address?: string;
}

const changes: Change[] = [
  { change: 'nothing changed', tasks: (kind) => ({ hero: { kind, says: 'a lamp' }, other }), buys: ['image a rug'] },
  {
    change: 'its words were edited',
    tasks: (kind) => ({ hero: { kind, says: 'a vase' }, other }),
    buys: ['image a rug', 'KIND a vase'],
  },
  { change: 'the step was removed', tasks: () => ({ other }), buys: ['image a rug'] },
  {
    change: 'the step was renamed',
    tasks: (kind) => ({ portrait: { kind, says: 'a lamp' }, other }),
    buys: ['image a rug'],
    address: 'portrait',
  },
  {
    change: 'it was renamed and edited',
    tasks: (kind) => ({ portrait: { kind, says: 'a vase' }, other }),
    buys: ['image a rug', 'KIND a vase'],
  },
  {
    change: 'it was switched off',
    tasks: (kind) => ({ hero: { kind, says: 'a lamp', more: { when: '{{eq 1 2}}' } }, other }),
    buys: ['image a rug'],
  },
  {
    change: 'its kind was changed',
    tasks: () => ({ hero: { kind: 'music', says: 'a tune' }, other }),
    buys: ['image a rug', 'music a tune'],
  },
  {
    change: 'another step is selected',
    tasks: (kind) => ({ hero: { kind, says: 'a lamp' }, other }),
    buys: ['image a rug'],
    with: ['-s', 'other'],
  },
  {
    change: 'it is left out by an exclusion',
    tasks: (kind) => ({ hero: { kind, says: 'a lamp' }, other }),
    buys: ['image a rug'],
    with: ['-x', 'hero'],
  },
];

async function loseAnswer(kind: string, cut: 'power' | 'service'): Promise<Campaign> {
  const campaign = await makeCampaign(kind, { other });
  const { copy, subject } = campaign;
  const only = ['-s', 'hero'];
  const isLost = cut === 'power' ? copy.applyUntilPowerCut(subject, ...only) : copy.applyUnanswered(subject, ...only);
  expect(await isLost).toBe(true);
  return campaign;
}

describe.each(['image', 'video', 'influencer'])('a lost answer, and then: %s', (kind) => {
  test.each(changes)('$change', async ({ tasks, buys, with: given = [], address = 'hero' }) => {
    const { studio, copy, subject, known, booked } = await loseAnswer(kind, kind === 'image' ? 'service' : 'power');
    const { service } = studio;
    copy.tasks({ ...known, ...tasks(kind) });
    await expectOpen(copy, service, priceOf(kind), given);
    // An influencer cannot be asked for: somebody decides about it, under its new name or its old one.
    await expectExit(kind === 'influencer' ? 6 : 0, copy.apply(...given));
    expect(service.idsOf(subject)).toHaveLength(1);
    if (kind === 'influencer') {
      const job = ['--job', service.idsOf(subject)[0] ?? '', '--credits', '8'];
      const { code } = await copy.resolve(address, ...job);
      if (code !== 0) await expectExit(0, copy.resolve('hero', ...job));
    }
    // The same key, and with it the same bytes as then: see `violations` of the service.
    const bought = Object.fromEntries(buys.map((one) => [one.replace('KIND', kind), 1]));
    await expectSettled(copy, service, { ...booked(1), ...bought });
  });
});

/** Its request holds the link of another step. */
const variant = {
  kind: 'image',
  says: '',
  more: { with: { prompt: 'a variant', referenceImages: ['{{tasks.hero.url}}'] } },
};

test('a request with the link of an upstream step is retried with the sent bytes after both steps were removed', async () => {
  const { studio, copy } = await makeCampaign('image');
  const { service } = studio;
  copy.tasks({ hero: { kind: 'image', says: 'a lamp' }, other, variant });
  expect(await copy.applyUntilPowerCut('image a variant')).toBe(true);
  copy.tasks({ other });
  await expectOpen(copy, service, 3);
  await expectSettled(copy, service, { 'image a lamp': 1, 'image a rug': 1, 'image a variant': 1 });
});

test('a request whose sent bytes are unknown on this machine is not retried with another link', async () => {
  const { studio, copy } = await makeCampaign('image');
  const { service } = studio;
  copy.tasks({ hero: { kind: 'image', says: 'a lamp' }, variant });
  expect(await copy.applyUntilPowerCut('image a variant')).toBe(true);
  copy.commit('lost');
  const elsewhere = studio.clone(copy);
  const { code, err } = await elsewhere.apply();
  expect(service.violations, err).toEqual([]);
  expect(service.idsOf('image a variant'), err).toHaveLength(1);
  expect(code, err).toBe(6);
  await expectSettled(copy, service, { 'image a lamp': 1, 'image a variant': 1 });
});
