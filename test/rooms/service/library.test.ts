import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/ground/json.ts';
import { readCatalog } from '../../../src/kinds/listed-model.ts';
import { failure, key, type Reply, refusal, type Scripted, serveScript } from './scripted.ts';

const always = (reply: Reply): Promise<Scripted> => serveScript(() => reply);
const drop: Reply = (response) => response.destroy();

it.each<[string, Reply, string, number | undefined]>([
  ['401', refusal(401), 'auth', 401],
  ['403', refusal(403), 'auth', 403],
  ['400', refusal(400), 'refused', 400],
  ['404', refusal(404), 'refused', 404],
  ['429', refusal(429), 'unreachable', 429],
  ['500', refusal(500), 'unreachable', 500],
  ['a redirect', { status: 302, headers: { location: 'https://elsewhere.example/' } }, 'unreachable', 302],
  ['a page', { text: '<html>' }, 'unreachable', 200],
  ['half of an answer', { text: '{"success":tr' }, 'unreachable', 200],
  ['success that is none', { json: { success: false, message: 'no' } }, 'refused', 200],
  ['a connection that breaks', drop, 'unreachable', undefined],
  ['an answer that never comes', () => {}, 'unreachable', undefined],
])('why a call came to nothing: %s', async (_name, reply, why, status) => {
  const { library } = await always(reply);
  const error = await failure(library.accounts());
  expect([error.why, error.status]).toEqual([why, status]);
  expect(error.message).not.toContain(key);
  expect(error.message).not.toBe('');
});

describe('tables', () => {
  it('voices, without those that cannot be read', async () => {
    const aria = { id: 'Aria', label: 'Aria', description: 'Warm', gender: 'female', accent: 'american' };
    const heard = { ...aria, previewUrl: 'https://a.example/a.mp3' };
    const voices = [heard, { ...aria, id: 'B', previewUrl: null }, { id: 7.5 }, null, 'x'];
    const { library, names } = await always({ json: { success: true, voices } });
    expect(await library.voices()).toEqual([heard, { ...aria, id: 'B' }]);
    expect(names()).toEqual(['GET /voiceovers/voices']);
  });

  it('accounts, also by numbers; one that cannot be read, or a page to come, makes the list no proof of an absence', async () => {
    const listOf = async (data: object[], hasNextPage = false) => {
      const { library } = await always({ json: { success: true, data, pagination: { hasNextPage } } });
      const { accounts, isWhole } = await library.accounts();
      return [accounts.map(({ id }) => id), isWhole];
    };
    const google = { id: 'a1', provider: 'google', accountName: 'A', accountUsername: 'a', expiresAt: '2026-12-01' };
    const { library } = await always({ json: { success: true, data: [google] } });
    const account = { id: 'a1', provider: 'google', name: 'A', username: 'a', expiresAt: '2026-12-01' };
    expect((await library.accounts()).accounts).toEqual([account]);
    expect(await listOf([{ id: 7041 }, { id: 'a1' }])).toEqual([['7041', 'a1'], true]);
    expect(await listOf([{ id: 'a1' }, { name: 'x' }])).toEqual([['a1'], false]);
    expect(await listOf([{ id: 'a1' }], true)).toEqual([['a1'], false]);
  });

  const alpha = { model: 'alpha-2', kind: 'image', credits: 3 };
  const perSecond = { key: 'd', credits: 4, per: 'second' };
  const odd = [{ key: 'a', credits: '3' }, { key: 'b', credits: -1 }, perSecond];
  const everyName = JSON.parse('{"__proto__":[{"key":"a"}],"constructor":{"key":"b"}}');
  it.each<[string, unknown, object[]]>([
    ['a list', [{ key: 'alpha-2', kind: 'image', credits: 3 }], [alpha]],
    ['a list in data', { data: [{ id: 'alpha-2', type: 'IMAGE', cost: 3 }] }, [alpha]],
    ['groups', { catalog: [{ id: 'image', name: 'Images', models: [{ key: 'alpha-2', credits: 3 }] }] }, [alpha]],
    ['odd prices', odd, [{ model: 'a', credits: 3 }, { model: 'b' }, { model: 'd', credits: 4, per: 'second' }]],
    ['nothing that is a model', { data: [[[[1]]], 'x', { success: true }] }, []],
    ['nothing deeper than is sensible', { a: { b: { c: { d: { e: { f: { g: [{ key: 'x' }] } } } } } } }, []],
    ['names of every object', everyName, [{ model: 'a', kind: '__proto__' }]],
  ])('the catalog as %s', async (_name, json, models) => {
    const { library } = await always({ json });
    expect(readCatalog(await library.catalog())).toEqual(models);
  });

  it.each([null, 7, 'x', [], {}, { voices: {} }, { data: { data: {} } }])('another shape: %j', async (json) => {
    const { library } = await always({ json });
    const { accounts } = await library.accounts();
    expect([await library.voices(), accounts, readCatalog(json as Json)]).toEqual([[], [], []]);
  });
});

