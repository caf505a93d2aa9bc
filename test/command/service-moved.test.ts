import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { knownService } from '../../src/campaign/paths.ts';
import { lockVersion } from '../../src/lock/record.ts';
import { writeHeader } from '../../src/lock/write.ts';
import { command, expectExit, temporaryFolder } from '../rig/command.ts';
import { makeFolder } from '../rig/folder.ts';
import { dyingAt } from '../rig/killed-run.ts';
import { type ServiceHere, type ServiceOptions, serviceHere } from '../rig/service-here.ts';
import { answerOnTerminal, hasTerminals } from '../rig/terminal.ts';

const pictures = (rows: string) => `version: 1
name: moved
tasks:
  pic: { kind: image, foreach: [${rows}], with: { prompt: "a {{row}}", resolution: 1k } }
`;

interface Campaign {
  folder: string;
  lock(): string;
  writeLock(text: string): void;
  /** As if no run had been here. */
  dropState(): void;
  write(text: string): void;
  run(service: Service, ...args: string[]): ReturnType<typeof command>;
  apply(service: Service, ...args: string[]): ReturnType<typeof command>;
}

function makeCampaign(text = pictures('a, b')): Campaign {
  const path = makeFolder();
  const lock = join(path, 'campaign.lock.jsonl');
  const write = (written: string) => writeFileSync(join(path, 'campaign.yaml'), written);
  write(text);
  const run = (service: Service, ...args: string[]) => command(args, { cwd: path, env: service.env });
  return {
    folder: path,
    lock: () => readFileSync(lock, 'utf8'),
    writeLock(written) {
      // As git brings one: what was written here last is another one, which git has.
      rmSync(join(path, '.mediabatch/campaign.lock.jsonl.written'), { force: true });
      writeFileSync(lock, written);
    },
    dropState: () => rmSync(join(path, '.mediabatch'), { recursive: true, force: true, maxRetries: 5 }),
    write,
    run,
    apply: (service, ...args) => run(service, 'apply', 'campaign.yaml', '--yes', '--poll-interval', '10', ...args),
  };
}

type Service = ServiceHere & { data: string };

async function makeService(options?: ServiceOptions): Promise<Service> {
  const { path, remove } = temporaryFolder();
  return startAt(path, remove, options);
}

async function startAt(data: string, remove: () => void, options?: ServiceOptions): Promise<Service> {
  const service = await serviceHere({ ...options, dataDir: data });
  onTestFinished(async () => {
    await service.close();
    remove();
  });
  return { ...service, data };
}

/** The same service at another address: its jobs, credits and files are those that it had. */
async function moveService(service: Service): Promise<Service> {
  await service.close();
  return startAt(service.data, () => {});
}

const digestOf = (service: Service) => knownService(false, { baseUrl: service.env.MEDIABATCH_BASE_URL ?? '' }) ?? '';
const headerOf = (service: string) => writeHeader({ version: lockVersion, service });
/** The services that the header lines of a lock name. */
const servicesIn = (lock: string) =>
  lock.split('\n').flatMap((line) => (line.includes('"mediabatch"') ? [JSON.parse(line).service] : []));
const elsewhere = headerOf('0123456789abcdef');

const purchase = (fields: object) =>
  `${JSON.stringify({ address: 'pic@a', kind: 'image', fingerprint: '1:aa', generation: 1, attempt: 1, ...fields })}\n`;

