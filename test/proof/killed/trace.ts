import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { bin } from '../../rig/command.ts';
import { applied, type Place } from '../../rig/place.ts';

export const oneThread = { UV_THREADPOOL_SIZE: '1' };

/** One call of the system, with its number among the calls of that name in its thread: what `when=` counts. */
export interface Call {
  name: string;
  number: number;
  /** What it was about: a path, a socket, an event. */
  target: string;
}

/** Runs the command under strace. One thread does all file work, so that its calls stand in one row. */
export function applyTraced(place: Place, options: string[]): Promise<{ code: number | null; err: string }> {
  const child = spawn('strace', ['-f', '-qq', ...options, process.execPath, bin, ...applied], {
    cwd: place.folder,
    env: { ...place.env, ...oneThread },
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
export async function traceRun(place: Place): Promise<string> {
  const log = place.path('trace');
  const { code, err } = await applyTraced(place, ['-y', '-s', '4000', '-o', log, '-e', `trace=${calls.join(',')}`]);
  if (code !== 0) throw new Error(`the run to be surveyed ended with ${code}: ${err}`);
  return readFileSync(log, 'utf8');
}

/** Runs until just before the given call. */
export function applyUntilCall(place: Place, { name, number }: Pick<Call, 'name' | 'number'>) {
  const inject = ['-e', `trace=${name}`, '-e', `inject=${name}:signal=KILL:when=${number}`];
  return applyTraced(place, ['-o', '/dev/null', ...inject]);
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
    if (/eventfd|^pipe:|\/dev\/(?!shm\/)|anon_inode/.test(target)) return false;
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
