import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readLock } from '../../../src/lock/read.ts';
import type { StepRecord } from '../../../src/lock/record.ts';
import type { Reason } from '../../../src/plan/plan.generated.ts';
import { workplaceForEach } from '../workplace.ts';
import { leaveBought, png, sendAt } from './bought.ts';

const place = workplaceForEach();

const before = `version: 1
name: spring
budget: { credits: 100 }
tasks:
  hero: { kind: image, foreach: [lamp, vase], with: { prompt: "a {{row}}" }, tags: [launch] }
  cover:
    kind: image
    with: { prompt: cover, referenceImages: ["{{tasks.hero.url}}"] }
    from: { hero: { key: lamp } }
`;
const after = before.replace('a {{row}}', 'a red {{row}}');

function recordOf(address: string): StepRecord | undefined {
  return readLock('campaign.lock.jsonl', Buffer.from(place.read('campaign.lock.jsonl'))).lock.steps.get(address);
}

interface Row {
  address: string;
  action: string;
  reason: Reason;
  credits: number | null;
  wouldCost?: number;
}

async function plan(...args: string[]): Promise<{ [address: string]: Row }> {
  const { code, out, err } = await place.run('plan', 'campaign.yaml', '--json', ...args);
  expect(code, err).toBe(0);
  const { rows } = JSON.parse(out) as { rows: Row[] };
  return Object.fromEntries(rows.map((row) => [row.address, row]));
}

async function actions(): Promise<{ [address: string]: string }> {
  return Object.fromEntries(Object.entries(await plan()).map(([address, { action }]) => [address, action]));
}

/** What the plan does about an address, its open sends included. */
async function rows(address: string): Promise<string[]> {
  const { code, out, err } = await place.run('plan', 'campaign.yaml', '--json');
  expect(code, err).toBe(0);
  return (JSON.parse(out) as { rows: Row[] }).rows.filter((row) => row.address === address).map(({ action }) => action);
}

/** The line of an address, as the lock has it now. */
function lineOf(address: string): string {
  const line = place
    .read('campaign.lock.jsonl')
    .split('\n')
    .find((one) => one.startsWith(`{"address":"${address}"`));
  if (line === undefined) throw new Error(`nothing on record for ${address}`);
  return `${line}\n`;
}

function start(more: Parameters<typeof leaveBought>[2] = {}): void {
  leaveBought(place.folder, before, more);
}

describe('pin, and pin --undo', () => {
  test('a pinned step is kept despite changes, until it is unpinned', async () => {
    start();
    const pinned = await place.run('pin', 'campaign.yaml', 'hero@lamp');
    expect(pinned).toMatchObject({ code: 0, out: '' });
    expect(pinned.err).toContain('pinned hero@lamp: keeps job job-hero@lamp (5 credits)');
    place.write('campaign.yaml', after);
    expect(await plan()).toMatchObject({
      'hero@lamp': {
        action: 'keep',
        reason: {
          code: 'pinned',
          text: 'pinned; prompt: “a lamp” → “a red lamp” (would cost 5)',
          changes: [{ field: 'prompt', before: 'a lamp', after: 'a red lamp', cause: { is: 'template' } }],
        },
        wouldCost: 5,
      },
      'hero@vase': { action: 'redo' },
      cover: { action: 'keep' },
    });
    const off = await place.run('pin', 'campaign.yaml', 'hero', '--undo');
    expect(off.err).toContain('the next apply redoes it for 5 credits');
    expect(off.err).toContain('unchanged hero@vase: is not pinned');
    expect(await actions()).toEqual({ 'hero@lamp': 'redo', 'hero@vase': 'redo', cover: 'redo' });
  });

  test('--redo of a pinned step is refused, with the next command', async () => {
    start();
    await place.run('pin', 'campaign.yaml', '-s', 'tag:launch');
    const { code, err } = await place.run('plan', 'campaign.yaml', '--redo', 'hero@lamp');
    expect(code).toBe(64);
    expect(err).toContain('hero@lamp is pinned');
    expect(err).toContain('pin campaign.yaml hero@lamp --undo');
    expect((await place.run('plan', 'campaign.yaml', '--redo', 'cover')).code).toBe(0);
    place.write('campaign.yaml', before.replace('kind: image, foreach', 'kind: image, pin: true, foreach'));
    await place.run('pin', 'campaign.yaml', 'hero', '--undo');
    const byTask = await place.run('plan', 'campaign.yaml', '--redo', 'hero');
    expect(byTask).toMatchObject({ code: 64 });
    expect(byTask.err).toContain('pin: true');
  });

  test('status, explain and the plan show it', async () => {
    start();
    await place.run('pin', 'campaign.yaml', 'hero@lamp');
    place.write('campaign.yaml', after);
    expect((await place.run('status', 'campaign.yaml')).out).toContain(
      'pinned   1 step kept despite changes: hero@lamp',
    );
    const explained = (await place.run('explain', 'campaign.yaml', 'hero@lamp')).out;
    expect(explained).toContain(
      'to buy it again costs 5 credits; to remove the pin: mediabatch pin campaign.yaml hero@lamp --undo\n',
    );
    expect(explained).toContain('+ prompt: a red lamp');
    const text = (await place.run('plan', 'campaign.yaml')).out;
    expect(text).toContain('1 unchanged because of a pin');
    expect(text).toContain('= hero@lamp');
  });
});