describe('jobs', () => {
  const item = (id: string) => ({ id, status: 'COMPLETED', prompt: 'x' });
  const page = (ids: string[], pagination?: object): Reply => ({
    json: { success: true, generations: ids.map(item), ...(pagination && { pagination }) },
  });
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `j${from + index}`);

  it('every page as far as it takes', async () => {
    const { library, calls } = await serveScript(({ query }) => {
      const start = (Number(query.get('page')) - 1) * 100;
      return page(range(start, start + 100), { hasNextPage: true });
    });
    const jobs = await library.jobs('video', { limit: 250 });
    expect(jobs.map(({ jobId }) => jobId)).toEqual(range(0, 250));
    expect(calls.map(({ query }) => query.toString())).toEqual([1, 2, 3].map((page) => `page=${page}&limit=100`));
  });

  it('asks for no more than is wanted', async () => {
    const { library, calls } = await always(page(range(0, 5), { hasNextPage: true }));
    expect(await library.jobs('video', { limit: 5 })).toHaveLength(5);
    expect(calls.map(({ query }) => query.get('limit'))).toEqual(['5']);
    expect(await library.jobs('video', { limit: 0 })).toEqual([]);
    expect(calls).toHaveLength(1);
  });

  it.each<[string, object | undefined, number]>([
    ['that says there is more, for ever', { hasNextPage: true }, 2],
    ['that says nothing', undefined, 2],
    ['that says there is one page', { totalPages: 1 }, 1],
    ['that says it is the last one', { hasNextPage: false, totalPages: 9 }, 1],
  ])('the same page again and again, %s', async (_name, pagination, requests) => {
    const { library, calls } = await always(page(range(0, 3), pagination));
    expect(await library.jobs('voiceover', { limit: 1000 })).toHaveLength(3);
    expect(calls).toHaveLength(requests);
  });

  it('a job that moved onto the next page is listed once', async () => {
    const { library } = await serveScript(({ query }) =>
      query.get('page') === '1' ? page(['a', 'b'], { hasNextPage: true }) : page(['b', 'c'], { hasNextPage: false }),
    );
    expect((await library.jobs('video', { limit: 9 })).map(({ jobId }) => jobId)).toEqual(['a', 'b', 'c']);
  });

  it('a list that refuses our length of a page gives its own', async () => {
    const { library, calls } = await serveScript(({ query }) =>
      query.has('limit') ? refusal(400) : page(['a'], { hasNextPage: false }),
    );
    expect(await library.jobs('voiceover', { limit: 50 })).toHaveLength(1);
    expect(calls).toHaveLength(2);
  });

  it('what an item tells', async () => {
    const facts = { status: 'FAILED', createdAt: '2026-01-01T00:00:00Z', model: 'motion-2', error: 'moderated' };
    const prompt = 'x'.repeat(5000);
    const outputAsset = { id: 'a', url: 'https://a.example/v.mp4' };
    const video = { ...facts, id: 'v1', prompt, creditsUsed: 20, outputAsset };
    const odd = [{ id: '../x y' }, { status: 'QUEUED' }, null, [], { id: 'v2', creditsUsed: -1, status: 7 }];
    const { library } = await always({ json: { generations: [video, ...odd] } });
    const [first, ...others] = await library.jobs('video', { limit: 10 });
    expect(first).toEqual({
      ...{ ...facts, kind: 'video', jobId: 'v1', credits: 20, url: outputAsset.url },
      prompt: 'x'.repeat(2000),
      // To be compared, not to be shown: uncut.
      echoes: { model: 'motion-2', prompt },
    });
    expect(others).toEqual([{ kind: 'video', jobId: 'v2', status: 'unknown', echoes: {} }]);
  });

  it('thumbnails have a record beside their job', async () => {
    const data = [{ id: 'r1', jobId: 'j1', title: 'T', status: 'COMPLETED', image: 'https://a.example/t.png' }];
    const { library, names } = await always({ json: { success: true, data } });
    const facts = { kind: 'thumbnail', jobId: 'j1', recordId: 'r1', status: 'COMPLETED', prompt: 'T' };
    expect(await library.jobs('thumbnail', { limit: 10 })).toEqual([{ ...facts, echoes: { title: 'T' } }]);
    expect(names()).toEqual(['GET /thumbnails']);
  });

  it('kinds without a list are not asked for', async () => {
    const { library, calls } = await always({ json: {} });
    for (const kind of ['image', 'music', 'influencer', 'upload', 'post']) {
      expect(await library.jobs(kind, { limit: 10 })).toEqual([]);
    }
    expect(calls).toEqual([]);
  });

  it.each([null, [], { generations: {} }, { data: [] }])('an answer without the list: %j', async (json) => {
    const { library } = await always({ json });
    expect((await failure(library.jobs('video', { limit: 10 }))).why).toBe('unusable');
  });
});

