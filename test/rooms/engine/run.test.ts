import { describe, expect, test } from 'vitest';
import { OutputError } from '../../../src/contract/errors.ts';
import type { RunFact } from '../../../src/contract/event.ts';
import { mostRevision } from '../../../src/lock/decisions.ts';
import { writeLock } from '../../../src/lock/write.ts';
import { actionsOf, graphOf, images, TestCampaign } from '../../rig/campaign.ts';
import { completed } from '../../rig/scripted-service.ts';

const reset = { answer: { is: 'ambiguous', message: 'reset' } } as const;

/** Each purchase once, whatever happened to the answers. */
function expectPaidOnce(campaign: TestCampaign, count: number): void {
  const keys = campaign.service.ledger.map(({ key }) => key);
  expect(keys).toHaveLength(count);
  expect(new Set(keys).size).toBe(count);
}

describe('one run', () => {
  test('buys, watches, fetches and records every step', async () => {
    const campaign = new TestCampaign(images(5));
    const { outcomes, events } = await campaign.run();
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['done']));
    expectPaidOnce(campaign, 5);
    const order = events.filter((event) => 'address' in event && event.address === 'pic@p1').map(({ event }) => event);
    expect(order).toEqual([
      'step-started',
      'create-intended',
      'job-created',
      'job-completed',
      'output-saved',
      'step-finished',
    ]);
  });

  test('buys no more while a thousand files wait to be saved', async () => {
    const campaign = new TestCampaign(images(1200));
    campaign.service.balance = 1_000_000;
    const { save } = campaign.outputs;
    let [saved, most] = [0, 0];
    campaign.outputs.save = async (target, download) => {
      await campaign.clock.sleep(60_000);
      most = Math.max(most, campaign.service.ledger.length - saved);
      saved += 1;
      return save(target, download);
    };
    const { outcomes } = await campaign.run({ concurrency: 50 });
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['done']));
    expectPaidOnce(campaign, 1200);
    // Whose jobs were under way when it was full come as well.
    expect(most).toBeGreaterThanOrEqual(1000);
    expect(most).toBeLessThanOrEqual(1050);
  });

  test('however many jobs may run at once, so many creates are on the wire, and no intent is written ahead', async () => {
    const campaign = new TestCampaign(images(60));
    let intended = 0;
    let answered = 0;
    let mostOpen = 0;
    const onEvent = ({ event }: RunFact) => {
      if (event === 'create-intended') intended += 1;
      if (event === 'job-created') answered += 1;
      mostOpen = Math.max(mostOpen, intended - answered);
    };
    const { outcomes } = await campaign.run({ concurrency: 60, creates: 7, onEvent });
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['done']));
    expect(campaign.service).toMatchObject({ mostOnWire: 7, mostInFlight: 60 });
    expect(mostOpen).toBe(7);
    expectPaidOnce(campaign, 60);
  });

  test('who waits for its turn to create has nothing on record when the run is interrupted', async () => {
    const campaign = new TestCampaign(images(30));
    const onEvent = ({ event }: RunFact, abort: () => void) => {
      if (event === 'job-created') abort();
    };
    const { outcomes } = await campaign.run({ concurrency: 30, creates: 3, onEvent });
    expect(campaign.service.creates.length).toBeLessThanOrEqual(6);
    expect(Object.values(outcomes).filter((outcome) => outcome === 'left').length).toBeGreaterThanOrEqual(24);
    await campaign.run({ concurrency: 30, creates: 3 });
    expectPaidOnce(campaign, 30);
  });

  test.each([
    ['an empty account', { is: 'refused', status: 402, why: 'credits', message: 'HTTP 402: no credits' }],
    ['a key that is refused', { is: 'refused', status: 401, why: 'auth', message: 'HTTP 401: no' }],
  ] as const)('%s ends all creates that have not left yet', async (_, answer) => {
    const campaign = new TestCampaign(images(60));
    campaign.service.trouble = (create) => (create > 10 ? { answer } : undefined);
    const { outcomes } = await campaign.run({ concurrency: 60, creates: 7 });
    expect(campaign.service.creates.length).toBeLessThanOrEqual(10 + 2 * 7);
    expect(Object.values(outcomes).filter((outcome) => outcome === 'done')).toHaveLength(10);
    expectPaidOnce(campaign, 10);
  });

  test('creates that wait for their turn wait for the end of a pause as well', async () => {
    const campaign = new TestCampaign(images(60));
    const throttled = { answer: { is: 'throttled', afterMs: 20_000, message: 'HTTP 429' } } as const;
    campaign.service.trouble = (create) => (create === 10 ? throttled : undefined);
    const sentAt: number[] = [];
    const { events } = await campaign.run({
      concurrency: 60,
      creates: 7,
      onEvent: ({ event }) => void (event === 'create-intended' && sentAt.push(campaign.clock.now())),
    });
    const pausedAt = sentAt[9] ?? 0;
    const during = sentAt.filter((at) => at > pausedAt + 100 && at < pausedAt + 20_000);
    expect(during).toEqual([]);
    // Seventeen at most had left when it was too much: those that only waited for their turn are not what was borne.
    const after = sentAt.filter((at) => at >= pausedAt + 20_000 && at < pausedAt + 30_000);
    expect(after.length).toBeLessThan(40);
    expect(events.filter(({ event }) => event === 'create-repeated')).toHaveLength(1);
    expectPaidOnce(campaign, 60);
  });
});