describe('accept', () => {
  test('an edited file becomes the recorded output', async () => {
    start();
    writeFileSync(join(place.folder, 'output/hero-lamp.png'), png('retouched'));
    expect(await plan()).toMatchObject({ 'hero@lamp': { action: 'download' } });
    const { code, err } = await place.run('accept', 'campaign.yaml', 'hero@lamp');
    expect(code, err).toBe(0);
    expect(err).toContain('accepted hero@lamp: output/hero-lamp.png as it is now');
    expect(await actions()).toEqual({ 'hero@lamp': 'keep', 'hero@vase': 'keep', cover: 'keep' });
    expect(recordOf('hero@lamp')?.purchases[0]).toMatchObject({ revision: 1, jobId: 'job-hero@lamp' });
  });

  test('accepts an output for a changed input, and its dependents', async () => {
    start();
    place.write('campaign.yaml', after);
    expect(await actions()).toEqual({ 'hero@lamp': 'redo', 'hero@vase': 'redo', cover: 'redo' });
    const { err } = await place.run('accept', 'campaign.yaml', 'hero@lamp');
    expect(err).toContain('its output, although prompt: “a lamp” → “a red lamp”');
    expect(await actions()).toEqual({ 'hero@lamp': 'keep', 'hero@vase': 'redo', cover: 'keep' });
    expect((await place.run('status', 'campaign.yaml')).out).toContain('accepted  1 step');
  });

  test('an edited file is never deleted or overwritten', async () => {
    start();
    const edited = join(place.folder, 'output/hero-vase.png');
    writeFileSync(edited, png('retouched'));
    await place.run('accept', 'campaign.yaml', 'hero@vase');
    place.write('campaign.yaml', before.replace('[lamp, vase]', '[lamp]'));
    const { code, err } = await place.run('gc', 'campaign.yaml', '--yes');
    expect(code, err).toBe(0);
    expect(err).toContain('left alone output/hero-vase.png');
    expect(readFileSync(edited)).toEqual(png('retouched'));
    place.write('campaign.yaml', before);
    rmSync(edited);
    expect((await plan())['hero@vase']?.reason.text).toContain('was edited by hand and is missing');
  });
});

