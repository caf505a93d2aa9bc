import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createSandbox } from '../../src/sandbox/index.ts';
import { command, expectExit } from '../rig/command.ts';
import { runInProcess } from './in-process.ts';
import { folderWith, header, key, nobody, record, type Scripted, scripted } from './scripted.ts';

describe('service commands', () => {
  const run = (args: string[], env: Record<string, string> = {}, folder = folderWith()) =>
    runInProcess(args, env, folder);

  const refused: Scripted = [401, { success: false, error: 'bad key', code: 'unauthorized', message: 'bad key' }];

  describe('without a key', () => {
    test('lists the documented voices and models, and reports that they are from the documentation', async () => {
      const voices = await expectExit(0, run(['list', 'voices', '--gender', 'female', '--accent', 'British']));
      expect(voices.out).toBe('voice_id  gender  accent\nAlice     female  british\nLily      female  british\n');
      expect(voices.err).toContain('MEDIABATCH_API_KEY is not set');
      const models = JSON.parse((await run(['list', 'models', '--kind', 'music', '--json'])).out);
      expect(models).toMatchObject({ mediabatch: 'models', version: 1, source: 'documented' });
      expect(models.models).toContainEqual(expect.objectContaining({ model: 'auto', credits: 5, aliasOf: 'song-9' }));
    });

    test.each([[['list', 'accounts']], [['list', 'jobs']], [['list', 'uploads']], [['doctor']]])(
      '%j exits 77 and names both ways on',
      async (args) => {
        const { code, out, err } = await run(args);
        expect(code).toBe(77);
        expect(out + err).toContain('MEDIABATCH_API_KEY is not set');
        expect(out + err).toContain('--sandbox');
      },
    );
  });

  describe('errors', () => {
    test.each([
      [['list', 'voices', '--gender', 'tenor'], 'female, male, neutral'],
      [['list', 'voices', '--accent', 'klingon'], 'american, australian, british, swedish'],
      [['list', 'voices', '--gender', 'neutral', '--accent', 'british'], 'Use one of american'],
      [['list', 'models', '--kind', 'photo'], 'image, music'],
      [['list', 'jobs', '--kind', 'music'], 'video, clipping, thumbnail'],
      [['list', 'jobs', '--kind', 'photo'], 'no list of jobs of kind photo'],
      [['list', 'jobs', '--limit', '0'], '1 to 10000'],
    ])('%j exits 64 and lists the allowed values', async (args, words) => {
      const { code, out, err } = await run(args);
      expect(code, err).toBe(64);
      expect(err).toContain(words);
      expect(out).toBe('');
    });

    test('a refused key is 77 everywhere, and is never shown', async () => {
      const { env } = await scripted({
        'GET /voiceovers/voices': refused,
        'GET /catalog': refused,
        'GET /accounts': refused,
        'GET /videos/all': refused,
        'GET /openapi.json': refused,
      });
      const folder = folderWith();
      const all = [
        ['list', 'voices'],
        ['list', 'models'],
        ['list', 'accounts'],
        ['list', 'jobs'],
        ['list', 'uploads'],
        ['doctor'],
      ];
      for (const args of all) {
        const { code, out, err } = await run(args, env, folder);
        expect(code, `${args}: ${err}`).toBe(77);
        expect(out + err).not.toContain('verysecret');
      }
    });

    test('an unreachable service is 69, and the documented list is still shown', async () => {
      for (const args of [['list', 'accounts'], ['list', 'jobs'], ['doctor']]) {
        const { code, err } = await run(args, nobody);
        expect(code, `${args}: ${err}`).toBe(69);
      }
      for (const name of ['voices', 'models']) {
        const { code, out, err } = await run(['list', name, '--json'], nobody);
        expect(code, err).toBe(0);
        expect(JSON.parse(out).source).toBe('documented');
        expect(err).toContain('cannot be reached');
      }
    });
  });

  describe('answers of the service', () => {
    test('cannot control the terminal; a sample is a link or omitted', async () => {
      const voice = { id: 'Eve', label: 'Eve\u001b[2J', gender: 'female', accent: 'odd\n::error::x', description: '' };
      const { env } = await scripted({
        'GET /voiceovers/voices': [200, { success: true, voices: [{ ...voice, previewUrl: 'javascript:alert(1)' }] }],
      });
      const { out } = await run(['list', 'voices'], env);
      expect(out).toContain('Eve\\x1b[2J');
      expect(out).not.toContain('\u001b');
      expect(out.split('\n')).toHaveLength(3);
      expect(JSON.parse((await run(['list', 'voices', '--json'], env)).out).voices[0]).not.toHaveProperty('previewUrl');
    });

    test('the catalog adds models and prices to the documented ones', async () => {
      const models = [
        { key: 'motion-2', kind: 'VIDEO', credits: 20 },
        { key: 'alpha-2', kind: 'images', credits: 3 },
        { key: 'song-8', kind: 'music', credits: 7 },
      ];
      const { env } = await scripted({ 'GET /catalog': [200, { success: true, models }] });
      const { source, models: rows } = JSON.parse((await run(['list', 'models', '--json'], env)).out);
      expect(source).toBe('service');
      const of = (model: string) => rows.find((row: { model: string }) => row.model === model);
      expect(of('motion-2')).toMatchObject({ kind: 'video', credits: 20, known: 'catalog' });
      expect(of('alpha-2')).toMatchObject({ kind: 'image', credits: 3, known: 'both' });
      expect(of('song-8')).toMatchObject({ credits: 7, notes: expect.stringContaining('Documented: 5') });
      expect(of('song-9')).toMatchObject({ credits: 5, known: 'documented' });
    });

    test('without a list of uploads, reports this and sends no request', async () => {
      const paths = { '/uploads': { post: {} } };
      const { env, seen } = await scripted({ 'GET /openapi.json': [200, { openapi: '3.1.0', paths }] });
      const { code, err } = await run(['list', 'uploads'], env);
      expect(code).toBe(3);
      expect(err).toContain('no list of its media library');
      expect(seen).not.toContain('GET /uploads');
    });
  });

  describe('jobs', () => {
    const day = (number: number) => `2026-01-0${number}T00:00:00Z`;
    const [two, one] = [
      { id: 'v2', status: 'COMPLETED', model: 'motion-2', prompt: 'two', createdAt: day(2), creditsUsed: 4 },
      { id: 'v1', status: 'FAILED', model: 'motion-2', prompt: 'one', createdAt: day(1), error: 'no' },
    ];
    const thumbnail = { id: 'r1', jobId: 't1', status: 'COMPLETED', title: 'T', createdAt: day(3) };
    const answers: { [operation: string]: Scripted } = {
      'GET /videos/all': [200, { success: true, generations: [two, one] }],
      'GET /thumbnails': [200, { success: true, data: [thumbnail] }],
      'GET /voiceovers/all': [200, { success: true, generations: [] }],
      'GET /clippings/all': [400, { success: false, error: 'not today' }],
    };
    const lock = `${header}\n${record({ address: 'thumb', kind: 'thumbnail', jobId: 't1', credits: 3 })}\n`;

    test('lists all kinds, newest first, with the step from a lock of this folder', async () => {
      const { env } = await scripted(answers);
      const folder = folderWith({ 'x.sandbox.lock.jsonl': lock, 'sub/campaign.lock.jsonl': lock });
      const { code, out, err } = await run(['list', 'jobs', '--json'], env, folder);
      expect(code, err).toBe(0);
      const { jobs, unlisted, locks, more } = JSON.parse(out);
      expect(jobs.map(({ jobId }: { jobId: string }) => jobId)).toEqual(['t1', 'v2', 'v1']);
      expect(jobs[0]).toMatchObject({
        credits: 3,
        step: { address: 'thumb', lock: join('sub', 'campaign.lock.jsonl') },
      });
      expect(jobs[1].step).toBeNull();
      expect(locks).toEqual([join('sub', 'campaign.lock.jsonl')]);
      expect([unlisted, more]).toEqual([['image', 'music', 'influencer', 'post'], false]);
      expect(err).toContain('clipping jobs cannot be listed');
    });

    test.each([
      [['--unknown'], ['v2', 'v1']],
      [['--limit', '1'], ['t1']],
      [['--kind', 'thumbnail'], ['t1']],
    ])('%j', async (args, ids) => {
      const { env } = await scripted(answers);
      const { out, err } = await run(
        ['list', 'jobs', '--json', ...args],
        env,
        folderWith({ 'campaign.lock.jsonl': lock }),
      );
      expect(
        JSON.parse(out || '{}').jobs?.map(({ jobId }: { jobId: string }) => jobId),
        err,
      ).toEqual(ids);
    });

    test('names the step of a job although its newest create request is unresolved', async () => {
      const { env } = await scripted(answers);
      const film = { address: 'film', kind: 'video' };
      const lines = [
        record({ ...film, jobId: 'v1', state: 'failed' }),
        record({ ...film, generation: 2, send: 's2', state: 'unresolved' }),
      ];
      const folder = folderWith({ 'campaign.lock.jsonl': `${[header, ...lines].join('\n')}\n` });
      const { out, err } = await run(['list', 'jobs', '--json', '--kind', 'video'], env, folder);
      expect(err).not.toContain('damaged');
      expect(JSON.parse(out).jobs.map(({ step }: { step: { address: string } | null }) => step?.address)).toEqual([
        undefined,
        'film',
      ]);
    });
  });
});