describe('--on-error', () => {
  const chains = `version: 1
name: test
tasks:
  pic: { kind: image, foreach: [p1, p2, p3, p4, p5, p6], with: { prompt: "a {{row}}" } }
  over: { kind: image, foreach: [p1, p2, p3, p4, p5, p6], with: { prompt: "over {{row}} {{tasks.pic.url}}" } }
`;
  const failSecond = (campaign: TestCampaign) => {
    campaign.service.endOf = ({ body }) => (body.includes('a p2') ? { is: 'failed', error: 'boom' } : undefined);
  };

  test('a chain as long as a manifest is blocked to its end', async () => {
    const tasks = Array.from({ length: 3000 }, (_, index) => {
      const before = index === 0 ? '' : ` {{tasks.t${index - 1}.url}}`;
      return `  t${index}: { kind: image, with: { prompt: "number ${index}${before}" } }\n`;
    });
    const campaign = new TestCampaign(`version: 1\nname: test\ntasks:\n${tasks.join('')}`);
    campaign.service.endOf = () => ({ is: 'failed', error: 'boom' });
    const { outcomes } = await campaign.run();
    expect(outcomes.t0).toBe('failed');
    expect(Object.values(outcomes).filter((outcome) => outcome === 'blocked')).toHaveLength(2999);
  });

  test('finish: what has begun is finished, and nothing more is bought; the next run goes on', async () => {
    const campaign = new TestCampaign(chains);
    failSecond(campaign);
    const { outcomes, events } = await campaign.run({ concurrency: 3, onError: 'finish' });
    expect(outcomes).toMatchObject({ 'pic@p1': 'done', 'pic@p2': 'failed', 'pic@p3': 'done', 'over@p2': 'blocked' });
    expect(Object.values(outcomes).filter((outcome) => outcome === 'left').length).toBeGreaterThanOrEqual(6);
    expect(campaign.service.ledger.length).toBeLessThanOrEqual(5);
    expect(events.filter(({ event }) => event === 'spending-stopped')).toEqual([
      { event: 'spending-stopped', because: 'failure', detail: 'pic@p2 failed' },
    ]);
    const again = await campaign.run({ concurrency: 3, onError: 'finish' });
    expect(new Set(Object.values(again.outcomes))).toEqual(new Set(['done']));
    expect(campaign.plan().rows.find(({ address }) => address === 'pic@p2')).toMatchObject({ action: 'failed' });
    expectPaidOnce(campaign, 11);
  });

  test.each([
    ['was refused', { answer: { is: 'refused', status: 400, why: 'invalid', message: 'HTTP 400: no' } }],
    ['stays unresolved', { ...reset, booked: true }],
  ] as const)('finish: also after a create request that %s', async (_, trouble) => {
    const campaign = new TestCampaign(images(8));
    campaign.service.canReplay = false;
    campaign.service.trouble = (create) => (create === 2 ? trouble : undefined);
    const { outcomes } = await campaign.run({ concurrency: 1, onError: 'finish' });
    expect(campaign.service.creates).toHaveLength(2);
    expect(Object.values(outcomes).filter((outcome) => outcome === 'left')).toHaveLength(6);
  });

  test('finish: a failed job that `retry` buys again is no failure yet', async () => {
    const campaign = new TestCampaign(images(4).replace('kind: image', 'kind: image, retry: { attempts: 2 }'));
    let failed = false;
    campaign.service.endOf = () => {
      if (failed) return undefined;
      failed = true;
      return { is: 'failed', error: 'boom' };
    };
    const { outcomes } = await campaign.run({ concurrency: 1, onError: 'finish' });
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['done']));
  });
});

