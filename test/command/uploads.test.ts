import { describe, expect, test } from 'vitest';
import { command } from '../rig/command.ts';
import { folderWith, scripted } from './scripted.ts';

const run = (args: string[], env: Record<string, string>, cwd: string) => command(args, { cwd, env });

describe('upload', () => {
  test('equal bytes go up once; a file that is not there stops all', async () => {
    const folder = folderWith({ 'a.txt': 'same', 'b.txt': 'same', 'c.txt': 'other', 'empty.txt': '' });
    const { env, seen } = await scripted({
      'POST /uploads': [200, { success: true, data: { id: 'u1', url: 'https://cdn.example/a.txt' } }],
    });
    const added = await run(['upload', 'a.txt', 'b.txt', 'c.txt', '--json'], env, folder);
    expect(added.code, added.err).toBe(0);
    expect(JSON.parse(added.out).uploads.map(({ name }: { name: string }) => name)).toEqual([
      'a.txt',
      'b.txt',
      'c.txt',
    ]);
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