describe('a lock of another service', () => {
  test.each([
    ['a job', purchase({ state: 'done', key: 'k', jobId: 'job-1', credits: 2, outputs: [] })],
    ['nothing but refusals', purchase({ state: 'refused', key: 'k', error: 'no credits' })],
    [
      'an unresolved create request',
      purchase({ state: 'intent', send: 'lost', key: 'k', since: '2030-01-01T00:00:00.000Z' }),
    ],
    ['a decision', purchase({ state: 'refused', key: 'k', decisions: { forgotten: 1 } })],
  ])('with %s is refused: nothing is sent, nothing is written, the recovery commands are named', async (name, line) => {
    const campaign = makeCampaign();
    const service = await makeService();
    campaign.writeLock(elsewhere + line);
    for (const words of [
      ['plan', 'campaign.yaml'],
      ['apply', 'campaign.yaml', '--yes'],
      ['adopt', 'campaign.yaml'],
    ]) {
      const { err } = await expectExit(65, campaign.run(service, ...words));
      for (const way of ['MEDIABATCH_BASE_URL', '--lock FILE', '--service-moved']) expect(err).toContain(way);
    }
    expect(campaign.lock()).toBe(elsewhere + line);
    const planned = await campaign.run(service, 'plan', 'campaign.yaml');
    expect(planned.err.includes('delete the lock')).toBe(name === 'nothing but refusals');
    expect(service.ledger()).toEqual([]);
    expect((await campaign.run(service, 'status', 'campaign.yaml')).code).toBe(0);
    const doctor = await campaign.run(service, 'doctor');
    expect(doctor.out + doctor.err).toContain('--service-moved');
  });

  test('without purchases becomes the lock of this service before the first purchase', async () => {
    const campaign = makeCampaign();
    const service = await makeService();
    campaign.writeLock(elsewhere);
    const services: string[][] = [];
    for (let at = 1; services.length < 4; at++) {
      campaign.writeLock(elsewhere);
      campaign.dropState();
      const words = ['apply', 'campaign.yaml', '--yes', '--poll-interval', '10'];
      const death = dyingAt({ write: at, when: 'after' }, service.env);
      const { signal } = await command(words, { cwd: campaign.folder, ...death });
      const lock = campaign.lock();
      // As soon as anything is in it, it stands under the service that it was bought from, and no other.
      if (lock.includes('"address"')) services.push(servicesIn(lock));
      if (signal === null) break;
    }
    expect(services).toHaveLength(4);
    const own = digestOf(service);
    for (const found of services) expect(found).toEqual([own]);
  });

  test('is a sandbox lock, or a real one in a rehearsal: no option changes its service', async () => {
    const campaign = makeCampaign();
    const service = await makeService();
    const record = purchase({ state: 'done', key: 'k', jobId: 'job-1', outputs: [] });
    campaign.writeLock(headerOf('sandbox') + record);
    const real = await campaign.apply(service, '--service-moved');
    expect(real.code).toBe(65);
    expect(real.err).toContain('was made with --sandbox');
    campaign.writeLock(headerOf(digestOf(service)) + record);
    const play = await campaign.apply(service, '--sandbox', '--service-moved', '--lock', 'campaign.lock.jsonl');
    expect(play.code).toBe(65);
    expect(play.err).toContain('made against a real service');
    campaign.writeLock(headerOf('sandbox') + headerOf(digestOf(service)) + record);
    expect((await campaign.apply(service, '--service-moved')).code).toBe(65);
    expect(service.ledger()).toEqual([]);
  });
});

describe('a service that has moved', () => {
  test('is shown, confirmed and recorded: nothing is bought twice, and the old address counts as another service', async () => {
    const campaign = makeCampaign();
    const before = await makeService();
    expect((await campaign.apply(before)).code).toBe(0);
    const lock = campaign.lock();
    const after = await moveService(before);
    campaign.write(pictures('a, b, c'));

    const silent = await campaign.run(after, 'apply', 'campaign.yaml', '--service-moved', '--max-credits', '9');
    expect(silent.code).toBe(64);
    expect(silent.err).toContain('2 steps on record for another service address');
    expect(silent.err).toContain('approve with --yes');
    const planned = await campaign.run(after, 'plan', 'campaign.yaml', '--service-moved', '--out', 'p.plan.json');
    expect(planned.err).toContain('mediabatch apply p.plan.json --service-moved\n');
    expect(planned.code, planned.err).toBe(0);
    expect(planned.out).toContain('pic@c');
    expect(campaign.lock()).toBe(lock);

    await expectExit(0, campaign.run(after, 'apply', 'p.plan.json', '--service-moved', '--yes'));
    expect(after.ledger().map(({ body }) => body.prompt)).toEqual(['a a', 'a b', 'a c']);
    expect(servicesIn(campaign.lock())).toEqual([digestOf(after)]);
    expect((await campaign.run(after, 'plan', 'campaign.yaml')).out).toContain('Nothing to do');
    expect((await campaign.run(before, 'plan', 'campaign.yaml')).code).toBe(65);
  });

  test('is recorded even without anything else to do', async () => {
    const campaign = makeCampaign();
    const before = await makeService();
    await campaign.apply(before);
    const after = await moveService(before);
    await expectExit(0, campaign.apply(after, '--service-moved'));
    expect(servicesIn(campaign.lock())).toEqual([digestOf(after)]);
  });

  test('is recorded before the first request: a killed run leaves no purchase under the old address', async () => {
    const campaign = makeCampaign();
    const before = await makeService();
    await campaign.apply(before);
    const lock = campaign.lock();
    const after = await moveService(before);
    campaign.write(pictures('a, b, c'));
    let begun = 0;
    for (let at = 1; begun < 3; at++) {
      campaign.writeLock(lock);
      campaign.dropState();
      const words = ['apply', 'campaign.yaml', '--yes', '--service-moved', '--poll-interval', '10'];
      // Each time a machine that has not seen this before: its purchase journal is empty.
      const state = makeFolder();
      const death = dyingAt({ write: at, when: 'after' }, { ...after.env, XDG_STATE_HOME: state });
      const { signal } = await command(words, { cwd: campaign.folder, ...death });
      if (signal === null) break;
      const own = digestOf(after);
      const isBegun = campaign.lock().includes('pic@c');
      if (isBegun) begun++;
      if (isBegun) expect(servicesIn(campaign.lock())).toEqual([own]);
      else expect([own, servicesIn(lock)[0]]).toContain(servicesIn(campaign.lock())[0]);
    }
    expect(begun).toBe(3);
  });

  test('joins a merge in which one side has moved, and loses no job', async () => {
    const campaign = makeCampaign(pictures('a'));
    const before = await makeService();
    await campaign.apply(before);
    const base = campaign.lock();
    campaign.write(pictures('a, b'));
    await campaign.apply(before);
    const branch = campaign.lock();
    campaign.writeLock(base);
    campaign.write(pictures('a, c'));
    const after = await moveService(before);
    await campaign.apply(after, '--service-moved');
    campaign.write(pictures('a, b, c'));
    for (const merged of [campaign.lock() + branch, branch + campaign.lock()]) {
      campaign.writeLock(merged);
      const refused = await campaign.run(after, 'plan', 'campaign.yaml');
      expect(refused.code).toBe(65);
      expect(refused.err).toContain('MB2003');
      for (const way of ['--service-moved', '--lock FILE', 'git show']) expect(refused.err).toContain(way);
      await expectExit(0, campaign.apply(after, '--service-moved'));
      for (const { id } of after.ledger()) expect(campaign.lock()).toContain(id);
      expect(servicesIn(campaign.lock())).toEqual([digestOf(after)]);
    }
    expect(after.ledger()).toHaveLength(3);
  });

  test('a lock of another service that appears during a run is joined under both names, and the next run prompts', async () => {
    const campaign = makeCampaign(pictures('a, b, c'));
    const service = await makeService({ speed: 20 });
    const record = purchase({ address: 'pic@z', state: 'done', key: 'k', jobId: 'job-other', outputs: [] });
    let swapped = false;
    await command(['apply', 'campaign.yaml', '--yes', '-v', '--poll-interval', '10'], {
      cwd: campaign.folder,
      env: service.env,
      onErr: () => {
        if (swapped || service.ledger().length < 3) return;
        swapped = true;
        writeFileSync(join(campaign.folder, 'other'), elsewhere + record);
        renameSync(join(campaign.folder, 'other'), join(campaign.folder, 'campaign.lock.jsonl'));
      },
    });
    expect(swapped).toBe(true);
    const lock = campaign.lock();
    for (const id of [...service.ledger().map((line) => line.id), 'job-other']) expect(lock).toContain(id);
    expect(servicesIn(lock).sort()).toEqual(['0123456789abcdef', digestOf(service)].sort());
    expect((await campaign.apply(service)).err).toContain('MB2003');
  });
});

