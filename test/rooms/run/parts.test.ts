import { describe, expect, it } from 'vitest';
import type { JobEnd } from '../../../src/contract/answer.ts';
import { systemClock } from '../../../src/contract/clock.ts';
import { emptiesList, fillReferences, makeBody, referencedJobs } from '../../../src/run/references.ts';
import { nextOrder } from '../../../src/run/step.ts';
import { stopFor } from '../../../src/run/step-end.ts';
import { image, orderOf, type Script, tracedPorts } from './traced-ports.ts';

describe('the references of a request', () => {
  const request = { a: { $ref: 'x' }, list: [{ $ref: 'y', field: 'thumbnailUrl' }, 'z'], deep: { n: null, b: [1] } };
  const paidRequest = {
    a: { $ref: '1:x' },
    list: [{ $ref: '1:y', field: 'thumbnailUrl' }, 'z'],
    deep: { n: null, b: [1] },
  };

  it('name each step once, with the purchase that is meant', () => {
    const twice = {
      request: { ...request, more: { $ref: 'x' } },
      paidRequest: { ...paidRequest, more: { $ref: '1:x' } },
    };
    expect(referencedJobs(twice)).toEqual([
      { address: 'x', fingerprint: '1:x' },
      { address: 'y', fingerprint: '1:y' },
    ]);
    expect(
      referencedJobs({ request: { a: [1], b: {}, c: { $ref: 'x' } }, paidRequest: { a: {}, b: [1], c: null } }),
    ).toEqual([]);
  });

  const values = new Map([
    ['x', { url: 'https://x' }],
    ['y', { url: 'https://y', thumbnailUrl: 'https://t' }],
  ]);

  it('are filled in: the address, or the field that is asked for', () => {
    expect(fillReferences(request, values)).toEqual({
      body: { a: 'https://x', list: ['https://t', 'z'], deep: { n: null, b: [1] } },
    });
    expect(fillReferences({ t: { $text: ['see ', { $ref: 'x' }, 1] } }, values)).toEqual({
      body: { t: 'see https://x1' },
    });
  });

  it('are missing where a step gives no such field; the first is told', () => {
    expect(fillReferences({ a: { $ref: 'x', field: 'toString' }, b: { $ref: 'q' } }, values)).toEqual({
      missing: { address: 'x', field: 'toString' },
    });
    expect(fillReferences({ b: { $ref: 'q' } }, values)).toEqual({ missing: { address: 'q', field: 'url' } });
  });

  it('are left out of lists where the step does not exist', () => {
    const list = [{ $ref: 'x' }, { $ref: 'q' }, null, ['q'], 'q'];
    expect(fillReferences({ list }, values, new Set(['q']))).toEqual({
      body: { list: ['https://x', null, ['q'], 'q'] },
    });
  });

  it.each<[string, Parameters<typeof emptiesList>[0], string[], boolean]>([
    ['one of two', { l: [{ $ref: 'a' }, { $ref: 'b' }] }, ['a'], false],
    ['both', { l: [{ $ref: 'a' }, { $ref: 'b' }] }, ['a', 'b'], true],
    ['both, further in', { o: { l: [1, { l: [{ $ref: 'a' }] }] } }, ['a'], true],
    ['an empty list', { l: [] }, ['a'], false],
    ['a text of that name', { l: ['a', null, ['a']] }, ['a'], false],
    ['nobody', { l: [{ $ref: 'a' }] }, [], false],
  ])('empty a list: %s', (_name, open, absent, expected) => {
    expect(emptiesList(open, new Set(absent))).toBe(expected);
  });
});

describe('the bytes of a request that uses another step', () => {
  const uses = { request: { b: 1, a: { $ref: 'x' } }, paidRequest: { b: 1, a: { $ref: '1:x' } } };
  const job = { kind: 'image', jobId: 'job-x', files: 1 };

  async function make(end: JobEnd, script: Script = {}, absent: string[] = []) {
    const asked: unknown[] = [];
    const { ports, told } = tracedPorts({
      ledger: { jobOf: async (address, fingerprint) => (address === 'x' && fingerprint === '1:x' ? job : undefined) },
      service: {
        watch: async (watched, { fresh }) => {
          asked.push({ ...watched, fresh });
          return end;
        },
      },
      ...script,
    });
    return { made: await makeBody(orderOf(uses), ports, new Set(absent)), told, asked };
  }
  const completed: JobEnd = { is: 'completed', result: { values: { url: 'https://x' }, files: [] } };
  const blocked = (error: string) => ({ outcome: 'blocked', credits: 0, error });

  it('have the link that its job gives now', async () => {
    expect(await make(completed)).toEqual({
      made: '{"a":"https://x","b":1}',
      told: [],
      asked: [{ ...job, fresh: false }],
    });
  });

  it('have the address of an uploaded file, which is not asked for', async () => {
    const { made, asked } = await make(completed, { ledger: { jobOf: async () => ({ ...job, url: 'https://u' }) } });
    expect([made, asked]).toEqual(['{"a":"https://u","b":1}', []]);
  });

  it('cannot be made', async () => {
    expect((await make(completed, { ledger: {} })).made).toEqual(blocked('x has no finished job'));
    const none: JobEnd = { is: 'completed', result: { values: {}, files: [] } };
    expect((await make(none)).made).toEqual(blocked('the output of x has no `url`'));
    for (const is of ['failed', 'lost'] as const) {
      expect((await make({ is, error: 'e' })).made).toEqual(blocked('the output of x has no link: e'));
    }
    const absent = await make(completed, {}, ['x']);
    expect([absent.made, absent.asked]).toEqual([blocked('the output of x has no `url`'), []]);
  });

  it('are left to the next run when nobody watches any more', async () => {
    const { made, told } = await make({ is: 'unwatched', because: 'auth', error: 'HTTP 401' });
    expect(made).toEqual({ outcome: 'left', credits: 0, error: 'HTTP 401' });
    expect(told).toEqual([['stop', 'auth', 'HTTP 401']]);
  });
});

