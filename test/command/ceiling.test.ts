import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { knowsPlayMoneyOnly, readEnvironment } from '../../src/campaign/environment.ts';
import { apply, load, plan } from '../../src/index.ts';
import { type CommandOptions, command, expectExit } from '../rig/command.ts';
import { makeFolder } from '../rig/folder.ts';
import { terse } from '../rig/other-service/manners.ts';
import { OtherService } from '../rig/other-service/other-service.ts';
import { serviceHere } from '../rig/service-here.ts';
import { killAt, makeTrial } from '../rig/trial.ts';
import { sitAtTheKeys } from './buffer-terminal.ts';
import { manifest, products, runInProcess, workplaceForEach } from './in-process.ts';
import { folderWith } from './scripted.ts';

describe('ceiling', () => {
  const manifest = `version: 1
name: shop
tasks:
  pic: { kind: image, foreach: [a, b, c, d, e, f], with: { prompt: "a {{row}}", model: alpha-2 }, save: "pics/{{row}}" }
`;

  /** Its catalog says 3 credits for a picture, and it charges `credits`. */
  async function dearService(credits: (nth: number) => number, text = manifest) {
    const service = await OtherService.open({ ...terse, isDescribed: false });
    onTestFinished(() => service.close());
    service.onBooked = (job) => {
      job.credits = credits(service.books.jobs.length);
    };
    const folder = folderWith({ 'campaign.yaml': text });
    const quick = (args: string[]) => (args[0] === 'apply' ? [...args, '--poll-interval', '10'] : args);
    return {
      folder,
      service,
      run: (...args: string[]) => runInProcess(quick(args), service.env, folder),
      /** The same where somebody sits. */
      runHere: (seat: ReturnType<typeof sitAtTheKeys>, ...args: string[]) =>
        runInProcess(quick(args), service.env, folder, seat),
      charged: () => service.books.jobs.reduce((sum, job) => sum + job.credits, 0),
    };
  }

  describe('the approved total is a limit', () => {
    test('an estimate that is too low stops create requests of its price, under --yes and below --max-credits', async () => {
      const { run, charged } = await dearService(() => 10);
      expect((await run('plan', 'campaign.yaml', '--refresh')).out).toContain('≈ 18 credits, at most 23');
      const first = await run('apply', 'campaign.yaml', '--yes', '--max-credits', '1000');
      expect([first.code, charged()]).toEqual([4, 10]);
      expect(first.err).toContain(
        'was charged 10, but 3 was expected: the remaining steps would cost 50, and 13 is left',
      );
      expect(first.err).toMatch(/estimate +3 for 1 job · 10 charged/);
      expect(first.err).toContain('steps whose price the approved total does not cover are not bought');
      const next = await run('apply', 'campaign.yaml', '--yes');
      expect([next.code, charged()]).toEqual([0, 60]);
    });

    test('prompts each time a charge exceeds the approval, until the user declines', async () => {
      const { run, runHere, charged } = await dearService((nth) => 10 ** nth);
      await run('plan', 'campaign.yaml', '--refresh');
      const answers = ['y', 'y', 'n'];
      const seat = sitAtTheKeys((keys) => void keys.write(`${answers.shift()}\n`));
      const { code, err } = await runHere(seat, 'apply', 'campaign.yaml');
      expect(err.split('approve again').length - 1, err).toBe(2);
      expect([code, charged(), answers]).toEqual([4, 110, []]);
      expect(err).toContain('nothing more was spent');
    });

    test('I39 a saved plan that is applied again keeps its maximum', async () => {
      const { run, charged } = await dearService(() => 10);
      await run('plan', 'campaign.yaml', '--refresh', '--out', 'x.plan.json');
      const codes = [];
      for (let nth = 0; nth < 3; nth += 1) codes.push((await run('apply', 'x.plan.json', '--yes')).code);
      expect([codes, charged()]).toEqual([[4, 4, 4], 20]);
      const last = await run('apply', 'x.plan.json', '--yes');
      expect(last.err).toContain('3 credits left: steps beyond this total are not bought');
      // Agreed to anew, with what it comes to by now.
      expect((await run('apply', 'campaign.yaml', '--yes')).code).toBe(0);
      expect(charged()).toBe(60);
    });

    test.each([
      ['dearer', '4', 65, 'would be bought now for 4'],
      ['equally dear', '3', 0, ''],
      ['cheaper', '2', 0, ''],
      ['of unknown price', undefined, 65, 'would be bought now at an unknown price'],
    ])('a saved plan buys its purchases, and is refused if they cost more: %s', async (_, price, code, why) => {
      const priced = (image: string) => `${manifest}prices: { image: ${image} }\n`;
      const { run, charged, folder } = await dearService(() => Number(price), priced('3'));
      await run('plan', 'campaign.yaml', '--out', 'x.plan.json');
      writeFileSync(join(folder, 'campaign.yaml'), price === undefined ? manifest : priced(price));
      const applied = await run('apply', 'x.plan.json', '--yes');
      expect({ code: applied.code, err: applied.err }).toEqual({ code, err: expect.stringContaining(why) });
      expect(charged()).toBe(code === 0 ? 6 * Number(price) : 0);
    });

    test('I39 a price that rises within a run of eight at once', async () => {
      const { run, charged } = await dearService((nth) => nth);
      await run('plan', 'campaign.yaml', '--refresh');
      await run('apply', 'campaign.yaml', '--yes', '--concurrency', '8');
      expect(charged()).toBeLessThanOrEqual(23);
    });
  });

  describe('the library', () => {
    const planned = async (folder: string, { env }: OtherService) => {
      const { MEDIABATCH_BASE_URL: baseUrl = '', MEDIABATCH_API_KEY: token = '' } = env;
      const campaign = await load(join(folder, 'campaign.yaml'), {
        environment: { baseUrl, token },
      });
      return plan(campaign);
    };

    test('I39 what was charged under a plan counts when it is applied again', async () => {
      const { run, charged, folder, service } = await dearService(() => 10);
      await run('plan', 'campaign.yaml', '--refresh');
      const agreed = await planned(folder, service);
      const exits = [];
      for (let nth = 0; nth < 3; nth += 1) exits.push((await apply(agreed, { pollIntervalMs: 10 })).exit);
      expect([exits, charged()]).toEqual([[4, 4, 4], 20]);
    });
  });

  test('the estimate and the charge end every run that bought something: of unknown price, and one that the account ended with many failures', async () => {
    const unknown = await dearService(() => 3, manifest.replace('model: alpha-2', 'model: gamma-image-2'));
    const first = await unknown.run('apply', 'campaign.yaml', '--yes');
    expect(first.err).toMatch(/estimate +unknown for 6 jobs · 18 charged/);
    const rows = Array.from({ length: 24 }, (_, nth) => `r${nth}`).join(', ');
    const poor = await dearService(() => 3, manifest.replace('a, b, c, d, e, f', rows));
    await poor.run('plan', 'campaign.yaml', '--refresh');
    poor.service.books.balance = 39;
    poor.service.fate = ({ nth }) => (nth % 3 === 0 ? 500 : 'book');
    const { code, err } = await poor.run('apply', 'campaign.yaml', '--yes', '--concurrency', '4');
    expect(code).not.toBe(0);
    expect(err).toMatch(/estimate +\d+ for \d+ jobs · \d+ charged/);
  });
});

