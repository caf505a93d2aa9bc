import { execFileSync } from 'node:child_process';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import { BookingService } from '../../rig/booking-service.ts';
import { temporaryFolder } from '../../rig/command.ts';
import { gitEnvironment } from '../../rig/git-environment.ts';
import { VirtualTime } from '../../rig/virtual-time.ts';
import { bufferTerminal } from '../buffer-terminal.ts';
import { Copy, type Ran } from './working-copy.ts';

/** One service, its time, and the working copies of everybody who uses it. Commands run in this process. */
export class Studio {
  readonly time: VirtualTime;
  readonly service: BookingService;
  readonly #folder: string;
  readonly #listeners = new Map(signals.map((name) => [name, new Set(process.listeners(name))]));
  readonly #usualHome = process.env.XDG_STATE_HOME;
  #copies = 0;
  #running = 0;

  constructor(folder: string) {
    this.#folder = folder;
    this.time = new VirtualTime();
    this.service = new BookingService(this.time);
  }

  /** Each working copy is on a machine of its own. */
  #homeOf({ folder }: Copy): string {
    return `${folder}-home`;
  }

  /** A working copy of a repository of its own, with `.gitattributes` as `init` writes it. */
  copy(): Copy {
    this.#copies += 1;
    const folder = join(this.#folder, `copy-${this.#copies}`);
    cpSync(template(), folder, { recursive: true });
    return new Copy(this, folder);
  }

  /** What git makes of a copy elsewhere: the same history, none of the files that git does not keep. */
  clone(from: Copy): Copy {
    this.#copies += 1;
    const folder = join(this.#folder, `copy-${this.#copies}`);
    execFileSync('git', ['clone', '--quiet', from.folder, folder], { env: gitEnvironment, stdio: 'pipe' });
    return new Copy(this, folder);
  }

  async run(copy: Copy, args: string[]): Promise<Ran> {
    const XDG_STATE_HOME = this.#homeOf(copy);
    Object.assign(process.env, { MEDIABATCH_BASE_URL: this.service.url, MEDIABATCH_API_KEY: copy.key, XDG_STATE_HOME });
    const { terminal, said } = bufferTerminal();
    this.#running += 1;
    try {
      const code = await this.time.during(() => main(args, terminal));
      return { code, ...said };
    } finally {
      this.#running -= 1;
      if (this.#running === 0) this.#removeListeners();
    }
  }

  /** From now on the purchase journal is that of another machine. */
  forgetPurchases(copy: Copy): void {
    rmSync(join(this.#homeOf(copy), 'mediabatch', 'purchases'), { recursive: true, force: true });
  }

  /** Ctrl-C, for the commands that are running. */
  interrupt(): void {
    for (const listener of this.#own('SIGINT')) listener('SIGINT');
  }

  async close(): Promise<void> {
    await this.service.close();
    for (const name of ['MEDIABATCH_BASE_URL', 'MEDIABATCH_API_KEY']) delete process.env[name];
    process.env.XDG_STATE_HOME = this.#usualHome;
  }

  /** A command keeps its process for itself. */
  #removeListeners(): void {
    for (const name of signals) for (const listener of this.#own(name)) process.off(name, listener);
  }

  #own(name: NodeJS.Signals): NodeJS.SignalsListener[] {
    return (process.listeners(name) as NodeJS.SignalsListener[]).filter(
      (listener) => !this.#listeners.get(name)?.has(listener),
    );
  }
}

const signals: NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

export async function makeStudio(): Promise<Studio> {
  const { path, remove } = temporaryFolder();
  const studio = new Studio(path);
  await studio.service.open();
  onTestFinished(async () => {
    await studio.close();
    remove();
  });
  return studio;
}

let made: string | undefined;

/** Made once: an empty repository with its first commit. */
function template(): string {
  if (made !== undefined) return made;
  const { path, remove } = temporaryFolder();
  process.on('exit', remove);
  execFileSync('git', ['init', '--quiet', '--initial-branch=main', path], { env: gitEnvironment });
  writeFileSync(join(path, '.gitignore'), 'output/\n.mediabatch/\n');
  writeFileSync(join(path, '.gitattributes'), '*.lock.jsonl merge=union text eol=lf\n');
  execFileSync('git', ['add', '-A'], { cwd: path, env: gitEnvironment });
  execFileSync('git', ['commit', '--quiet', '-m', 'first'], { cwd: path, env: gitEnvironment });
  rmSync(join(path, '.git', 'hooks'), { recursive: true, force: true, maxRetries: 5 });
  made = path;
  return path;
}