describe('a job that failed', () => {
  const refusal = { answer: { is: 'refused', status: 400, why: 'invalid', message: 'HTTP 400: no' } } as const;

  test.each([
    ['and so it does where its first create was refused', [[], []]],
    ['also when that create was of an earlier purchase', [[], ['pic@p1']]],
  ])('stays failed until somebody asks for another: %s', async (_name, redos) => {
    const campaign = new TestCampaign(images(1));
    campaign.service.trouble = (create) => (create === 1 ? refusal : undefined);
    campaign.service.endOf = () => ({ is: 'failed', error: 'boom' });
    for (const redo of redos) await campaign.run({ redo });
    expectPaidOnce(campaign, 1);
    expect(campaign.plan().rows[0]).toMatchObject({ action: 'failed', credits: 0 });
    await campaign.run();
    expectPaidOnce(campaign, 1);
  });
});

describe('lost answers', () => {
  test('a create whose answer is lost after it was booked is sent again with the same key and bytes', async () => {
    const campaign = new TestCampaign(images(3));
    campaign.service.trouble = (create) => (create === 2 ? { ...reset, booked: true } : undefined);
    const { outcomes } = await campaign.run();
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['done']));
    expectPaidOnce(campaign, 3);
    const sent = campaign.service.creates;
    expect(sent).toHaveLength(4);
    for (const key of new Set(sent.map((create) => create.key))) {
      expect(new Set(sent.filter((create) => create.key === key).map(({ body }) => body)).size).toBe(1);
    }
  });

  test('eight lost answers: the step is unresolved, and the next run pays nothing more', async () => {
    const campaign = new TestCampaign(images(1));
    campaign.service.trouble = () => ({ ...reset, booked: true });
    const first = await campaign.run();
    expect(first.outcomes).toEqual({ 'pic@p1': 'unresolved' });
    expect(campaign.service.creates).toHaveLength(8);
    campaign.service.trouble = () => undefined;
    expect(campaign.plan().rows[0]).toMatchObject({ action: 'create' });
    await campaign.run();
    expectPaidOnce(campaign, 1);
  });

  test('after 23 hours nobody sends it again: a person decides', async () => {
    const campaign = new TestCampaign(images(2));
    campaign.service.trouble = (_create, body) => (body.includes('p1') ? { ...reset, booked: true } : undefined);
    await campaign.run();
    campaign.clock.advance(24 * 3_600_000);
    campaign.service.trouble = () => undefined;
    const plan = campaign.plan();
    expect(actionsOf(plan)).toEqual({ 'pic@p1': 'unresolved', 'pic@p2': 'keep' });
    expect(plan.totals.held).toBe(3);
    await campaign.run();
    expect(campaign.service.ledger).toHaveLength(2);
  });

  test('a token that cannot replay: one lost answer is enough, also after switching to a key', async () => {
    const campaign = new TestCampaign(images(1));
    campaign.service.canReplay = false;
    campaign.service.trouble = () => ({ ...reset, booked: true });
    expect((await campaign.run()).outcomes).toEqual({ 'pic@p1': 'unresolved' });
    expect(campaign.service.creates).toHaveLength(1);
    campaign.service.canReplay = true;
    campaign.service.trouble = () => undefined;
    expect(actionsOf(campaign.plan())).toEqual({ 'pic@p1': 'unresolved' });
    await campaign.run();
    expect(campaign.service.creates).toHaveLength(1);
  });

  test('a request with a link in it is sent again with the link of then', async () => {
    const campaign = new TestCampaign(`version: 1
name: chain
tasks:
  base: { kind: image, with: { prompt: base } }
  over: { kind: image, with: { prompt: over, referenceImages: ["{{tasks.base.url}}"] } }
`);
    campaign.service.trouble = (_create, body) => (body.includes('over') ? { ...reset, booked: true } : undefined);
    await campaign.run();
    campaign.service.trouble = () => undefined;
    campaign.service.endOf = ({ jobId }) => completed(`https://files.example/${jobId}?signed=anew`);
    await campaign.run();
    const bodies = campaign.service.creates.filter(({ body }) => body.includes('over')).map(({ body }) => body);
    expect(bodies.length).toBeGreaterThan(8);
    expect(new Set(bodies).size).toBe(1);
    expectPaidOnce(campaign, 2);
  });
});