describe('forget', () => {
  test('a forgotten step is planned as new; ids and credits stay', async () => {
    start();
    const { err } = await place.run('forget', 'campaign.yaml', 'hero@vase');
    expect(err).toContain('1 job of 5 credits; the budget still counts them. To make it again costs 5 credits');
    expect(await plan()).toMatchObject({ 'hero@vase': { action: 'create', credits: 5 } });
    expect(recordOf('hero@vase')?.purchases[0]?.jobId).toBe('job-hero@vase');
    expect((await place.run('status', 'campaign.yaml')).out).toContain('15 spent · 85 of 100 left');
  });

  test('an orphan is no longer shown, and not moved to a step that asks for the same', async () => {
    start();
    place.write('campaign.yaml', before.replace('[lamp, vase]', '[lamp]'));
    expect(await actions()).toMatchObject({ 'hero@vase': 'orphan' });
    const { err } = await place.run('forget', 'campaign.yaml', '--orphans');
    expect(err).toContain('forgotten hero@vase');
    expect(err).not.toContain('To make it again');
    expect(await actions()).not.toHaveProperty('hero@vase');
    expect((await place.run('status', 'campaign.yaml')).out).not.toContain('orphans');
    expect((await place.run('forget', 'campaign.yaml', 'hero@vase')).code).toBe(0);
    expect((await place.run('forget', 'campaign.yaml', '--orphans')).code).toBe(64);
    place.write('campaign.yaml', before);
    expect(await plan()).toMatchObject({ 'hero@vase': { action: 'create' } });
  });

  test('a running job needs --force, and an unresolved create is never forgotten', async () => {
    start({ 'hero@lamp': { state: 'running' }, 'hero@vase': { state: 'unresolved' } });
    const running = await place.run('forget', 'campaign.yaml', 'hero@lamp');
    expect(running).toMatchObject({ code: 64 });
    expect(running.err).toContain('--force');
    expect((await place.run('forget', 'campaign.yaml', 'hero@lamp', '--force')).code).toBe(0);
    expect((await place.run('forget', 'campaign.yaml', 'hero@vase', '--force')).code).toBe(64);
    expect(recordOf('hero@lamp')?.purchases[0]?.jobId).toBe('job-hero@lamp');
  });
});

describe('move', () => {
  const renamed = before.replace('[lamp, vase]', '[lantern, vase]').replace('key: lamp', 'key: lantern');

  test('moves purchases with their ids when key and input changed at once', async () => {
    start();
    place.write('campaign.yaml', renamed);
    expect(await actions()).toMatchObject({ 'hero@lantern': 'create', 'hero@lamp': 'orphan' });
    const { code, err } = await place.run('move', 'campaign.yaml', 'hero@lamp', 'hero@lantern');
    expect(code, err).toBe(0);
    expect(err).toContain('so the next apply would redo it for 5 credits');
    expect(recordOf('hero@lamp')).toBeUndefined();
    expect(recordOf('hero@lantern')?.purchases[0]?.jobId).toBe('job-hero@lamp');
    expect(await actions()).toEqual({ 'hero@lantern': 'redo', 'hero@vase': 'keep', cover: 'redo' });
    await place.run('accept', 'campaign.yaml', 'hero@lantern');
    expect(await actions()).toEqual({ 'hero@lantern': 'move', 'hero@vase': 'keep', cover: 'keep' });
  });

  const refused: [name: string, args: [string, string], text: string][] = [
    ['the new address has a job', ['hero@lamp', 'hero@vase'], 'hero@vase has job job-hero@vase of its own'],
    ['the old one has nothing', ['hero@rug', 'hero@vase'], 'nothing was bought for hero@rug'],
    ['the new one is no step', ['hero@lamp', 'hero@rug'], 'the manifest has no step hero@rug'],
    ['it is a task', ['hero@lamp', 'hero'], 'hero is a task with 2 steps'],
    ['it is the same', ['hero@lamp', 'hero@lamp'], 'is the same address'],
    ['the kinds differ', ['hero@lamp', 'song'], 'song is of kind music'],
  ];
  test.each(refused)('refused: %s', async (_name, args, text) => {
    start();
    appendFileSync(
      join(place.folder, 'campaign.yaml'),
      '  song: { kind: music, with: { prompt: x, model: song-7.5 } }\n',
    );
    const lock = place.read('campaign.lock.jsonl');
    const { code, err } = await place.run('move', 'campaign.yaml', ...args);
    expect(code).toBe(64);
    expect(err).toContain(text);
    expect(place.read('campaign.lock.jsonl')).toBe(lock);
  });
});

