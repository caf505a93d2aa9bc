import { describe, expect, it, test } from 'vitest';
import type { JobEnd, UploadAnswer } from '../../../src/contract/answer.ts';
import { systemClock } from '../../../src/contract/clock.ts';
import type { OpenRequest } from '../../../src/graph/graph.ts';
import { emptiesList, fillReferences, makeBody, matchStoredBody } from '../../../src/run/references.ts';
import { nextOrder, runStep } from '../../../src/run/step.ts';
import { image, orderOf, type Script, tracedPorts } from './traced-ports.ts';

describe('the references of a request', () => {
  const request = { a: { $ref: 'x' }, list: [{ $ref: 'y', field: 'thumbnailUrl' }, 'z'], deep: { n: null, b: [1] } };
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
});

it('the real clock does not sleep once the signal is aborted, nor longer than until then', async () => {
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

const file = { path: 'a.png', sha256: 'a'.repeat(64), bytes: 7 };
const uploaded: UploadAnswer = { is: 'uploaded', assetId: 'asset-1', url: 'https://l.example/a' };
const onRecord = ['finish', { state: 'done', jobId: 'asset-1', outputs: [], url: 'https://l.example/a' }];

async function upload(facts: Parameters<typeof orderOf>[0], answer: UploadAnswer = uploaded, script: Script = {}) {
  const sent: unknown[] = [];
  const service = {
    upload: async (order: unknown) => {
      sent.push(order);
      return answer;
    },
  };
  const { ports, told, events } = tracedPorts({ service, ...script });
  const end = await runStep(orderOf({ kind: 'upload', request: {}, ...facts }), ports, () => 1);
  return { end, sent, told, events };
}

const done = { outcome: 'done', credits: 0 };
const left = { outcome: 'left', credits: 0 };

describe('bringing a file into the library', () => {
  it('sends the file under its name and type, and puts its address on record', async () => {
    const request = { fileName: 'b.png', contentType: 'image/png' };
    expect(await upload({ file, request })).toEqual({
      end: done,
      sent: [{ ...file, ...request }],
      told: [['release'], onRecord],
      events: [{ event: 'file-uploaded', address: 'hero@de', assetId: 'asset-1', bytes: 7 }],
    });
  });

  it('has a link fetched by the service; its size is not known', async () => {
    const { sent, events } = await upload({ request: { url: 'https://a.example/x', fileName: 7, contentType: null } });
    expect(sent).toEqual([{ url: 'https://a.example/x' }]);
    expect(events).toMatchObject([{ bytes: null }]);
  });

  it('shares what another step sent, if that has an address', async () => {
    const jobOf = (url?: string) => ({
      ledger: {
        jobOf: async () => ({ kind: 'upload', jobId: 'asset-1', files: 0, ...(url !== undefined && { url }) }),
      },
    });
    const shared = await upload({ file, sharesJobOf: 'x' }, uploaded, jobOf('https://l.example/a'));
    expect(shared).toEqual({ end: done, sent: [], told: [onRecord], events: [] });
    expect((await upload({ file, sharesJobOf: 'x' }, uploaded, jobOf())).sent).toHaveLength(1);
    expect((await upload({ file }, uploaded, jobOf('https://l.example/a'))).sent).toHaveLength(1);
  });

  it('sends nothing in a run that is ending', async () => {
    const nothing = { end: left, sent: [], told: [], events: [] };
    expect(await upload({ file }, uploaded, { aborted: true })).toEqual(nothing);
    const begin = async () => ({ do: 'stop', because: 'auth' }) as const;
    expect(await upload({ file }, uploaded, { ledger: { begin } })).toEqual(nothing);
  });

  it.each<[Extract<UploadAnswer, { is: 'failed' }>['why'], object, unknown[]]>([
    ['changed', { outcome: 'refused', credits: 0, error: 'm' }, []],
    ['refused', { outcome: 'refused', credits: 0, error: 'm' }, []],
    ['auth', { ...left, error: 'm' }, [['stop', 'auth', 'm']]],
    ['unreachable', { ...left, error: 'm' }, [['stop', 'unreachable', 'm']]],
    ['interrupted', left, []],
  ])('ends with “%s”', async (why, end, stops) => {
    const answer = await upload({ file }, { is: 'failed', why, message: 'm' });
    expect(answer).toEqual({ end, sent: [file], told: [['release'], ...stops], events: [] });
  });
});

const link = 'https://example.com/a.png?sig=1';
const logo = { $ref: 'logo' };
const request = {
  prompt: 'a lamp',
  model: 'alpha-2',
  seed: 7,
  referenceImages: [logo, 'https://example.com/fixed.png', { $ref: 'hero@de' }],
  style: { $text: ['like ', logo, ' and ', { $ref: 'hero@de', field: 'title' }, ' !'] },
} as unknown as OpenRequest;
const sent = {
  prompt: 'a lamp',
  model: 'alpha-2',
  seed: 7,
  referenceImages: [link, 'https://example.com/fixed.png', link],
  style: `like ${link} and words !`,
};

const take = (body: unknown, of: OpenRequest = request) => matchStoredBody(of, JSON.stringify(body)) !== undefined;

describe('a kept body', () => {
  test('is taken when only the values of other steps were filled in', () => {
    expect(take(sent)).toBe(true);
    expect(take({ ...sent, referenceImages: ['https://example.com/fixed.png', link] })).toBe(true);
    expect(take({ ...sent, referenceImages: [link, 'https://example.com/fixed.png'] })).toBe(true);
    expect(take({ ...sent, referenceImages: ['https://example.com/fixed.png'] })).toBe(true);
    expect(matchStoredBody(request, undefined)).toBeUndefined();
  });

  test.each<[string, object]>([
    ['another text', { prompt: 'a car' }],
    ['another model', { model: 'alpha-9' }],
    ['another number', { seed: 8 }],
    ['a number as a text', { seed: '7' }],
    ['something more', { resolution: '8k' }],
    ['something that stands for nothing', { ['__proto__']: { resolution: '8k' } }],
    ['something less', { model: undefined }],
    ['more in a list', { referenceImages: [...sent.referenceImages, link] }],
    ['another fixed link', { referenceImages: [link, 'https://example.com/theirs.png', link] }],
    ['a list turned round', { referenceImages: ['https://example.com/fixed.png', link, link] }],
    ['no list', { referenceImages: { 0: link, 1: 'https://example.com/fixed.png', 2: link } }],
    ['a list for a link', { referenceImages: [[link], 'https://example.com/fixed.png', link] }],
    ['a file for a link', { referenceImages: ['file:///etc/passwd', 'https://example.com/fixed.png', link] }],
    ['other words around a value', { style: `as ${link} and words !` }],
    ['words after a value', { style: `like ${link} and words ! And a car` }],
    ['words that overlap', { style: `like ${link} and !` }],
  ])('is not taken with %s', (_, difference) => {
    expect(take({ ...sent, ...difference })).toBe(false);
  });

  test.each(['', 'null', '[]', '"a lamp"', '{', '7', `${'['.repeat(100_000)}${']'.repeat(100_000)}`])(
    'is no body of this request: %$',
    (text) => {
      expect(matchStoredBody(request, text)).toBeUndefined();
    },
  );

  test('of a request without values of other steps is that very request', () => {
    const plain: OpenRequest = { prompt: 'a', list: [1, null, true] };
    expect(take({ prompt: 'a', list: [1, null, true] }, plain)).toBe(true);
    expect(take({ prompt: 'a', list: [1, null] }, plain)).toBe(false);
    expect(take({ prompt: 'a', list: [1, 0, true] }, plain)).toBe(false);
  });
});
