import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { command, expectExit } from '../rig/command.ts';
import { serveHere } from '../rig/listen.ts';
import { folderWith, key } from './scripted.ts';

const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=',
  'base64',
);
const video = Buffer.from('\0\0\0\x10ftypisom\0\0\0\0\0\0\0\x08mdat', 'latin1');

interface Given {
  /** Where videos are made. */
  create?: string;
  /** The service's own document; absent: it has none. */
  document?: unknown;
  /** The answer to an operation that there is not. */
  missing?: [status: number, body: string];
}

/** A service that makes pictures, and videos somewhere. */
async function serviceAt({ create = '/videos/create', document, missing = [404, 'Cannot POST'] }: Given) {
  const seen: string[] = [];
  const made: string[] = [];
  const given = { create, document, missing };
  const origin = await serveHere((request, response) => {
    const path = (request.url ?? '').replace('/api/v1', '');
    const [bare = ''] = path.split('?');
    seen.push(`${request.method} ${path}`);
    const json = (body: unknown) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    request.resume().on('end', () => {
      const isVideo = request.method === 'POST' && bare === given.create;
      if (isVideo || (request.method === 'POST' && bare === '/image-generations/create')) {
        made.push(`${isVideo ? 'v' : 'i'}${made.length + 1}`);
        return json({ success: true, generation: { id: made.at(-1) }, creditsDeducted: 2, creditsRemaining: 90 });
      }
      if (bare === '/openapi.json' && given.document !== undefined) return json(given.document);
      if (bare.startsWith('/files/')) return response.end(bare.includes('/v') ? video : picture);
      const id = /\/status\/(\w+)$/.exec(bare)?.[1];
      if (id !== undefined)
        return json({ success: true, data: { id, status: 'COMPLETED', outputUrl: `${url}/files/${id}` } });
      if (bare === '/videos/all') return json({ success: true, generations: [], pagination: { hasNextPage: false } });
      const [status, body] = given.missing;
      response.writeHead(status).end(body);
    });
  });
  const url = `${origin}/api/v1`;
  return { seen, made, given, url, env: { MEDIABATCH_BASE_URL: url, MEDIABATCH_API_KEY: key } };
}

const campaign = `version: 1
name: films
service: { concurrency: 1 }
prices: { image: 2, video: 2 }
tasks:
  film: { kind: video, foreach: [a, b, c], with: { prompt: "{{row}}" }, save: "out/{{row}}" }
  hero: { kind: image, with: { prompt: hero }, save: out/hero }
`;
const only = (...tasks: string[]) =>
  campaign
    .split('\n')
    .filter((line) => !/^ {2}(film|hero):/.test(line) || tasks.includes(line.trim().split(':')[0] ?? ''))
    .join('\n');

const post = (...fields: string[]) => ({
  post: {
    requestBody: {
      content: {
        'application/json': {
          schema: { type: 'object', properties: Object.fromEntries(fields.map((name) => [name, { type: 'string' }])) },
        },
      },
    },
  },
});
const documentOf = (paths: object) => ({ openapi: '3.1.0', info: { version: '1.2.0' }, paths });

const apply = (folder: string, env: Record<string, string>) =>
  command(['apply', 'campaign.yaml', '--yes', '--poll-interval', '10'], { cwd: folder, env });
const asksForDocument = (seen: string[]) => seen.filter((call) => call.includes('openapi.json'));

test.each([
  ['has one', documentOf({ '/videos/create': post('prompt') })],
  ['has none', undefined],
])(
  'the document is requested only for a purchase that needs it: a service that %s: once when it is bought, not when there is only something to fetch, never when nothing is to do',
  async (_name, document) => {
    const { seen, env } = await serviceAt({ document });
    const folder = folderWith({ 'campaign.yaml': campaign });
    expect((await apply(folder, env)).code).toBe(0);
    expect(asksForDocument(seen).length).toBe(document === undefined ? 2 : 1);
    seen.length = 0;
    const again = await apply(folder, env);
    expect([again.code, seen], again.err).toEqual([0, []]);
    rmSync(join(folder, 'out/b.mp4'));
    await expectExit(0, apply(folder, env));
    expect(seen).toEqual(
      ['GET /video/status/v2', 'GET /files/v2'].map((call) => expect.stringMatching(call.replace(/v2/, 'v\\d'))),
    );
  },
);

