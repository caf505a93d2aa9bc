import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bin, command, temporaryFolder } from '../../rig/command.ts';
import {
  damagedOutputs,
  finalFiles,
  paidTwice,
  partialFiles,
  purchasesIn,
  readLockFile,
  subjectOf,
  unrecorded,
} from '../../rig/oracle.ts';
import { type ServiceHere, serviceHere } from '../../rig/service-here.ts';

/** A file of ours, a picture that shows it, a song beside it, and a film of the picture: every sort of paid act. */
const manifest = `version: 1
name: crash
tasks:
  logo: { kind: upload, with: { file: logo.png } }
  pic: { kind: image, with: { prompt: hero, resolution: 1k, referenceImages: ["{{tasks.logo.url}}"] } }
  song: { kind: music, with: { model: song-7.5, prompt: calm } }
  film: { kind: video, with: { prompt: push, image: "{{tasks.pic.url}}", duration: 2 } }
`;
const paidSteps = 3;
const png = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55', 'hex');

/** One call of the system, with its number among the calls of that name in its thread: what `when=` counts. */
export interface Call {
  name: string;
  number: number;
  /** What it was about: a path, a socket, an event. */
  target: string;
}

export interface CrashTrial {
  folder: string;
  lock: string;
  service: ServiceHere;
  /** Runs the command under strace. One thread does all file work, so that its calls stand in one row. */
  trace(options: string[]): Promise<{ code: number | null; err: string }>;
  rerun(): Promise<{ code: number | null; err: string }>;
  remove(): Promise<void>;
}

const applied = ['apply', 'campaign.yaml', '--yes', '--poll-interval', '10'];

export async function makeCrashTrial(): Promise<CrashTrial> {
  const { path, remove } = temporaryFolder();
  const service = await serviceHere();
  writeFileSync(join(path, 'campaign.yaml'), manifest);
  writeFileSync(join(path, 'logo.png'), png);
  const env = { ...service.env, UV_THREADPOOL_SIZE: '1' };
  return {
    folder: path,
    lock: join(path, 'campaign.lock.jsonl'),
    service,
    rerun: () => command(applied, { cwd: path, env }),
    trace: (options) => traced([...options, process.execPath, bin, ...applied], { cwd: path, env }),
    async remove() {
      await service.close();
      remove();
    },
  };
}

function traced(
  words: string[],
  { cwd, env }: { cwd: string; env: Record<string, string> },
): Promise<{ code: number | null; err: string }> {
  const own = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' };
  const child = spawn('strace', ['-f', '-qq', ...words], {
    cwd,
    env: { ...own, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let err = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code: signal === 'SIGKILL' ? 137 : code, err }));
  });
}

const calls = ['write', 'writev', 'fdatasync', 'fsync', 'rename', 'link', 'unlink', 'ftruncate', 'connect'];

/** All that a run which lives asked of the system, in order, with the texts that it wrote. */
export async function traceRun(): Promise<string> {
  const trial = await makeCrashTrial();
  try {
    const log = join(trial.folder, 'trace');
    const { code, err } = await trial.trace(['-y', '-s', '4000', '-o', log, '-e', `trace=${calls.join(',')}`]);
    if (code !== 0) throw new Error(`the run to be surveyed ended with ${code}: ${err}`);
    return readFileSync(log, 'utf8');
  } finally {
    await trial.remove();
  }
}

