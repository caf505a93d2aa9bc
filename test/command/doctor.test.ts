import { describe, expect, onTestFinished, test } from 'vitest';
import { createSandbox } from '../../src/sandbox/index.ts';
import { runInProcess } from './in-process.ts';
import { folderWith, header, key, record, scripted } from './scripted.ts';

const run = (args: string[], env: Record<string, string> = {}, folder = folderWith()) =>
  runInProcess(args, env, folder);

async function sandbox() {
  const service = createSandbox({ speed: Number.POSITIVE_INFINITY, apiKey: 'sandbox_live_local' });
  const { url } = await service.listen();
  onTestFinished(() => service.close());
  return { env: { MEDIABATCH_BASE_URL: url, MEDIABATCH_API_KEY: 'sandbox_live_local' } };
}

describe('doctor', () => {
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
    expect(half.out).toContain('Export both, or put both into .env');
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