describe('a job that is no longer watched', () => {
  it.each([
    ['auth', [['stop', 'auth', 'e']]],
    ['unreachable', [['stop', 'unreachable', 'e']]],
    ['signal', []],
    ['patience', []],
  ] as const)('because of “%s” ends all buying, or nothing', (because, expected) => {
    const { ports, told } = tracedPorts();
    stopFor({ because, error: 'e' }, ports);
    expect(told).toEqual(expected);
  });
});

describe('buying a failed job again', () => {
  const retries = { left: 2, credits: 10, generation: 4, repeat: 1 };
  const failed = { error: 'render error', charged: 3 };

  it('is another purchase with a key of its own, and takes nothing of the last one along', () => {
    const order = orderOf({
      retries,
      jobId: 'j',
      credits: 3,
      send: { id: 's', since: '2030-01-01T00:00:00Z' },
      sharesJobOf: 'x',
      outputs: [image],
    });
    const next = nextOrder(order, failed);
    const { key, ...rest } = next ?? orderOf();
    const { key: before, ...same } = orderOf();
    expect(rest).toEqual({
      ...same,
      action: 'retry',
      generation: 4,
      attempt: 1,
      retries: { left: 1, credits: 7, generation: 5, repeat: 2 },
    });
    const keys = [before, key, nextOrder({ ...order, retries: { ...retries, repeat: 2 } }, failed)?.key];
    expect(new Set(keys).size).toBe(3);
  });

  /** What is left of the cap; undefined where it is not bought again. */
  const creditsLeft = (
    cap: number | null,
    price: number | null,
    charged: number | null,
    more: { left?: number; error?: string } = {},
  ) =>
    nextOrder(
      orderOf({
        price: { class: 'c', credits: price, source: 'unknown' },
        retries: { ...retries, credits: cap, left: more.left ?? 1 },
      }),
      { error: more.error ?? 'e', charged },
    )?.retries?.credits;

  it.each<[string, number | null | undefined, number | null | undefined]>([
    ['the cap is just reached', creditsLeft(3, 3, null), 0],
    ['the cap is passed by one', creditsLeft(2, 3, null), undefined],
    ['what was charged was more than the price', creditsLeft(10, 3, 5), 5],
    ['the price is more than what was charged', creditsLeft(10, 5, 3), 5],
    ['neither is known: at least one', creditsLeft(10, null, null), 9],
    ['it seems to be free: at least one all the same', creditsLeft(0, 0, 0), undefined],
    ['there is no cap', creditsLeft(null, 500, 500), null],
    ['no purchase is left', creditsLeft(10, 3, 3, { left: 0 }), undefined],
    ['it was moderated', creditsLeft(10, 3, 3, { error: 'blocked by moderation' }), undefined],
  ])('%s', (_name, credits, expected) => {
    expect(credits).toBe(expected);
  });

  it('does not happen where the plan does not allow it', () => {
    expect(nextOrder(orderOf(), failed)).toBeUndefined();
  });
});

describe('the real clock', () => {
  it('does not sleep once the signal is aborted, nor longer than until then', async () => {
    await systemClock.sleep(2 ** 40, AbortSignal.abort());
    const controller = new AbortController();
    const asleep = systemClock.sleep(2 ** 40, controller.signal);
    let awake = false;
    void asleep.then(() => {
      awake = true;
    });
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(awake).toBe(false);
    controller.abort();
    await asleep;
    expect(awake).toBe(true);
  });

  it('wakes by itself, with or without a signal, also from a negative sleep', async () => {
    await systemClock.sleep(0);
    await systemClock.sleep(-5, new AbortController().signal);
    await systemClock.sleep(1, new AbortController().signal);
    expect(systemClock.now()).toBeGreaterThan(Date.parse('2024-01-01'));
    expect(systemClock.random()).toBeLessThan(1);
  });
});