describe('refusals', () => {
  test('402: no further create, what runs is collected, the next run makes a new attempt', async () => {
    const campaign = new TestCampaign(images(6));
    campaign.service.balance = 10;
    const { outcomes, gate } = await campaign.run({ concurrency: 2 });
    expect(gate.stopped).toBe('balance');
    expect(Object.values(outcomes).filter((outcome) => outcome === 'done')).toHaveLength(3);
    expect(campaign.service.creates.length).toBeLessThanOrEqual(3 + 2);
    campaign.service.balance = 100;
    await campaign.run();
    expectPaidOnce(campaign, 6);
  });

  test('401 in the middle: paid jobs are still collected', async () => {
    const campaign = new TestCampaign(images(6));
    campaign.service.trouble = (create) =>
      create > 3 ? { answer: { is: 'refused', status: 401, why: 'auth', message: 'HTTP 401' } } : undefined;
    const { outcomes } = await campaign.run({ concurrency: 2 });
    expect(Object.values(outcomes).filter((outcome) => outcome === 'done')).toHaveLength(3);
    expect(campaign.service.creates.length).toBeLessThanOrEqual(5);
  });

  test('a request that the service finds invalid does not stop the others', async () => {
    const campaign = new TestCampaign(images(4));
    campaign.service.trouble = (_create, body) =>
      body.includes('p2')
        ? { answer: { is: 'refused', status: 400, why: 'invalid', message: 'HTTP 400: no' } }
        : undefined;
    const { outcomes } = await campaign.run();
    expect(outcomes).toEqual({ 'pic@p1': 'done', 'pic@p2': 'refused', 'pic@p3': 'done', 'pic@p4': 'done' });
    expect(campaign.plan().rows[1]).toMatchObject({ action: 'create' });
    campaign.service.trouble = () => undefined;
    const before = campaign.service.creates.length;
    await campaign.run();
    const keys = campaign.service.creates.filter(({ body }) => body.includes('p2')).map(({ key }) => key);
    // A refusal is free, and the service may have forgotten it: its key comes first again.
    expect(campaign.service.creates).toHaveLength(before + 1);
    expect(new Set(keys).size).toBe(1);
    expectPaidOnce(campaign, 4);
  });

  test('429: creates leave as often as the service bears, and not all at once after each pause', async () => {
    const campaign = new TestCampaign(images(60, 'prices: { image: 3 }'));
    const { clock } = campaign;
    const startedAt = clock.now();
    let [tokens, filledAt, refused] = [4, startedAt, 0];
    campaign.service.trouble = () => {
      tokens = Math.min(4, tokens + (clock.now() - filledAt) / 2000);
      filledAt = clock.now();
      if (tokens >= 1) {
        tokens -= 1;
        return undefined;
      }
      refused += 1;
      return { answer: { is: 'throttled', afterMs: 1000, message: 'HTTP 429' } };
    };
    const { outcomes } = await campaign.run({ concurrency: 30 });
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['done']));
    expectPaidOnce(campaign, 60);
    // Those of the first moment are all on the wire before the first answer comes.
    expect(refused).toBeLessThan(60);
    expect(clock.now() - startedAt).toBeLessThan(1.5 * 60 * 2000);
  });

  test('a host that cannot be reached: nothing was sent, nothing is charged, the run ends', async () => {
    const campaign = new TestCampaign(images(3));
    campaign.service.trouble = () => ({ answer: { is: 'not-sent', message: 'ECONNREFUSED' } });
    const { outcomes, ledger, gate } = await campaign.run();
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['left']));
    expect(gate.stopped).toBe('unreachable');
    expect(ledger.account.spentNow + ledger.account.held).toBe(0);
  });
});

