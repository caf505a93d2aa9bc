import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { CampaignRepository } from '../../command/git/campaign-repository.ts';
import { type SandboxProcess, sandboxProcess, temporaryFolder } from '../../rig/command.ts';
import { type Job, runJob } from './runner.ts';

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

let here: CampaignRepository;
let folder: string;
let origin: string;
let service: SandboxProcess;

beforeEach(async () => {
  const temporary = temporaryFolder();
  folder = temporary.path;
  service = await sandboxProcess(join(folder, 'service'));
  onTestFinished(async () => {
    await service.stop();
    temporary.remove();
  });
  here = new CampaignRepository();
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
    env: { GITHUB_RUN_ID: '12', GIT_CONFIG_SYSTEM: '/dev/null', ...env },
    ...(onStart !== undefined && { onStart }),
  });
}

/** What everybody else sees of the lock. */
const lockInOrigin = () =>
  spawnSync('git', ['--git-dir', origin, 'show', 'main:campaign.lock.jsonl'], { encoding: 'utf8' }).stdout;
const bought = () => lockInOrigin().match(/"state":"done"/g)?.length ?? 0;

describe.skipIf(!hasGh)('apply.yml (needs gh and a POSIX shell)', () => {
  test('buys what was merged and pushes the lock; the next run begins with it', async () => {
    const { code, said } = await merged(manifest);
    expect(code, said).toBe(0);
    expect(bought()).toBe(2);
    expect(
      spawnSync('git', ['--git-dir', origin, 'log', '-1', '--format=%an: %s', 'main'], { encoding: 'utf8' }).stdout,
    ).toBe('github-actions[bot]: campaign.lock.jsonl: what was bought in run 12\n');
    here.git('pull', '--quiet', 'origin', 'main');
    const again = await merged(`${manifest}# hello\n`);
    expect(again.code, again.said).toBe(0);
    expect(service.ledger()).toHaveLength(2);
  });

  test('a gate: the lock is pushed, the gallery is an artifact, the job ends with 5; a pick that is pushed goes on', async () => {
    const job = await merged(gated);
    expect(job.code, job.said).toBe(5);
    expect(bought()).toBe(4);
    expect(job.step('Upload the gallery').with.path).toMatch(/gallery\.html$/);
    expect(job.summary).toContain('mediabatch review');
    here.git('pull', '--quiet', 'origin', 'main');
    const picked = await here.run('pick', 'campaign.yaml', 'draft/1');
    expect(picked.code, picked.err).toBe(0);
    const next = await merged(gated);
    expect(next.code, next.said).toBe(0);
    expect(service.ledger()).toHaveLength(5);
  });

  test.each(['3', '4', '6', '130'])('a run that ends with %s pushes its lock, and the job ends so', async (code) => {
    const job = await merged(manifest, { env: { STAND_IN_EXIT: code } });
    expect(job.code, job.said).toBe(Number(code));
    expect(bought()).toBe(2);
    expect(job.step('Upload the gallery').outcome).toBe('skipped');
  });

  test('a cancelled job: the run ends in order, and what was bought is pushed', async () => {
    await service.stop();
    service = await sandboxProcess(join(folder, 'slow'), ['--speed', '1']);
    const job = await merged(manifest, {
      onStart(step, pid) {
        if (step !== 'Apply') return;
        const timer = setInterval(() => {
          if (service.ledger().length < 2) return;
          clearInterval(timer);
          process.kill(pid, 'SIGINT');
        }, 50);
      },
    });
    expect(job.code, job.said).toBe(130);
    expect(lockInOrigin().match(/"jobId":"/g)?.length ?? 0).toBeGreaterThanOrEqual(2);
  });

  test('somebody pushed meanwhile: both locks are kept', async () => {
    const job = await merged(manifest, {
      onStart(step) {
        if (step !== 'Commit the lock') return;
        here.write('note.txt', 'hello');
        here.commit();
        here.git('push', '--quiet', 'origin', 'main');
      },
    });
    expect(job.code, job.said).toBe(0);
    expect(bought()).toBe(2);
    expect(spawnSync('git', ['--git-dir', origin, 'show', 'main:note.txt'], { encoding: 'utf8' }).stdout).toBe('hello');
  });

  test('a branch that takes no push: the lock is an artifact, and the job fails', async () => {
    const hook = join(origin, 'hooks', 'pre-receive');
    const job = await merged(manifest, {
      onStart(step) {
        if (step !== 'Commit the lock') return;
        writeFileSync(hook, '#!/bin/sh\necho protected >&2; exit 1\n');
        chmodSync(hook, 0o755);
      },
    });
    expect(job.code).toBe(1);
    expect(job.said).toContain('the lock cannot be pushed to main');
    expect(job.step('Keep a lock that was not pushed').with.path).toBe('**/*.lock.jsonl');
    const clone = execFileSync('bash', ['-c', 'echo "$0"/clone-*', folder], { encoding: 'utf8' }).trim();
    expect(existsSync(clone) && readFileSync(join(clone, 'campaign.lock.jsonl'), 'utf8')).toContain('"state":"done"');
  });
});