describe('a service with other paths', () => {
  test('jobs are created at the path of its document, with the fields of the operation', async () => {
    const create = '/videos/generations/new';
    const document = documentOf({
      [create]: post('prompt', 'duration'),
      '/videos/{id}/publish': post('prompt'),
      '/videos/tags': post('tag'),
    });
    const { seen, made, env } = await serviceAt({ create, document });
    await expectExit(0, apply(folderWith({ 'campaign.yaml': campaign }), env));
    expect(made).toHaveLength(4);
    expect(seen.filter((call) => call.startsWith('POST /videos'))).toEqual(Array(3).fill(`POST ${create}`));
  });

  test('without a matching operation nothing is sent, and the other kinds are bought', async () => {
    const document = documentOf({ '/videos/tags': post('tag') });
    const { seen, made, env } = await serviceAt({ create: '/somewhere', document });
    const { err } = await expectExit(3, apply(folderWith({ 'campaign.yaml': campaign }), env));
    expect(made).toEqual(['i1']);
    expect(seen.filter((call) => call.startsWith('POST /videos'))).toEqual([]);
    expect(err).toContain(
      "not sent: the service's OpenAPI document has no POST /videos/create or POST /videos, and no other POST operation below /videos has the field `prompt`",
    );
  });

  test.each([404, 405])('a missing route (%i) ends no run and stops no other kind', async (status) => {
    const { seen, made, env, given } = await serviceAt({ create: '/somewhere', missing: [status, '<html>no</html>'] });
    const folder = folderWith({ 'campaign.yaml': campaign });
    const { err } = await expectExit(3, apply(folder, env));
    expect(made).toEqual(['i1']);
    expect(err).toContain(`the service has no POST /videos/create or POST /videos (HTTP ${status}`);
    expect(err).toContain('mediabatch help MB1511');
    // Not once for each step.
    expect(seen.filter((call) => call.startsWith('POST /videos'))).toEqual(['POST /videos/create', 'POST /videos']);
    // Nothing is open: where the route is there, they are made.
    given.create = '/videos/create';
    await expectExit(0, apply(folder, env));
    expect(made).toHaveLength(4);
  });
});

describe('a field that the document of the service does not list', () => {
  const film = (field: string) => `version: 1
name: films
prices: { video: 2 }
tasks:
  film: { kind: video, with: { prompt: x, ${field}: "https://example.com/a.jpg" } }
`;
  const document = documentOf({ '/videos/create': post('prompt', 'imageUrl') });

  test.each([
    ['imagUrl', 'a slip'],
    ['image', 'what another service calls it'],
  ])('%s, %s: plan, validate and apply warn about it; with --strict it is an error', async (field) => {
    const { env, made } = await serviceAt({ document });
    const folder = folderWith({ 'campaign.yaml': film(field) });
    const run = (...args: string[]) => command(args, { cwd: folder, env });
    const warned = `warning MB1501 \`${field}\` is not a field of POST /videos/create in the service's OpenAPI document`;
    // Nothing is kept yet: nobody knows.
    expect((await run('validate', 'campaign.yaml')).err).not.toContain('MB1501');
    for (const args of [
      ['plan', 'campaign.yaml', '--refresh'],
      ['plan', 'campaign.yaml'],
      ['validate', 'campaign.yaml'],
    ]) {
      const ran = await run(...args);
      expect(ran, ran.err).toMatchObject({ code: 0, err: expect.stringContaining(warned) });
      expect(ran.err).toContain('did you mean `imageUrl`?');
      expect(ran.err.match(/MB1501/g)).toHaveLength(1);
      const strict = await run(...args, '--strict');
      expect(strict, strict.err).toMatchObject({ code: 65, err: expect.stringContaining('error MB1501') });
    }
    const refused = await run('apply', 'campaign.yaml', '--yes', '--poll-interval', '10');
    expect([refused.code, made.length], refused.err).toEqual([5, 0]);
    expect(refused.err).toContain(warned);
    expect(refused.err).toContain('--yes does not approve a field that is probably misspelt');
  });
});

test('validate counts unchecked requests until the document is stored', async () => {
  const wrong = only('film').replace('prompt: "{{row}}"', 'prompt: "{{row}}", ratio: "21:9"');
  const typed = { type: 'object', properties: { prompt: { type: 'string' }, ratio: { enum: ['16:9'] } } };
  const document = documentOf({
    '/videos/create': { post: { requestBody: { content: { 'application/json': { schema: typed } } } } },
  });
  const { env, seen } = await serviceAt({ document });
  const folder = folderWith({ 'campaign.yaml': wrong });
  const run = (...args: string[]) => command(args, { cwd: folder, env });
  expect(await run('validate')).toMatchObject({
    code: 0,
    out: 'ok campaign.yaml: 1 task, 3 steps, 3 requests not checked, because the OpenAPI document of the service is not stored on this machine. To store the document, run with an API key: mediabatch plan campaign.yaml --refresh\n',
  });
  const report = JSON.parse((await run('validate', '--json')).out);
  expect([report.unchecked, report.steps]).toEqual([3, 3]);
  expect(seen).toEqual([]);
  expect((await run('plan', 'campaign.yaml', '--refresh')).code).toBe(65);
  seen.length = 0;
  const after = await run('validate');
  expect([after.code, after.err], after.err).toEqual([65, expect.stringContaining('MB1506 `ratio` is "21:9"')]);
  expect(JSON.parse((await run('validate', '--json')).out)).not.toHaveProperty('unchecked');
  expect(seen).toEqual([]);
});