describe('one job', () => {
  const texts = (status: number, error: number) => ({ status: 's'.repeat(status), error: 'e'.repeat(error) });
  const tells = (data: object): Reply => ({ json: { success: true, data } });

  it.each<[string, object, object]>([
    ['its status', { id: 'j1', status: 'PROCESSING' }, { status: 'PROCESSING' }],
    ['no id', { status: 'QUEUED', error: '' }, { status: 'QUEUED' }],
    ['its kind', { status: 'QUEUED', format: 'BASIC' }, { status: 'QUEUED', kind: 'image' }],
    ['what is no word for a kind', { status: 'toString' }, { status: 'toString' }],
    ['what was used', { status: 'COMPLETED', creditsUsed: 0, credits: 9 }, { status: 'COMPLETED', credits: 0 }],
    ['what was deducted', { status: 'COMPLETED', creditsDeducted: 5 }, { status: 'COMPLETED', credits: 5 }],
    ['its credits', { status: 'COMPLETED', creditsUsed: -1, credits: 7 }, { status: 'COMPLETED', credits: 7 }],
    ['no number of credits', { status: 'COMPLETED', creditsUsed: '5', credits: 0.5 }, { status: 'COMPLETED' }],
    ['long texts', texts(61, 501), texts(60, 500)],
  ])('with %s', async (_name, data, facts) => {
    const { library, names } = await always(tells(data));
    expect(await library.job('image', 'j1')).toEqual(facts);
    expect(names()).toEqual(['GET /image/status/j1']);
  });

  it('that is not there', async () => {
    expect(await (await always(refusal(404))).library.job('image', 'j1')).toBeUndefined();
  });

  it.each<[string, Reply, string]>([
    ['no status', tells({ id: 'j1' }), 'the answer has no job status'],
    ['no data', { json: [] }, 'the answer has no job status'],
    ['another id', tells({ id: 'j2', status: 'QUEUED' }), 'the answer is about another job'],
  ])('an answer with %s', async (_name, reply, message) => {
    const { library } = await always(reply);
    const error = await failure(library.job('image', 'j1'));
    expect([error.why, error.message]).toEqual(['unusable', message]);
  });
});