describe('uploads', () => {
  const run = (args: string[], env: Record<string, string>, cwd: string) => command(args, { cwd, env });

  test('upload sends files one after the other; a missing file stops all uploads', async () => {
    const folder = folderWith({ 'a.txt': 'a', 'b.txt': 'b', 'empty.txt': '' });
    const { env, seen } = await scripted({
      'POST /uploads': [200, { success: true, data: { id: 'u1', url: 'https://cdn.example/a.txt' } }],
    });
    const added = await expectExit(0, run(['upload', 'a.txt', 'b.txt', '--json'], env, folder));
    expect(JSON.parse(added.out).uploads.map(({ name }: { name: string }) => name)).toEqual(['a.txt', 'b.txt']);
    expect(seen).toEqual(['POST /uploads', 'POST /uploads']);
    for (const wrong of ['missing.txt', 'empty.txt', '.']) {
      expect((await run(['upload', 'a.txt', wrong], env, folder)).code, wrong).toBe(65);
    }
    expect(seen).toHaveLength(2);
  });

  test('reports each file that the service refuses', async () => {
    const { env } = await scripted({ 'POST /uploads': [400, { success: false, error: 'too odd' }] });
    const { code, err } = await run(['upload', 'a.txt'], env, folderWith({ 'a.txt': 'a' }));
    expect(code).toBe(3);
    expect(err).toContain('a.txt: HTTP 400: too odd');
  });
});

