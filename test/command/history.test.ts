import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { command, readLines, root, temporaryFolder } from '../rig/command.ts';
import { makePlace, pictures, until } from '../rig/place.ts';
import { runInProcess } from './in-process.ts';
import { folderWith, key, scripted } from './scripted.ts';

const apply = ['apply', 'campaign.yaml', '--yes', '--poll-interval', '10'];
const sandbox = ['--sandbox', '--sandbox-speed', '1000'];
const run = (args: string[], cwd: string, more = {}) => command(args, { cwd, ...more });
const linesOf = (folder: string, name: string) => readLines<{ event?: string; how?: string }>(join(folder, name));

function schema(name: string): object {
  return JSON.parse(readFileSync(join(root, 'schemas', name), 'utf8'));
}

function place(): string {
  const { path, remove } = temporaryFolder();
  onTestFinished(remove);
  writeFileSync(join(path, 'campaign.yaml'), pictures('a', 'b'));
  return path;
}

function noticesIn(folder: string, name: string): unknown[] {
  const lines = readLines<{ event: string; message?: string }>(join(folder, name));
  return lines.flatMap(({ event, message }) => (event === 'noticed' ? [message] : []));
}

async function listed(folder: string, ...more: string[]) {
  const { code, out, err } = await runInProcess(['runs', 'campaign.yaml', '--json', ...more], {}, folder);
  expect(code, err).toBe(0);
  return JSON.parse(out).runs as { id: string; how?: string; exit?: number; spentNow: number; running: boolean }[];
}

describe('history', () => {
  test('a run leaves its events in the published form; one that has nothing to do leaves none', async () => {
    const folder = place();
    expect((await run([...apply, ...sandbox, '--events', 'events.jsonl'], folder)).code).toBe(0);
    expect((await run([...apply, ...sandbox, '--json'], folder)).code).toBe(0);
    const runs = join(folder, '.mediabatch/sandbox-runs');
    const [name = '', ...more] = readdirSync(runs);
    expect(more).toEqual([]);
    const written = linesOf(runs, name);
    const lines = written.filter(({ event }) => event !== undefined);
    const others = written.filter(({ event }) => event === undefined);
    expect([others[0], others.at(-1)]).toEqual([written[0], written.at(-1)]);
    expect(lines).toEqual(linesOf(folder, 'events.jsonl'));
    const ajv = new Ajv2020({ strict: false });
    ajv.addFormat('date-time', true);
    const isRunLine = ajv.compile(schema('run.schema.json'));
    const isEvent = ajv.compile(schema('event.schema.json'));
    for (const line of others) expect(isRunLine(line), JSON.stringify(isRunLine.errors)).toBe(true);
    expect(lines.every((line) => isEvent(line))).toBe(true);
    const [only] = await listed(folder, '--sandbox');
    expect(only).toMatchObject({ how: 'ended', exit: 0, spentNow: 4, running: false, outcomes: { done: 2 } });
    expect(await listed(folder)).toEqual([]);
    const show = (...args: string[]) => runInProcess(['runs', 'show', 'campaign.yaml', ...args], {}, folder);
    const shown = await show(only?.id.slice(-4) ?? '', '--sandbox');
    expect(shown, shown.err).toMatchObject({
      code: 0,
      out: expect.stringMatching(/pic +image +create +2 done +4 +2\n/),
    });
    const whole = JSON.parse((await show('--sandbox', '--json', only?.id ?? '')).out);
    expect(whole.steps).toMatchObject([{ files: ['out/a.png'] }, { files: ['out/b.png'] }]);
    expect(await show('zzzz', '--sandbox')).toMatchObject({ code: 64, err: expect.stringContaining(only?.id ?? '') });
  });

  test('runs of one minute stand in their order, whatever their ids are', async () => {
    const folder = place();
    const runs = join(folder, '.mediabatch/runs');
    mkdirSync(runs, { recursive: true });
    const header = { mediabatch: 'run', version: 1, tool: '0.1.0', campaign: 'c', lock: 'campaign.lock.jsonl' };
    for (const [end, second] of [
      ['aaaa', '30'],
      ['zzzz', '10'],
      ['mmmm', '20'],
    ] as const) {
      const id = `2026-11-22-1750-${end}`;
      writeFileSync(
        join(runs, `${id}.jsonl`),
        `${JSON.stringify({ ...header, id, at: `2026-11-22T17:50:${second}.000Z` })}\n`,
      );
    }
    expect((await listed(folder)).map(({ id }) => id.slice(-4))).toEqual(['aaaa', 'mmmm', 'zzzz']);
  });

  test('is running during the run, and interrupted after a kill', async () => {
    const here = await makePlace(pictures('a'), { speed: 0.001 });
    const { child, ended } = here.start([...apply]);
    await until(() => here.service.ledger().length > 0);
    expect(await listed(here.folder)).toMatchObject([{ running: true }]);
    child.kill('SIGKILL');
    await ended;
    expect(await listed(here.folder)).toMatchObject([{ running: false }]);
    const text = (await runInProcess(['runs', 'campaign.yaml'], {}, here.folder)).out;
    expect(text).toContain('aborted');
  });

  test('what signs a link is neither in the history nor in the lock, nor in what runs show prints', async () => {
    const error = `no: ${key} https://user:pass@cdn.example/a.png?X-Amz-Signature=abcdef&x=1 https://cdn.example/b`;
    const { env } = await scripted({ 'POST /image-generations/create': [400, { success: false, error }] });
    const folder = folderWith({ 'campaign.yaml': pictures('a') });
    expect((await run(apply, folder, { env })).code).toBe(3);
    const runs = join(folder, '.mediabatch/runs');
    for (const path of [join(runs, readdirSync(runs)[0] ?? ''), join(folder, 'campaign.lock.jsonl')]) {
      const text = readFileSync(path, 'utf8');
      expect(text).toContain('https://cdn.example/b');
      expect(text).toContain('://cdn.example/a.png?…');
      for (const secret of [key, 'Signature', 'abcdef', 'pass@']) expect(text).not.toContain(secret);
    }
    const [only] = await listed(folder);
    for (const more of [[], ['--json']]) {
      const { out } = await runInProcess(['runs', 'show', 'campaign.yaml', only?.id ?? '', ...more], {}, folder);
      expect(out).toContain('://cdn.example/a.png?…');
      // A form for reports of mistakes asks for it.
      for (const secret of [key, 'Signature', 'abcdef', 'pass@', 'prompt']) expect(out).not.toContain(secret);
    }
  });

  test.each([
    ['the folder is a link', (folder: string) => symlinkSync('..', join(folder, '.mediabatch/sandbox-runs'))],
    ['the folder is a file', (folder: string) => writeFileSync(join(folder, '.mediabatch/sandbox-runs'), '')],
  ])('where it cannot be kept the run says so once, and goes on: %s', async (_is, spoil) => {
    const folder = place();
    mkdirSync(join(folder, '.mediabatch'), { recursive: true });
    spoil(folder);
    const before = readdirSync(folder);
    const { code, err } = await run([...apply, ...sandbox, '--events', 'events.ndjson'], folder);
    expect(code, err).toBe(0);
    expect(noticesIn(folder, 'events.ndjson')).toEqual([expect.stringContaining('history of this run is not kept')]);
    expect(readdirSync(folder).filter((name) => name.endsWith('.jsonl'))).toEqual(['campaign.sandbox.lock.jsonl']);
    expect(before).not.toContain('campaign.sandbox.lock.jsonl');
    expect(await listed(folder, '--sandbox')).toEqual([]);
  });
});