describe.runIf(hasTerminals)('a terminal prompts (python3)', () => {
  test.each([
    ['n', 65],
    ['y', 0],
  ])('and %s ends with %i', async (answer, expected) => {
    const campaign = makeCampaign();
    const before = await makeService();
    await campaign.apply(before);
    const lock = campaign.lock();
    const after = await moveService(before);
    const { code, text } = await answerOnTerminal(['apply', 'campaign.yaml', '--service-moved'], {
      cwd: campaign.folder,
      env: after.env,
      answers: [`${answer}\r`],
    });
    expect(text).toContain('Is this the same service at a new address? [y/N]');
    expect(code, text).toBe(expected);
    if (answer === 'n') expect(campaign.lock()).toBe(lock);
    else expect(servicesIn(campaign.lock())).toEqual([digestOf(after)]);
  });
});

describe('the digest of an address', () => {
  const digest = (baseUrl: string) => knownService(false, { baseUrl });

  test('is the same for every spelling', () => {
    const plain = digest('https://api.example.com/api/v1');
    expect(plain).toMatch(/^[0-9a-f]{16}$/);
    for (const other of [
      'https://API.Example.COM/api/v1',
      'https://api.example.com:443/api/v1',
      'https://api.example.com/api/v1/',
      'https://api.example.com/api/v1//',
      'https://api.example.com./api/v1',
      'https://api.example.com.:443/api/v1/',
      'HTTPS://api.example.com/api/./v1',
      'https://api.example.com/x/../api/v1',
    ]) {
      expect(digest(other), other).toBe(plain);
    }
  });

  test('differs for every possibly different service', () => {
    const addresses = [
      'https://api.example.com/api/v1',
      'https://api.example.com:8443/api/v1',
      'https://api.example.com/API/v1',
      'https://api.example.com/eu/api/v1',
      'https://apiexample.com/api/v1',
      'http://127.0.0.1/api/v1',
      'https://127.0.0.1/api/v1',
      'http://127.0.0.1:4010/api/v1',
      'http://127.0.0.2:4010/api/v1',
      'http://localhost:4010/api/v1',
      'http://[::1]:4010/api/v1',
    ];
    expect(new Set(addresses.map(digest)).size).toBe(addresses.length);
    expect(new Set(addresses.map(digest))).not.toContain(knownService(true, {}));
    expect(digest('not an address')).toBeUndefined();
  });
});