describe('doctor', () => {
  const run = (args: string[], env: Record<string, string> = {}, folder = folderWith()) =>
    runInProcess(args, env, folder);

  async function sandbox() {
    const service = createSandbox({ speed: Number.POSITIVE_INFINITY, apiKey: 'sandbox_live_local' });
    const { url } = await service.listen();
    onTestFinished(() => service.close());
    return { env: { MEDIABATCH_BASE_URL: url, MEDIABATCH_API_KEY: 'sandbox_live_local' } };
  }

  test('reports no problem in a folder with a valid lock', async () => {
    const folder = folderWith({
      'campaign.lock.jsonl': `${header}\n${record({ jobId: 'j' })}\n`,
    });
    const { env } = await sandbox();
    const { code, out, err } = await run(['doctor'], env, folder);
    expect(code, out + err).toBe(0);
    expect(out).toContain('no problems');
    expect(out).toContain('sandbox_live_…');
    expect(out).not.toContain('sandbox_live_local');
  });

  test('shows the origin of the key, and that a .env is not read', async () => {
    const { env } = await scripted({ 'GET /accounts': [200, { success: true, data: [] }] });
    const text = `MEDIABATCH_BASE_URL=${env.MEDIABATCH_BASE_URL}\nMEDIABATCH_API_KEY=${key}\n`;
    const folder = folderWith({ '.env': text });
    const filed = await run(['doctor'], {}, folder);
    expect(filed.out).toContain('from .env in this folder');
    expect(filed.out).not.toContain('verysecret');
    const half = await run(['doctor'], { MEDIABATCH_API_KEY: key }, folder);
    expect(half.code).toBe(77);
    expect(half.out).toContain('Export the address and the key, or put both into .env');
  });

  test('never refers to doctor itself', async () => {
    const env = { MEDIABATCH_API_KEY: key };
    const refused = await scripted({ 'GET /accounts': [401, { success: false, error: { message: 'no' } }] });
    const other = await scripted({ 'GET /accounts': [200, undefined] });
    const answers = [
      await run(['doctor'], { ...refused.env, ...env }),
      await run(['doctor'], { ...other.env, ...env }),
      await run(['doctor'], { ...env, MEDIABATCH_BASE_URL: 'http://127.0.0.1:9/api/v1' }),
    ];
    for (const { out } of answers) expect(out).not.toContain('mediabatch doctor');
    expect(answers.map(({ code }) => code)).toEqual([77, 69, 69]);
    expect(answers[0]?.out).toContain('→ check the API key\n');
    expect(answers[1]?.out).toContain('→ a proxy or the sign-in page of a network may answer at this address');
  });

  test.each([
    ['a damaged line', `${header}\n{"address":}\n${record({ jobId: 'j' })}\n`, 65, 'MB2001'],
    ['no lock at all', 'hello\n', 65, 'no header line'],
    [
      'another service',
      `{"mediabatch":"lock","version":2,"service":"beef"}\n${record({ jobId: 'j' })}\n`,
      65,
      'another service',
    ],
    ['a torn tail', `${header}\n${record({ jobId: 'j' })}\n{"addr`, 0, 'MB2004'],
    ['conflict markers', `${header}\n<<<<<<< ours\n${record({ jobId: 'j' })}\n=======\n>>>>>>> theirs\n`, 0, 'MB2004'],
  ])('%s in a lock', async (_name, text, code, words) => {
    const { env } = await scripted({ 'GET /accounts': [200, { success: true, data: [] }] });
    const result = await run(['doctor', '--json'], env, folderWith({ 'campaign.lock.jsonl': text }));
    expect(result.code, result.out).toBe(code);
    const { findings } = JSON.parse(result.out) as { findings: { about: string; text: string }[] };
    expect(findings.filter(({ about }) => about === 'locks').map((finding) => finding.text)).toContainEqual(
      expect.stringContaining(words),
    );
  });
});