describe('removal', () => {
  it.each<[string, { jobId: string; recordId?: string }, string]>([
    ['music', { jobId: 'm1' }, 'DELETE /music-generations/m1'],
    ['clipping', { jobId: 'c1' }, 'DELETE /clippings/c1'],
    ['thumbnail', { jobId: 'j1', recordId: 'r1' }, 'DELETE /thumbnails/r1'],
    ['thumbnail', { jobId: 'j1' }, 'DELETE /thumbnails/j1'],
    ['music', { jobId: 'a/b$&?x=1' }, 'DELETE /music-generations/a%2Fb%24%26%3Fx%3D1'],
  ])('of %s %j', async (kind, ids, call) => {
    const { library, names } = await always({ json: { success: true, message: 'gone' } });
    expect(await library.removeJob(kind, ids)).toBe('removed');
    expect(names()).toEqual([call]);
  });

  it.each<[number, string]>([
    [404, 'gone'],
    [410, 'gone'],
    [204, 'removed'],
  ])('%i means %s', async (status, outcome) => {
    const { library } = await always(status === 204 ? { status } : refusal(status));
    expect(await library.removeJob('music', { jobId: 'm1' })).toBe(outcome);
  });

  const listed = (...data: object[]): Reply => ({ json: { success: true, data } });

  it.each<[string, string, 'removed' | 'gone', string[]]>([
    ['by its record', 'r1', 'removed', ['DELETE /thumbnails/r1']],
    ['by its job', 'j1', 'removed', ['DELETE /thumbnails/r1', 'DELETE /thumbnails/j1']],
    ['by neither', '', 'gone', ['DELETE /thumbnails/r1', 'DELETE /thumbnails/j1', 'GET /thumbnails']],
  ])('of a thumbnail that goes %s', async (_name, id, result, calls) => {
    const { library, names } = await serveScript(({ method, name }) =>
      method === 'GET'
        ? listed({ id: 'r2', jobId: 'j2' })
        : name.endsWith(`/${id}`) && id !== ''
          ? { status: 204 }
          : refusal(404),
    );
    expect(await library.removeJob('thumbnail', { jobId: 'j1', recordId: 'r1' })).toBe(result);
    expect(names()).toEqual(calls);
  });

  it('is not said to have been before while the service shows it', async () => {
    const { library, names } = await serveScript(({ method }) =>
      method === 'GET' ? listed({ id: 'r1', jobId: 'j1' }, { id: 'r2', jobId: 'j2' }) : refusal(404),
    );
    for (const ids of [{ jobId: 'j1', recordId: 'r1' }, { jobId: 'j2' }]) {
      const error = await failure(library.removeJob('thumbnail', ids));
      expect([error.why, error.message]).toEqual(['refused', expect.stringContaining('the record still exists')]);
    }
    expect(names().filter((name) => name.startsWith('GET'))).toHaveLength(1);
    const music = await serveScript(({ method }) =>
      method === 'GET' ? { json: { success: true, data: { id: 'm1', status: 'COMPLETED' } } } : refusal(404),
    );
    expect((await failure(music.library.removeJob('music', { jobId: 'm1' }))).why).toBe('refused');
  });

  it.each<[Reply, string]>([
    [refusal(401), 'auth'],
    [refusal(500), 'unreachable'],
    [drop, 'unreachable'],
    [{ text: '<html>' }, 'unreachable'],
    [{ json: { success: false, message: 'in use' } }, 'refused'],
  ])('what is not sure is an error, and not tried again (%#)', async (reply, why) => {
    const { library, calls } = await always(reply);
    expect((await failure(library.removeJob('music', { jobId: 'm1' }))).why).toBe(why);
    expect(calls).toHaveLength(1);
  });

  it('never of anything but an id of a kind that can be removed', async () => {
    const { library, calls } = await always({ json: {} });
    for (const [kind = '', jobId = ''] of [
      ['video', 'v1'],
      ['music', '..'],
      ['constructor', 'x'],
    ])
      await expect(library.removeJob(kind, { jobId })).rejects.toThrow('internal error');
    expect(calls).toEqual([]);
  });
});

describe('the OpenAPI document', () => {
  const document = { openapi: '3.1.0', paths: {} };

  it('below the base', async () => {
    const { library, names } = await always({ json: document });
    expect(await library.document()).toEqual(document);
    expect(names()).toEqual(['GET /openapi.json']);
  });

  it.each<[string, Reply]>([
    ['is not there', refusal(404)],
    ['is a page', { text: '<html>' }],
    ['is something else', { json: { success: true } }],
    ['is broken just now', refusal(500)],
  ])('at the root of the host, where the first one %s', async (_name, reply) => {
    const { library, names } = await serveScript(({ name }) =>
      name === 'GET //api-docs/openapi.json' ? { json: document } : reply,
    );
    expect(await library.document()).toEqual(document);
    expect(names()).toEqual(['GET /openapi.json', 'GET //api-docs/openapi.json']);
  });

  it('a refused key, or a host that is not there, is not asked twice', async () => {
    const refused = await always(refusal(401));
    expect((await failure(refused.library.document())).why).toBe('auth');
    const broken = await always(drop);
    expect((await failure(broken.library.document())).why).toBe('unreachable');
    expect([refused.calls.length, broken.calls.length]).toEqual([1, 1]);
  });

  it('none anywhere', async () => {
    const { library } = await always({ json: { paths: [] } });
    expect((await failure(library.document())).why).toBe('unusable');
  });
});

it('the key goes with each call, and how far the clocks differ is told', async () => {
  const date = new Date(Date.now() + 3_600_000).toUTCString();
  const { library, calls } = await always({ json: { success: true, data: [] }, headers: { date } });
  const { skewMs = 0, latencyMs } = await library.ping();
  expect(Math.round(skewMs / 60_000)).toBe(60);
  expect(latencyMs).toBeGreaterThan(0);
  expect(calls[0]?.headers.authorization).toBe(`Bearer ${key}`);
});
