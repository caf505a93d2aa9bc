import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type CommandResult, command, temporaryFolder } from '../../rig/command.ts';
import { gitEnvironment } from '../../rig/git-environment.ts';
import { type Booking, finalFiles, paidTwice, purchasesIn, readLockFile } from '../../rig/oracle.ts';
import { type ServiceHere, serviceHere } from '../../rig/service-here.ts';

const manifest = `version: 1
name: shop
tasks:
  pic: { kind: image, foreach: rows.csv, key: "{{row.sku}}", with: { prompt: "a {{row.sku}}", resolution: 1k } }
`;

/** A working copy with a campaign in it. */
export interface Repository {
  folder: string;
  /** Fails when git does, unless `mayFail`. */
  git(words: string[], options?: { mayFail: true }): string;
  rows(...skus: string[]): void;
  commit(message: string): void;
  apply(args?: string[], onErr?: (seen: string) => void): Promise<CommandResult>;
  jobIds(): string[];
  lockText(): string;
  files(): number;
}

export interface Team {
  service: ServiceHere;
  /** A bare repository that all clones push to. */
  shared: string;
  first: Repository;
  clone(): Repository;
}

/** One account, one shared repository, one clone with a commit. `union`: `.gitattributes` as `mediabatch init` writes it. */
export async function makeTeam(options: { union?: boolean; speed?: number; now?: () => number } = {}): Promise<Team> {
  const { union = true, ...given } = options;
  const service = await serviceHere(given);
  const { path, remove } = temporaryFolder();
  onTestFinished(async () => {
    await service.close();
    remove();
  });
  const shared = join(path, 'shared.git');
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', shared], { env: gitEnvironment });
  let clones = 0;
  const clone = () => {
    clones += 1;
    const folder = join(path, `clone-${clones}`);
    execFileSync('git', ['clone', '--quiet', shared, folder], { env: gitEnvironment, stdio: 'pipe' });
    return openRepository(folder, service);
  };
  const first = clone();
  writeFileSync(join(first.folder, 'campaign.yaml'), manifest);
  writeFileSync(join(first.folder, '.gitignore'), 'output/\n');
  writeFileSync(join(first.folder, '.gitattributes'), union ? '*.lock.jsonl merge=union text eol=lf\n' : '');
  first.rows('a', 'b');
  first.commit('campaign');
  first.git(['branch', '-M', 'main']);
  first.git(['push', '--quiet', '-u', 'origin', 'main']);
  return { service, shared, first, clone };
}

function openRepository(folder: string, service: ServiceHere): Repository {
  const git: Repository['git'] = (words, options) => {
    try {
      return execFileSync('git', words, { cwd: folder, env: gitEnvironment, stdio: 'pipe', encoding: 'utf8' });
    } catch (error) {
      if (options?.mayFail) return '';
      throw error;
    }
  };
  const lock = join(folder, 'campaign.lock.jsonl');
  return {
    folder,
    git,
    rows: (...skus) => writeFileSync(join(folder, 'rows.csv'), `sku\n${skus.map((sku) => `${sku}\n`).join('')}`),
    commit(message) {
      git(['add', '-A']);
      git(['commit', '--quiet', '--allow-empty', '-m', message]);
    },
    apply: (args = [], onErr) =>
      command(['apply', 'campaign.yaml', '--yes', '-v', '--poll-interval', '10', ...args], {
        cwd: folder,
        env: service.env,
        ...(onErr !== undefined && { onErr }),
      }),
    jobIds: () => purchasesIn(readLockFile(lock)).flatMap(({ jobId }) => (jobId === undefined ? [] : [jobId])),
    lockText: () => (existsSync(lock) ? readFileSync(lock, 'utf8') : ''),
    files: () => finalFiles(join(folder, 'output')).length,
  };
}

/** What is not as promised about `steps` pictures that this repository has seen bought; empty is good. */
export function findWrong(team: Team, repository: Repository, steps: number): string[] {
  const ledger: Booking[] = team.service.ledger();
  const known = new Set(repository.jobIds());
  const wrong = paidTwice(ledger).map((subject) => `paid twice: ${subject}`);
  wrong.push(...ledger.filter(({ id }) => !known.has(id)).map(({ id }) => `not in the lock: ${id}`));
  if (ledger.length !== steps) wrong.push(`${ledger.length} creates were booked, not ${steps}`);
  if (repository.files() !== steps) wrong.push(`${repository.files()} files, not ${steps}`);
  return wrong;
}
