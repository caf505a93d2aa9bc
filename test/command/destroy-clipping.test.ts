import { expect, test } from 'vitest';
import { runInProcess } from './in-process.ts';
import { folderWith, header, record, scripted } from './scripted.ts';

const manifest = 'version: 1\nname: t\ntasks: { a: { kind: music, with: { model: song-7.5, prompt: x } } }\n';

test('a clipping that the list does not show is looked at by its id, and removed by it', async () => {
  const createdAt = new Date(Date.now() - 3 * 86_400_000).toISOString();
  const { env, seen } = await scripted({
    'GET /clippings/all': [200, { success: true, data: [] }],
    'GET /clippings/c-1': [200, { success: true, data: { id: 'c-1', status: 'COMPLETED', createdAt, clips: [] } }],
    'DELETE /clippings/c-1': [200, { success: true, message: 'gone' }],
  });
  const folder = folderWith({
    'campaign.yaml': manifest,
    'campaign.lock.jsonl': `${header}\n${record({ address: 'talk', kind: 'clipping', jobId: 'c-1', credits: 10 })}\n`,
  });
  const { code, err, out } = await runInProcess(['destroy', 'campaign.yaml', '--orphans', '--yes'], env, folder);
  expect(code, err).toBe(0);
  expect(out + err).toContain('3 d');
  expect(seen).toEqual(['GET /clippings/all', 'GET /clippings/c-1', 'DELETE /clippings/c-1']);
});
