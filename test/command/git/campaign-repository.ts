import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { LockLine } from '../../../src/lock/record.ts';
import { writeHeader, writeLine } from '../../../src/lock/write.ts';
import { makeFolder } from '../../rig/folder.ts';
import { gitEnvironment } from '../../rig/git-environment.ts';
import { runInProcess, type Said } from '../in-process.ts';

/** A real repository with a campaign in it, without a service: its locks are written by hand. */
export class CampaignRepository {
  readonly folder: string;
  #commits = 0;

  constructor(folder?: string) {
    if (folder !== undefined) {
      this.folder = folder;
      return;
    }
    const path = makeFolder();
    this.folder = realpathSync(path);
    this.git('init', '--quiet', '--initial-branch=main');
    this.write('.gitattributes', '*.lock.jsonl merge=union text eol=lf\n');
  }

  git(...words: string[]): string {
    const date = this.#nextDate();
    const env = {
      ...gitEnvironment,
      GIT_AUTHOR_NAME: 'Ann',
      GIT_AUTHOR_EMAIL: 'ann@example.com',
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_DATE: date,
    };
    return execFileSync('git', words, { cwd: this.folder, env, stdio: 'pipe', encoding: 'utf8' });
  }

  #nextDate(): string {
    this.#commits += 1;
    return new Date(Date.UTC(2026, 0, 1, 0, this.#commits)).toISOString();
  }

  write(name: string, text: string): void {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  read(name: string): string {
    return readFileSync(join(this.folder, name), 'utf8');
  }

  /** Everything as it is; gives the commit. */
  commit(): string {
    this.git('add', '-A');
    this.git('commit', '--quiet', '--allow-empty', '-m', 'work');
    return this.git('rev-parse', 'HEAD').trim();
  }

  /** Adds a line to a lock. */
  buy(line: Partial<LockLine> & Pick<LockLine, 'address'>, lock = 'campaign.lock.jsonl'): void {
    const path = join(this.folder, lock);
    if (!existsSync(path)) this.write(lock, writeHeader({ version: 2 }));
    appendFileSync(path, writeLine(bought(line)));
  }

  run(...args: string[]): Promise<Said> {
    return this.runIn('.', ...args);
  }

  async runIn(folder: string, ...args: string[]): Promise<Said> {
    const before = process.cwd();
    try {
      return await runInProcess(args, {}, join(this.folder, folder));
    } finally {
      // A commit that is checked out may not have the folder.
      process.chdir(before);
    }
  }
}

/** A finished job of 2 credits, unless the line says otherwise. */
function bought(line: Partial<LockLine> & Pick<LockLine, 'address'>): LockLine {
  const name = line.jobId ?? `job-${line.address}`;
  return {
    kind: 'image',
    fingerprint: `1:${name}`,
    generation: 1,
    attempt: 1,
    state: 'done',
    key: `key ${name}`,
    jobId: name,
    credits: 2,
    outputs: [],
    ...line,
  } as LockLine;
}
