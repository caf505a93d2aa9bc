import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { command } from '../rig/command.ts';
import { makeFolder } from '../rig/folder.ts';
import { serviceHere } from '../rig/service-here.ts';

const manifest = (hero = 'a lamp', name = 'hero') =>
  `version: 1\nname: spring\ntasks:\n  ${name}: { kind: image, with: { prompt: ${hero}, resolution: 1k } }\n  vase: { kind: image, with: { prompt: a vase, resolution: 1k } }\n`;

interface Line {
  [field: string]: unknown;
  outputs: { [field: string]: unknown }[];
}

/** A campaign that is bought, and whose lock a newer version has written since. */
async function place(more: (line: Line) => void) {
  const home = makeFolder();
  const service = await serviceHere();
  onTestFinished(() => service.close());
  const lockPath = join(home, 'campaign.lock.jsonl');
  const write = (text: string) => writeFileSync(join(home, 'campaign.yaml'), text);
  const lock = () => readFileSync(lockPath, 'utf8');
  const lines = () =>
    lock()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
  const run = (...args: string[]) => command(args, { cwd: home, env: service.env });
  const apply = (...args: string[]) => run('apply', 'campaign.yaml', '--yes', '--poll-interval', '10', ...args);
  write(manifest());
  expect((await apply()).code).toBe(0);
  const [header, ...records] = lines();
  for (const record of records) more(record);
  const newer = [{ ...header, writtenBy: '99.1.0', region: 'eu' }, ...records];
  writeFileSync(lockPath, newer.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return { run, apply, write, lock, lines, lockPath, spends: () => service.ledger().length };
}

test('the header names the version that wrote the lock; a newer version causes a warning and stays in the header', async () => {
  const { run, apply, lines, lock } = await place(() => {});
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  const { code, err } = await run('plan', 'campaign.yaml');
  expect([code, err]).toEqual([0, expect.stringContaining('warning MB3414 mediabatch 99.1.0 wrote')]);
  const before = lock();
  expect((await apply()).code).toBe(0);
  expect(lock()).toBe(before);
  expect((await apply('--redo', 'vase')).code).toBe(0);
  expect(lines()[0]).toEqual({
    mediabatch: 'lock',
    version: 2,
    writtenBy: '99.1.0',
    service: expect.any(String),
    region: 'eu',
  });
  expect(before).not.toContain(`"${version}"`);
});

test('I42 fields of a newer version survive runs, decisions and renames', async () => {
  const more = { approvedBy: { name: 'mara', '7': null } };
  const { run, apply, write, lines, spends } = await place((line) => {
    Object.assign(line, more);
    for (const output of line.outputs) Object.assign(output, { seconds: 0.5 });
  });
  const survives = () => {
    const [, ...records] = lines();
    const purchases = records.flatMap((line) => [line, ...((line.earlier ?? []) as Line[])]);
    const own = purchases.filter(({ approvedBy }) => approvedBy !== undefined);
    expect(own.map(({ approvedBy }) => approvedBy)).toEqual([more.approvedBy, more.approvedBy]);
    for (const { outputs } of own) expect(outputs[0]).toMatchObject({ seconds: 0.5 });
  };
  expect((await apply('--redo', 'vase')).code).toBe(0);
  survives();
  for (const args of [
    ['pin', 'campaign.yaml', 'hero'],
    ['pin', 'campaign.yaml', 'hero', '--undo'],
  ]) {
    expect((await run(...args)).code).toBe(0);
    survives();
  }
  write(manifest('a lamp', 'lamp'));
  expect((await apply()).code).toBe(0);
  survives();
  expect(spends()).toBe(3);
});

test('I42 a decision of an unknown kind blocks purchases and posts at its address, and nothing else', async () => {
  const { run, apply, write, lock, lines, spends } = await place((line) => {
    line.decisions = { approval: { by: 'mara', is: 'refused' } };
  });
  write(manifest('a lamp at night'));
  expect((await run('plan', 'campaign.yaml')).out).toContain('update mediabatch first');
  const before = lock();
  for (const args of [[], ['--redo', 'vase'], ['--redo', 'hero']]) {
    const { code, err } = await apply(...args);
    expect([code, err]).toEqual([5, expect.stringContaining('`approval`')]);
  }
  expect([spends(), lock()]).toEqual([2, before]);
  expect((await run('forget', 'campaign.yaml', 'vase')).code).toBe(0);
  expect((await apply()).code).toBe(5);
  expect(spends()).toBe(2);
  for (const { decisions } of lines().slice(1)) expect(decisions).toEqual({ approval: { is: 'refused', by: 'mara' } });
});

test('an unreadable record is reported as written by a newer version, and is not changed', async () => {
  const { apply, lock, lockPath, spends } = await place((line) => {
    line.state = 'archived';
  });
  const before = lock();
  const { code, err } = await apply();
  expect([code, err]).toEqual([65, expect.stringContaining('mediabatch 99.1.0 wrote campaign.lock.jsonl')]);
  writeFileSync(lockPath, before.replace('"version":2', '"version":99'));
  expect((await apply()).code).toBe(65);
  expect([spends(), lock()]).toEqual([2, before.replace('"version":2', '"version":99')]);
});
