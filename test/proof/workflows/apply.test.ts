import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Fault } from '../../../src/sandbox/index.ts';
import { CampaignRepository } from '../../command/git/campaign-repository.ts';
import { expectExit, temporaryFolder } from '../../rig/command.ts';
import { type ServiceHere, type ServiceOptions, serviceHere } from '../../rig/service-here.ts';
import { type Job, packageFiles, runJob } from './runner.ts';

const hasGh = process.platform !== 'win32' && spawnSync('gh', ['--version']).status === 0;

const manifest = `version: 1
name: spring
budget: { credits: 100 }
tasks:
  hero: { kind: image, foreach: [lamp, vase], key: "{{row}}", with: { prompt: "a {{row}} on a table" } }
`;
const gated = `${manifest}  draft: { kind: image, takes: 2, gate: { choose: 1 }, with: { prompt: "a chair" } }
  final: { kind: image, with: { prompt: "a big chair", referenceImages: ["{{tasks.draft.url}}"] } }
`;
const created = manifest
  .replace('hero: { kind: image', 'hero: { kind: influencer')
  .replace('tasks:', 'prices: { influencer: 8 }\ntasks:');

let here: CampaignRepository;
let folder: string;
let origin: string;
let service: ServiceHere;

beforeEach(async () => {
  const temporary = temporaryFolder();
  folder = temporary.path;
  service = await serviceHere();
  onTestFinished(async () => {
    await service.close();
    temporary.remove();
  });
  here = new CampaignRepository();
  for (const [name, text] of Object.entries(packageFiles)) here.write(name, text);
  origin = join(folder, 'origin.git');
  here.write('campaign.yaml', manifest);
  here.commit();
  execFileSync('git', ['clone', '--quiet', '--bare', here.folder, origin]);
  here.git('remote', 'add', 'origin', origin);
});

/** The campaign as it lies in the repository, bought by a runner of its own. */
async function merged(
  text: string,
  { env = {}, onStart }: { env?: Record<string, string>; onStart?: (step: string, pid: number) => void } = {},
): Promise<Job> {
  here.write('campaign.yaml', text);
  here.commit();
  rmSync(join(origin, 'hooks', 'update'), { force: true });
  here.git('push', '--quiet', 'origin', 'main');
  const clone = mkdtempSync(join(folder, 'clone-'));
  execFileSync('git', ['clone', '--quiet', `file://${origin}`, clone]);
  return runJob('apply.yml', {
    folder: clone,
    temporary: mkdtempSync(join(folder, 'runner-')),
    values: {
      'github.ref_name': 'main',
      'github.token': 'secret',
      'secrets.MEDIABATCH_API_KEY': service.env.MEDIABATCH_API_KEY ?? '',
      'vars.MEDIABATCH_BASE_URL': service.env.MEDIABATCH_BASE_URL ?? '',
      'vars.MEDIABATCH_MAX_CREDITS': '50',
    },
    env: {
      GITHUB_RUN_ID: '12',
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_REPOSITORY: 'team/shop',
      GIT_CONFIG_SYSTEM: '/dev/null',
      ...env,
    },
    ...(onStart !== undefined && { onStart }),
  });
}

/** What everybody else sees of the lock. */
const lockInOrigin = () =>
  spawnSync('git', ['--git-dir', origin, 'show', 'main:campaign.lock.jsonl'], { encoding: 'utf8' }).stdout;
const bought = () => lockInOrigin().match(/"state":"done"/g)?.length ?? 0;

/** Another service, which behaves like this. */
async function serve(options: ServiceOptions): Promise<void> {
  await service.close();
  service = await serviceHere(options);
}

/** Acts on the process of `Apply` once both jobs are paid for. */
const onceBought = (act: (pid: number) => void) => (step: string, pid: number) => {
  if (step !== 'Apply') return;
  const timer = setInterval(() => {
    if (service.ledger().length < 2) return;
    clearInterval(timer);
    act(pid);
  }, 50);
};