describe('the budget in a run', () => {
  test('spent and held stay within the budget at every moment', async () => {
    const campaign = new TestCampaign(images(30, 'budget: { credits: 50 }'));
    campaign.service.trouble = (create) => (create % 5 === 0 ? { ...reset, booked: create % 2 === 0 } : undefined);
    const { events } = await campaign.run({ concurrency: 8 });
    const accounts = events.flatMap((event) =>
      event.event === 'credits-changed' ? [event.spentEver + event.held] : [],
    );
    expect(accounts.length).toBeGreaterThan(10);
    expect(Math.max(...accounts)).toBeLessThanOrEqual(50);
  });
});

describe('interruptions', () => {
  test('the first signal: nothing new is bought, running jobs stay attached, the next run collects them', async () => {
    const campaign = new TestCampaign(images(8));
    const { outcomes } = await campaign.run({
      concurrency: 3,
      onEvent: (event, abort) => {
        if (event.event === 'job-created' && campaign.service.ledger.length >= 3) abort();
      },
    });
    const bought = campaign.service.ledger.length;
    expect(Object.values(outcomes).filter((outcome) => outcome === 'running').length).toBeGreaterThan(0);
    expect(bought).toBeLessThan(8);
    expect(Object.values(actionsOf(campaign.plan())).filter((action) => action === 'attach')).toHaveLength(bought);
    await campaign.run();
    expectPaidOnce(campaign, 8);
  });

  test('a ledger that cannot be written ends all spending, and the id that was bought is said aloud', async () => {
    for (let line = 0; line < 12; line += 1) {
      const campaign = new TestCampaign(images(4));
      campaign.file.failAfter = line;
      const facts: string[] = [];
      const run = campaign.run({
        unsettled: true,
        onEvent: (event) => {
          if (event.event === 'noticed') facts.push(event.message);
        },
      });
      await run.catch(() => {});
      const recorded = campaign.file.text;
      for (const { jobId, key } of campaign.service.ledger) {
        expect(recorded).toContain(key);
        expect(recorded.includes(jobId) || facts.some((fact) => fact.includes(jobId))).toBe(true);
      }
      campaign.file.failAfter = Number.POSITIVE_INFINITY;
      await campaign.run();
      expectPaidOnce(campaign, 4);
    }
  });
});

describe('downloads', () => {
  test('a broken body is fetched again, and the job kept if it never comes whole', async () => {
    const campaign = new TestCampaign(images(2));
    campaign.outputs.problems.push(new OutputError('bad-bytes', 'ends early'));
    expect(Object.values((await campaign.run({ concurrency: 1 })).outcomes)).toEqual(['done', 'done']);
    const other = new TestCampaign(images(1));
    for (let times = 0; times < 5; times += 1) other.outputs.problems.push(new OutputError('bad-bytes', 'ends early'));
    expect((await other.run()).outcomes).toEqual({ 'pic@p1': 'failed' });
    expect(actionsOf(other.plan())).toEqual({ 'pic@p1': 'attach' });
    await other.run();
    expectPaidOnce(other, 1);
  });
});

