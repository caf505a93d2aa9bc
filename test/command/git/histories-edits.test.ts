import { describe, expect, test } from 'vitest';
import { expectExit } from '../../rig/command.ts';
import { type Campaign, expectOpen, expectSettled, idsMissing, makeCampaign, openRows, priceOf } from './branches.ts';
import type { Tasks } from './working-copy.ts';

const hour = 3_600_000;
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

const counts = (kind: string, buys: string[]) =>
  Object.fromEntries(buys.map((subject) => [subject.replace('KIND', kind), 1]));

describe.each(['image', 'video'])('a lost answer that can be asked for, and then: %s', (kind) => {
  test.each(changes)('$change', async ({ tasks, buys, with: given = [] }) => {
    const { studio, copy, known, booked } = await loseAnswer(kind, kind === 'image' ? 'service' : 'power');
    const { service } = studio;
    copy.tasks({ ...known, ...tasks(kind) });
    await expectOpen(copy, service, priceOf(kind), given);
    await expectExit(0, copy.apply(...given));
    // The same key, and with it the same bytes as then: see `violations` of the service.
    await expectSettled(copy, service, { ...booked(1), ...counts(kind, buys) });
  });

  test.each(changes.slice(1, 4))('$change, and a day went by', async ({ tasks, buys, address = 'hero' }) => {
    const { studio, copy, known, subject, booked } = await loseAnswer(kind, 'power');
    const { service } = studio;
    copy.tasks({ ...known, ...tasks(kind) });
    studio.time.pass(30 * hour);
    if (kind === 'image') {
      await expectExit(6, copy.apply());
      expect(openRows(await copy.plan())).not.toEqual([]);
      const jobId = service.idsOf(subject)[0] ?? '';
      await expectExit(0, resolveAt([address, 'hero'], copy, ['--job', jobId, '--credits', '3']));
    }
    await expectSettled(copy, service, { ...booked(1), ...counts(kind, buys) });
  });
});

/** What was renamed may be decided under its old or its new name. */
async function resolveAt(addresses: string[], copy: Campaign['copy'], args: string[]) {
  const [first = '', ...others] = addresses;
  let ran = await copy.resolve(first, ...args);
  for (const address of others) if (ran.code !== 0) ran = await copy.resolve(address, ...args);
  return ran;
}

test.each(changes)(
  'a lost answer that nobody can be asked for, and then: $change',
  async ({ tasks, buys, with: given = [], address = 'hero' }) => {
    const { studio, copy, subject, booked } = await loseAnswer('influencer', 'power');
    const { service } = studio;
    copy.tasks(tasks('influencer'));
    await expectOpen(copy, service, 8, given);
    await expectExit(6, copy.apply(...given));
    expect(service.idsOf(subject)).toHaveLength(1);
    const job = ['--job', service.idsOf(subject)[0] ?? '', '--credits', '8'];
    await expectExit(0, resolveAt([address, 'hero'], copy, job));
    await expectSettled(copy, service, { ...booked(1), ...counts('influencer', buys) });
  },
);

describe('a row of data', () => {
  const rows = (...names: string[]) => ({ foreach: names.map((name) => ({ name })), key: '{{row.name}}' });

  test.each(['image', 'video', 'influencer'])('is deleted while the answer of its step is lost: %s', async (kind) => {
    const { studio, copy, known, booked } = await makeCampaign(kind);
    const { service } = studio;
    const subject = `${kind} a green vase`;
    copy.tasks({ ...known, hero: { kind, says: 'a green {{row.name}}', more: rows('rug', 'vase') } });
    await copy.applyUnanswered(subject, '-s', 'hero@vase');
    copy.tasks({ ...known, hero: { kind, says: 'a green {{row.name}}', more: rows('rug') } });
    await expectOpen(copy, service, priceOf(kind));
    if (kind === 'influencer') {
      await expectExit(0, copy.resolve('hero@vase', '--job', `${service.idsOf(subject)[0]}`, '--credits', '8'));
    }
    await expectSettled(copy, service, { ...booked(0), [subject]: 1, [`${kind} a green rug`]: 1 });
  });
});

/** Its request holds the link of another step. */
const variant = {
  kind: 'image',
  says: '',
  more: { with: { prompt: 'a variant', referenceImages: ['{{tasks.hero.url}}'] } },
};

test('bytes that hold a link of an upstream step are asked for as they were sent, though both steps are gone', async () => {
  const { studio, copy } = await makeCampaign('image');
  const { service } = studio;
  copy.tasks({ hero: { kind: 'image', says: 'a lamp' }, other, variant });
  expect(await copy.applyUntilPowerCut('image a variant')).toBe(true);
  copy.tasks({ other });
  await expectOpen(copy, service, 3);
  await expectSettled(copy, service, { 'image a lamp': 1, 'image a rug': 1, 'image a variant': 1 });
});

test.each(['image', 'video'])('a budget that is all held: %s is asked for, which costs nothing more', async (kind) => {
  const { studio, copy, subject, known, booked } = await makeCampaign(kind);
  const { service } = studio;
  copy.budget = service.ledger.reduce((sum, { credits }) => sum + credits, priceOf(kind));
  copy.tasks({ ...known, hero: { kind, says: 'a lamp' } });
  expect(await copy.applyUnanswered(subject)).toBe(true);
  copy.tasks({ ...known, hero: { kind, says: 'a vase' } });
  await expectExit(4, copy.apply());
  expect(idsMissing(copy, service)).toEqual([]);
  copy.tasks({ ...known, hero: { kind, says: 'a lamp' } });
  await expectSettled(copy, service, booked(1));
});

test('bytes that hold a link and are not known on this machine are not sent under their key with another link', async () => {
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