export function readCalls(trace: string): Call[] {
  const counts = new Map<string, number>();
  return trace.split('\n').flatMap((line): Call[] => {
    const [, thread, name = '', rest = ''] = /^(\d+) +(\w+)\((.*)$/.exec(line) ?? [];
    if (!calls.includes(name)) return [];
    const number = (counts.get(`${thread} ${name}`) ?? 0) + 1;
    counts.set(`${thread} ${name}`, number);
    const target = /^\d+<([^>]*)>/.exec(rest)?.[1] ?? rest.slice(0, 120);
    return [{ name, number, target }];
  });
}

/**
 * The points that are worth a crash: everything but the wake-up calls between threads, the words on the screen, and the
 * middle of a download, where one of `everyPiece` stands for its neighbours.
 */
export function crashPoints(survey: readonly Call[], options: { everyPiece: number }): Call[] {
  let pieces = 0;
  const worthy = survey.filter(({ target }) => {
    if (/eventfd|^pipe:|\/dev\/|anon_inode/.test(target)) return false;
    if (!target.endsWith('.part')) return true;
    pieces += 1;
    return pieces % options.everyPiece === 1;
  });
  const names = new Set<string>();
  return worthy.filter(({ name, number }) => {
    const id = `${name} ${number}`;
    return !names.has(id) && names.add(id);
  });
}

export interface CrashResult {
  killed: boolean;
  /** What is not as promised; empty is good. */
  wrong: string[];
  /** Purchases that a person has to decide about. */
  open: number;
}

/** Kills a run just before the given call, runs it again, and asks the service's books what that has cost. */
export async function crashAt({ name, number }: Pick<Call, 'name' | 'number'>): Promise<CrashResult> {
  const trial = await makeCrashTrial();
  const { service, folder } = trial;
  const wrong: string[] = [];
  try {
    const inject = ['-e', `trace=${name}`, '-e', `inject=${name}:signal=KILL:when=${number}`];
    const first = await trial.trace(['-o', '/dev/null', ...inject]);
    const killed = first.code === 137;
    if (!killed && first.code !== 0) wrong.push(`it ended with ${first.code}: ${first.err}`);
    const left = finalFiles(join(folder, 'output'));
    const again = await trial.rerun();
    const open = openPurchases(trial);
    if (again.code !== (open.length > 0 ? 6 : 0)) wrong.push(`the rerun ended with ${again.code}: ${again.err}`);
    // Where the service cannot be asked, the books know what a person would look up; the next run goes on from there.
    for (const address of open) await decide(trial, address);
    if (open.length > 0) {
      const last = await trial.rerun();
      if (last.code !== 0) wrong.push(`after the decision it ended with ${last.code}: ${last.err}`);
    }
    const lock = readLockFile(trial.lock);
    const ledger = service.ledger();
    wrong.push(...paidTwice(ledger).map((subject) => `paid twice: ${subject}`));
    wrong.push(...unrecorded(ledger, lock).map((subject) => `lost: ${subject}`));
    wrong.push(...damagedOutputs(folder, lock).map((path) => `damaged: ${path}`));
    wrong.push(...partialFiles(left, lock).map((path) => `partial: ${path}`));
    if (ledger.length !== paidSteps) wrong.push(`${ledger.length} creates were booked`);
    if (finalFiles(join(folder, 'output')).length !== paidSteps) wrong.push('an output is missing');
    return { killed, wrong, open: open.length };
  } finally {
    await trial.remove();
  }
}

function openPurchases(trial: CrashTrial): string[] {
  const lock = readLockFile(trial.lock);
  return [...lock.steps.values()]
    .filter(({ purchases }) => purchases.some(({ state }) => state === 'unresolved'))
    .map(({ address }) => address);
}

async function decide(trial: CrashTrial, address: string): Promise<void> {
  const known = new Set(purchasesIn(readLockFile(trial.lock)).map(({ jobId }) => jobId));
  const words: { [address: string]: string } = { film: 'video push', pic: 'image hero', song: 'music calm' };
  const job = trial.service.ledger().find((booking) => !known.has(booking.id) && subjectOf(booking) === words[address]);
  const found = job === undefined ? ['--not-spent'] : ['--job', job.id, '--credits', String(job.credits)];
  const { code, err } = await command(['resolve', 'campaign.yaml', address, ...found], {
    cwd: trial.folder,
    env: trial.service.env,
  });
  if (code !== 0) throw new Error(`resolve ended with ${code}: ${err}`);
}