describe('what an attacker or a bad day could do', () => {
  test('a charge that the service does not state counts as what was reserved', async () => {
    const campaign = new TestCampaign(`version: 1
name: silent
budget: { credits: 9 }
tasks:
  song: { kind: music, foreach: [a, b, c], with: { model: song-7.5, prompt: "{{row}}" } }
`);
    campaign.service.creditsOf = () => 4;
    campaign.service.silent = true;
    await campaign.run({ concurrency: 1 });
    expect(campaign.service.ledger).toHaveLength(2);
    await campaign.run();
    expect(campaign.service.ledger).toHaveLength(2);
  });

  test.each([1, 8])('where a service tells balances, the fall tells the charge (%i at a time)', async (concurrency) => {
    const campaign = new TestCampaign(images(6, 'budget: { credits: 60 }'));
    campaign.service.silent = true;
    const { events } = await campaign.run({ concurrency });
    expect(campaign.service.ledger).toHaveLength(6);
    const charges = events.flatMap((event) => (event.event === 'job-created' ? [event.credits] : []));
    expect(charges.slice(0, 2)).toEqual([null, 3]);
    const { totals } = campaign.plan();
    expect(totals.alreadyPaid + totals.held).toBe(18);
    expect(totals.guessed).toBeUndefined();
  });

  test('what a list tells of a charge is believed upwards where a price is known', async () => {
    const campaign = new TestCampaign(`version: 1
name: films
budget: { credits: 100 }
prices: { video: 10 }
tasks:
  film: { kind: video, foreach: [a, b, c], with: { model: m, prompt: "{{row}}" } }
`);
    campaign.service.creditsOf = (body) => (body.includes('"b"') ? 1 : body.includes('"c"') ? 14 : 10);
    campaign.service.trouble = (create) => (create > 1 ? { ...reset, booked: true } : undefined);
    campaign.service.listsCredits = true;
    await campaign.run({ concurrency: 1 });
    expect(campaign.service.ledger.map(({ credits }) => credits)).toEqual([10, 1, 14]);
    expect(campaign.plan().totals.alreadyPaid).toBe(10 + 10 + 14);
  });

  test.each([
    ['known', 'prices: { image: 3 }'],
    ['unknown', ''],
  ])(
    'a key that is sent again and charged nothing then was charged before, at a price that is %s',
    async (_name, prices) => {
      const campaign = new TestCampaign(images(4, `budget: { credits: 7 }\n${prices}`));
      campaign.service.replaysAreFree = true;
      campaign.service.trouble = (create) => (create % 2 === 1 ? { ...reset, booked: true } : undefined);
      for (let run = 0; run < 3; run += 1) await campaign.run();
      const charged = campaign.service.ledger.reduce((sum, { credits }) => sum + credits, 0);
      const { alreadyPaid, held, heldUnpriced = 0 } = campaign.plan().totals;
      expect(charged).toBeLessThanOrEqual(7);
      expect(alreadyPaid + held + heldUnpriced).toBeGreaterThanOrEqual(charged);
    },
  );

  test('two lost answers of an unknown price hold everything that is left', async () => {
    const campaign = new TestCampaign(images(6, 'budget: { credits: 14 }'));
    campaign.service.canReplay = false;
    campaign.service.trouble = (create) => (create < 4 ? { ...reset, booked: true } : undefined);
    await campaign.run();
    expect(campaign.service.ledger).toHaveLength(2);
    await campaign.run();
    expect(campaign.service.ledger).toHaveLength(2);
  });

  test('a shared job and a reference mean the very request, not whatever the address bought last', async () => {
    const text = (prompt: string, more = '') => `version: 1
name: history
tasks:
  hero: { kind: image, with: { prompt: ${prompt} } }
${more}`;
    const campaign = new TestCampaign(text('A'));
    await campaign.run();
    campaign.graph = graphOf(text('B'));
    await campaign.run();
    const more = `  copy: { kind: image, with: { prompt: A } }
  dep: { kind: image, with: { prompt: dep, referenceImages: ["{{tasks.hero.url}}"] } }
`;
    campaign.graph = graphOf(text('A', more));
    await campaign.run();
    const first = campaign.service.ledger[0]?.jobId ?? '';
    expect(campaign.outputs.files.get('output/copy.png')).toBe(campaign.outputs.files.get('output/hero.png'));
    expect(campaign.service.ledger.at(-1)?.body).toContain(first);
  });
});

test('a lock edited to the highest generation: nothing is sent that could not be put on record', async () => {
  const campaign = new TestCampaign(images(1));
  await campaign.run();
  const lock = campaign.file.read();
  for (const { purchases } of lock.steps.values()) for (const one of purchases) one.generation = mostRevision;
  campaign.file.text = writeLock(lock);
  await expect(campaign.run({ redo: ['pic@p1'] })).rejects.toThrow(
    'the highest possible value: lower the generation in the lock',
  );
  expect(campaign.service.ledger).toHaveLength(1);
});