describe('limit', () => {
  const manifest = (name: string) => `version: 1
name: ${name}
prices: { image: 2 }
tasks:
  hero: { kind: image, foreach: [a, b, c, d], with: { prompt: "a ${name} {{row}}", resolution: 1k } }
`;

  /** Three campaigns of one person, who lets so much be spent. */
  async function limited(limit: string) {
    const trial = await makeTrial(manifest('lamp'));
    const state = makeFolder();
    for (const name of ['vase', 'clock']) trial.write(`${name}.yaml`, manifest(name));
    const run = (args: string[], { env, ...options }: Partial<CommandOptions> = {}) =>
      trial.run(args, { ...options, env: { XDG_STATE_HOME: state, MEDIABATCH_LIMIT: limit, ...env } });
    const apply = (file = 'campaign.yaml', options: Partial<CommandOptions> = {}) =>
      run(['apply', file, '--yes', '--poll-interval', '10'], options);
    const spent = () => trial.sandbox.ledger().reduce((sum, { credits }) => sum + credits, 0);
    return { trial, run, apply, spent };
  }

  test('I44 three campaigns at once never exceed the limit of a day, and neither do later runs', async () => {
    const { apply, run, spent, trial } = await limited('10/day,100/month');
    const ran = await Promise.all(['campaign.yaml', 'vase.yaml', 'clock.yaml'].map((file) => apply(file)));
    expect(spent(), ran.map(({ err }) => err).join('\n')).toBe(10);
    expect(ran.map(({ code }) => code)).toContain(4);
    const plan = await run(['plan', 'clock.yaml', '--json']);
    expect(JSON.parse(plan.out).totals.limit).toEqual({ credits: 10, per: 'day', left: 0 });
    const later = await apply('clock.yaml');
    expect([0, 4], later.err).toContain(later.code);
    expect(spent()).toBe(10);
    trial.write('.env', 'MEDIABATCH_LIMIT=9/day\n');
    const filed = { MEDIABATCH_LIMIT: '', MEDIABATCH_BASE_URL: '', MEDIABATCH_API_KEY: '' };
    expect((await run(['plan', 'clock.yaml'], { env: filed })).err).toContain('MEDIABATCH_LIMIT in .env has no effect');
    expect((await run(['doctor'])).out).toContain(
      'MEDIABATCH_LIMIT is 10 credits a day for all campaigns together: 0 left',
    );
  });

  test('I44 a killed run keeps its reservation, also for other runs', async () => {
    const { apply, run, spent, trial } = await limited('6/day');
    const words = ['apply', 'campaign.yaml', '--yes', '-v', '--poll-interval', '10'];
    await killAt(/hero@\w {2}created/, (options) => run(words, options));
    mkdirSync(trial.path('copy'));
    cpSync(trial.path('vase.yaml'), trial.path('copy/vase.yaml'));
    for (const file of ['copy/vase.yaml', 'campaign.yaml', 'vase.yaml']) await apply(file);
    expect(spent()).toBeLessThanOrEqual(6);
    expect(spent()).toBeGreaterThan(2);
  });

  test('a charge that the user records with resolve replaces the reservation', async () => {
    const service = await OtherService.open({ ...terse, tellsCharge: [] });
    onTestFinished(() => service.close());
    const folder = folderWith({
      'campaign.yaml': manifest('lamp')
        .replace('a, b, c, d', 'a')
        .replace(/^prices.*\n/m, ''),
    });
    const env = { ...service.env, MEDIABATCH_LIMIT: '9/day', XDG_STATE_HOME: makeFolder() };
    const run = (...args: string[]) => runInProcess(args, env, folder);
    const leftAfter = async (...args: string[]) => {
      const { code, err } = await run(...args);
      expect(code, err).toBe(0);
      return JSON.parse((await run('plan', 'campaign.yaml', '--json')).out).totals.limit.left;
    };
    expect(await leftAfter('apply', 'campaign.yaml', '--yes', '--poll-interval', '10')).toBe(0);
    const job = service.books.jobs[0]?.id ?? '';
    expect(await leftAfter('resolve', 'hero@a', '--job', job, '--credits', '3')).toBe(6);
  });

  test('a plan saved under a limit buys exactly its purchases once the limit allows them', async () => {
    const { run, spent } = await limited('5/day');
    await expectExit(0, run(['plan', 'campaign.yaml', '--out', 'a.plan.json']));
    const more = { env: { MEDIABATCH_LIMIT: '400/day' } };
    for (let time = 0; time < 2; time += 1) {
      await expectExit(4, run(['apply', 'a.plan.json', '--yes', '--poll-interval', '10'], more));
      expect(spent()).toBe(4);
    }
  });

  test('sandbox credits neither count nor are limited', async () => {
    const { run, spent } = await limited('2/day');
    await expectExit(0, run(['apply', 'campaign.yaml', '--sandbox', '--yes', '--poll-interval', '10']));
    expect(spent()).toBe(0);
    expect((await run(['plan', 'campaign.yaml'])).out).toMatch(/^limit +2 a day, 2 left$/m);
  });

  test.each(['400', '400/week', '400/day,10/day', '-1/day', 'day'])(
    '%s is no limit, and is not taken for none',
    async (limit) => {
      const { run } = await limited(limit);
      const refused = await expectExit(64, run(['apply', 'campaign.yaml', '--yes']));
      expect(refused.err).toContain('error MB3000 MEDIABATCH_LIMIT is');
    },
  );
});

