import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { knowsPlayMoneyOnly, readEnvironment } from '../../src/campaign/environment.ts';
import { command } from '../rig/command.ts';
import { serviceHere } from '../rig/service-here.ts';
import { manifest, products, workplaceForEach } from './workplace.ts';

vi.setConfig({ testTimeout: 120_000 });
const place = workplaceForEach();

/** A real service with its key at hand, and the variable that keeps it from being asked. */
async function cautious() {
  const service = await serviceHere();
  onTestFinished(() => service.close());
  place.write('campaign.yaml', manifest);
  place.write('products.csv', products);
  const env = { ...service.env, MEDIABATCH_SANDBOX: '1' };
  const run = (...args: string[]) => command(args, { cwd: place.folder, env });
  return { service, run };
}

const quick = ['--yes', '--publish', '--sandbox-speed', '10000', '--poll-interval', '10'];

test('no real service is contacted, and printed commands keep the sandbox', async () => {
  const { service, run } = await cautious();
  const planned = await run('plan', 'campaign.yaml', '--out', 'a.plan.json');
  expect(planned.out.split('\n')[0]).toBe('spring  with sandbox credits (--sandbox)');
  const applied = await run('apply', 'a.plan.json', ...quick);
  expect(applied.code, applied.err).toBe(0);
  expect(existsSync(join(place.folder, 'campaign.sandbox.lock.jsonl'))).toBe(true);
  expect(existsSync(join(place.folder, 'campaign.lock.jsonl'))).toBe(false);
  const asked = await run('apply', 'campaign.yaml', '--redo', 'hero');
  expect(asked.err).toContain('mediabatch plan campaign.yaml --sandbox');
  expect((await run('list', 'accounts')).code).toBe(0);
  expect(service.requests()).toEqual([]);
});

test('a plan for real credits is refused', async () => {
  const { service, run } = await cautious();
  const real = await command(['plan', 'campaign.yaml', '--out', 'a.plan.json'], {
    cwd: place.folder,
    env: service.env,
  });
  expect(real.out.split('\n')[0]).toBe('spring');
  const refused = await run('apply', 'a.plan.json', ...quick);
  expect(refused.code, refused.err).toBe(64);
  expect(refused.err).toContain('--sandbox cannot be combined with a saved plan');
  expect(service.requests()).toEqual([]);
});

test('nothing is recorded in the lock of a real service', async () => {
  const { service, run } = await cautious();
  const real = (env: Record<string, string>, ...args: string[]) => command(args, { cwd: place.folder, env });
  const named = ['--lock', 'campaign.lock.jsonl'];
  const expectRefused = async (...args: string[]) => {
    const before = place.read('campaign.lock.jsonl');
    const { code, err } = await run(...args, ...named);
    expect(code, err).toBe(65);
    expect(err).toContain('was made against a real service, so --sandbox cannot use it');
    expect(place.read('campaign.lock.jsonl')).toBe(before);
  };
  // Decided where nobody knows the service: the lock does not name it yet.
  const adopted = await real({}, 'adopt', 'campaign.yaml', 'hero@lamp', '--job', 'paid', '--offline', '--yes');
  expect(adopted.code, adopted.err).toBe(0);
  await expectRefused('apply', 'campaign.yaml', '--select', 'hero@vase', ...quick);
  await expectRefused('forget', 'campaign.yaml', 'hero@lamp', '--force');
  const bought = await real(service.env, 'apply', 'campaign.yaml', '--select', 'hero@vase', ...quick.slice(0, 2));
  expect(bought.code, bought.err).toBe(0);
  await expectRefused('forget', 'campaign.yaml', 'hero@vase');
  await expectRefused('pin', 'campaign.yaml', 'hero@vase');
});

test('is parsed strictly, and takes precedence over a key', () => {
  const key = { MEDIABATCH_API_KEY: 'k', MEDIABATCH_BASE_URL: 'https://a/api/v1' };
  expect(readEnvironment({ ...key, MEDIABATCH_SANDBOX: '1' }, '.')).toEqual({
    playMoney: true,
    // What is kept of its answers is rehearsed.
    baseUrl: key.MEDIABATCH_BASE_URL,
  });
  expect(readEnvironment({ ...key, MEDIABATCH_SANDBOX: '0' }, '.')).toMatchObject({ token: 'k' });
  expect(() => knowsPlayMoneyOnly({ MEDIABATCH_SANDBOX: 'yes' })).toThrow('allowed are 1 and 0');
});