describe('adopt of one job, offline', () => {
  const into = (address: string, job: string, ...more: string[]) =>
    place.run('adopt', 'campaign.yaml', address, '--job', job, ...more, '--offline');

  test('an unpurchased step gets the job, and later its charge', async () => {
    start({ 'hero@lamp': 'not bought' });
    const { code, err } = await into('hero@lamp', 'paid-1');
    expect(code, err).toBe(0);
    expect(err).toContain('its charge is unknown');
    expect(await actions()).toMatchObject({ 'hero@lamp': 'attach' });
    expect((await into('hero@lamp', 'paid-1', '--credits', '4')).err).toContain('was charged 4 credits');
    expect(recordOf('hero@lamp')?.purchases[0]).toMatchObject({ state: 'running', jobId: 'paid-1', credits: 4 });
    expect(await into('hero@lamp', 'paid-1', '--credits', '9')).toMatchObject({ code: 64 });
  });

  test('the user names which of several creates it answers', async () => {
    start({ 'hero@lamp': { state: 'unresolved' } });
    const other = lineOf('hero@lamp').replace(sendAt('hero@lamp'), 'send-of-another-branch');
    appendFileSync(join(place.folder, 'campaign.lock.jsonl'), other);
    const asked = await into('hero@lamp', 'paid-1');
    expect(asked).toMatchObject({ code: 64 });
    expect(asked.err).toContain('hero@lamp has several creates whose answer was lost, and the job answers one of them');
    const advised = /mediabatch resolve campaign\.yaml (hero@lamp --job paid-1 --send \S+)$/m.exec(asked.err)?.[1];
    expect(asked.err).toContain('--send send-of-another-branch');
    expect((await place.run('resolve', 'campaign.yaml', ...(advised ?? '').split(' '))).code).toBe(0);
    expect(await rows('hero@lamp')).toEqual(['attach', 'unresolved']);
    expect(recordOf('hero@lamp')?.purchases).toHaveLength(2);
  });

  const refused: [name: string, args: [address: string, job: string], text: string][] = [
    ['it has one already', ['hero@lamp', 'paid-1'], 'hero@lamp has job job-hero@lamp already'],
    ['the job is of another step', ['cover', 'job-hero@lamp'], 'it is on record as hero@lamp'],
    ['there is no such step', ['hero@rug', 'paid-1'], 'the manifest has no step hero@rug'],
    ['it is no id', ['cover', '../x y'], 'cannot be a job id'],
  ];
  test.each(refused)('refused: %s', async (_name, args, text) => {
    start({ cover: 'not bought' });
    const { code, err } = await into(...args);
    expect(code).toBe(64);
    expect(err).toContain(text);
  });
});

describe('all of them', () => {
  test.each([
    ['pin', 'hero'],
    ['pin', 'hero', '--undo'],
    ['accept', 'hero'],
    ['forget', 'hero'],
    ['move', 'hero@lamp', 'hero@lantern'],
    ['adopt', 'hero@lantern', '--job', 'paid-1', '--offline'],
  ])('%s --dry-run says what it would do, and leaves the lock as it is', async (command, ...args) => {
    start();
    await place.run('pin', 'campaign.yaml', ...(args.includes('--undo') ? ['hero'] : ['cover']));
    place.write('campaign.yaml', after.replace('[lamp, vase]', '[lamp, vase, lantern]'));
    const lock = place.read('campaign.lock.jsonl');
    const { code, out, err } = await place.run(command, 'campaign.yaml', ...args, '--dry-run', '--json');
    expect(code, err).toBe(0);
    const verb = args.includes('--undo') ? 'unpin' : command;
    expect(err).toContain(`would ${verb}`);
    expect(err).toContain('nothing was recorded');
    expect(JSON.parse(out)).toMatchObject({ mediabatch: 'decisions', version: 1, command: verb, dryRun: true });
    expect(place.read('campaign.lock.jsonl')).toBe(lock);
  });

  test.each(['pin', 'accept', 'forget'])('%s wants to know about which steps', async (command) => {
    start();
    expect(await place.run(command, 'campaign.yaml')).toMatchObject({ code: 64 });
    const typo = await place.run(command, 'campaign.yaml', 'hera');
    expect(typo).toMatchObject({ code: 64 });
    expect(typo.err).toContain('near it: hero@lamp');
  });
});