describe('sandbox credits', () => {
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
    await expectExit(0, run('apply', 'a.plan.json', ...quick));
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
    const refused = await expectExit(64, run('apply', 'a.plan.json', ...quick));
    expect(refused.err).toContain('--sandbox cannot be combined with a saved plan');
    expect(service.requests()).toEqual([]);
  });

  test('nothing is recorded in the lock of a real service', async () => {
    const { service, run } = await cautious();
    const real = (env: Record<string, string>, ...args: string[]) => command(args, { cwd: place.folder, env });
    const named = ['--lock', 'campaign.lock.jsonl'];
    const expectRefused = async (...args: string[]) => {
      const before = place.read('campaign.lock.jsonl');
      const { err } = await expectExit(65, run(...args, ...named));
      expect(err).toContain('was made against a real service, so --sandbox cannot use it');
      expect(place.read('campaign.lock.jsonl')).toBe(before);
    };
    // Decided where nobody knows the service: the lock does not name it yet.
    await expectExit(0, real({}, 'adopt', 'campaign.yaml', 'hero@lamp', '--job', 'paid', '--offline', '--yes'));
    await expectRefused('apply', 'campaign.yaml', '--select', 'hero@vase', ...quick);
    await expectRefused('forget', 'campaign.yaml', 'hero@lamp', '--force');
    await expectExit(0, real(service.env, 'apply', 'campaign.yaml', '--select', 'hero@vase', ...quick.slice(0, 2)));
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
});
