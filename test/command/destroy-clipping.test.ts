import { expect, test } from 'vitest';
import { runInProcess } from './in-process.ts';
import { folderWith, header, record, scripted } from './scripted.ts';

const manifest = 'version: 1\nname: t\ntasks: { a: { kind: music, with: { model: song-7.5, prompt: x } } }\n';

test('a clipping is removed by its id, whether or not a list shows it', async () => {
  const { env, seen } = await scripted({
    'DELETE /clippings/c-1': [200, { success: true, message: 'gone' }],
  });
  const folder = folderWith({
    'campaign.yaml': manifest,
    'campaign.lock.jsonl': `${header}\n${record({ address: 'talk', kind: 'clipping', jobId: 'c-1', credits: 10 })}\n`,
  });
  const { code, err } = await runInProcess(['destroy', 'campaign.yaml', '--orphans', '--yes'], env, folder);
  expect(code, err).toBe(0);
  expect(seen).toEqual(['DELETE /clippings/c-1']);
});