/** From a step on, the repository refuses pushes to branches for which `test "$ref" …` holds. */
function refuseAt(step: string, condition: string): (step: string) => void {
  const hook = join(origin, 'hooks', 'update');
  return (started) => {
    if (started !== step) return;
    writeFileSync(hook, `#!/bin/sh\nif test "$1" ${condition}; then echo protected >&2; exit 1; fi\n`);
    chmodSync(hook, 0o755);
  };
}

describe.skipIf(!hasGh)('apply.yml (needs gh and a POSIX shell)', () => {
  test('buys what was merged and pushes the lock; the next run begins with it', async () => {
    const { code, said } = await merged(manifest);
    expect(code, said).toBe(0);
    expect(bought()).toBe(2);
    expect(
      spawnSync('git', ['--git-dir', origin, 'log', '-1', '--format=%an: %s', 'main'], { encoding: 'utf8' }).stdout,
    ).toBe('github-actions[bot]: campaign.lock.jsonl: purchases of run 12\n');
    here.git('pull', '--quiet', 'origin', 'main');
    const again = await merged(`${manifest}# hello\n`);
    expect(again.code, again.said).toBe(0);
    expect(service.ledger()).toHaveLength(2);
  });

  test('a gate: the lock is pushed, the gallery is an artifact, the job ends with 5; a pick that is pushed goes on', async () => {
    const job = await merged(gated);
    expect(job.code, job.said).toBe(5);
    expect(bought()).toBe(4);
    expect(readFileSync(job.step('Upload the gallery').with.path ?? '', 'utf8')).toMatch(/^<!doctype html>/i);
    expect(job.summary).toContain('mediabatch review');
    here.git('pull', '--quiet', 'origin', 'main');
    await expectExit(0, here.run('pick', 'campaign.yaml', 'draft/1'));
    const next = await merged(gated);
    expect(next.code, next.said).toBe(0);
    expect(service.ledger()).toHaveLength(5);
  });

  const lost: Fault = { on: 'create', kind: 'influencer', times: 9, do: { type: 'reset', booked: true } };

  test.each<[number, string, ServiceOptions]>([
    [3, 'every job fails', { failRate: 1 }],
    [4, 'the account suffices for one job', { credits: 3 }],
    [6, 'answers are lost, and nothing lists the jobs', { faults: [lost] }],
  ])('a run that ends with %i (%s) pushes its lock, and the job ends so', async (code, _why, options) => {
    await serve(options);
    const job = await merged(code === 6 ? created : manifest);
    expect(job.code, job.said).toBe(code);
    expect(lockInOrigin()).toMatch(/"state":"(?:failed|done|unresolved)"/);
    expect(job.step('Upload the gallery').outcome).toBe('skipped');
  });

  // The runner asks once more after 7.5 seconds.
  test.each([[['SIGINT']], [['SIGINT', 'SIGTERM']]] as const)(
    'a cancelled job (%s): the run ends in order, and what was bought is pushed',
    async (signals) => {
      await serve({ speed: 1 });
      const job = await merged(manifest, {
        onStart: onceBought((pid) => {
          for (const [at, signal] of signals.entries()) setTimeout(() => send(pid, signal), 200 * at);
        }),
      });
      expect(job.code, job.said).toBe(130);
      expect(lockInOrigin().match(/"jobId":"/g)?.length ?? 0).toBeGreaterThanOrEqual(2);
    },
  );

  test('a job whose processes are killed: the lock is pushed as it is, and the next run attaches', async () => {
    await serve({ speed: 2 });
    const kill = (pid: number) => {
      const children = execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
        .trim()
        .split('\n')
        .map(Number);
      for (const one of [pid, ...children]) send(one, 'SIGKILL');
    };
    const job = await merged(manifest, { onStart: onceBought(kill) });
    expect(job.step('Apply').outcome).toBe('failure');
    expect(job.step('Commit the lock').outcome, job.said).toBe('success');
    here.git('pull', '--quiet', 'origin', 'main');
    const next = await merged(`${manifest}# again\n`);
    expect(next.code, next.said).toBe(0);
    expect(bought()).toBe(2);
    expect(service.ledger()).toHaveLength(2);
  });

  test.each(['a note', 'a purchase, and no rule how locks are merged'])(
    'somebody pushed meanwhile (%s): everything is kept',
    async (what) => {
      const isPurchase = what !== 'a note';
      if (isPurchase) here.write('.gitattributes', '');
      const job = await merged(manifest, {
        onStart(step) {
          if (step !== 'Commit the lock') return;
          here.write('note.txt', 'hello');
          if (isPurchase) here.buy({ address: 'other' });
          here.commit();
          here.git('push', '--quiet', 'origin', 'main');
        },
      });
      expect(job.code, job.said).toBe(0);
      expect(bought()).toBe(isPurchase ? 3 : 2);
      expect(lockInOrigin()).not.toContain('<<<<');
      expect(spawnSync('git', ['--git-dir', origin, 'show', 'main:note.txt'], { encoding: 'utf8' }).stdout).toBe(
        'hello',
      );
    },
  );

  test.each(['merged', 'squashed', 'squashed and, during the next run, deleted'])(
    'a branch that takes no push: the lock waits on another one, and nothing is bought until it is %s',
    async (how) => {
      const job = await merged(manifest, { onStart: refuseAt('Commit the lock', '= refs/heads/main') });
      expect(job.code, job.said).toBe(0);
      expect(bought()).toBe(0);
      const branch = /^campaign-yaml-[0-9a-f]{8}$/m;
      const [name = ''] = branch.exec(job.summary.replaceAll(/`?mediabatch-lock\/|`/g, '\n')) ?? [];
      const waiting = `mediabatch-lock/${name}`;
      expect(job.summary).toContain(`https://github.com/team/shop/compare/main...${waiting}?expand=1`);

      const early = await merged(`${manifest}# more\n`);
      expect(early.code).toBe(1);
      expect(early.said).toContain(`the branch ${waiting} contains the purchases`);
      expect(early.step('Apply').outcome).toBe('skipped');

      here.git('fetch', '--quiet', 'origin');
      here.git('merge', '--quiet', ...(how === 'merged' ? [] : ['--squash']), `origin/${waiting}`);
      const refuse = refuseAt('Commit the lock', '= refs/heads/main');
      const next = await merged(manifest.replace('vase', 'vase, chair'), {
        onStart(step) {
          if (step === 'Apply' && how.endsWith('deleted')) here.git('push', '--quiet', 'origin', `:${waiting}`);
          refuse(step);
        },
      });
      expect(next.code, next.said).toBe(0);
      expect(service.ledger()).toHaveLength(3);
      here.git('fetch', '--quiet', 'origin');
      expect(here.git('show', `origin/${waiting}:campaign.lock.jsonl`).match(/"state":"done"/g)).toHaveLength(3);
    },
  );

  test('no branch takes a push: the lock is an artifact, and the job fails', async () => {
    const job = await merged(manifest, { onStart: refuseAt('Commit the lock', '!= none') });
    expect(job.code).toBe(1);
    expect(job.said).toContain('the lock cannot be pushed to main or to mediabatch-lock/');
    expect(job.step('Upload the lock if it was not pushed').with.path).toBe('**/*.lock.jsonl');
    const clone = execFileSync('bash', ['-c', 'echo "$0"/clone-*', folder], { encoding: 'utf8' }).trim();
    expect(existsSync(clone) && readFileSync(join(clone, 'campaign.lock.jsonl'), 'utf8')).toContain('"state":"done"');
  });
});

/** Sends a signal to a process that may have ended by itself. */
function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
