import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { bin } from '../../rig/command.ts';
import { decideByTheBooks, findLosses, remainsOf } from '../../rig/killed-run.ts';
import { finalFiles, partialFiles, readLockFile } from '../../rig/oracle.ts';
import { applied, makePlace, type Place } from '../../rig/place.ts';
import { has, runProgram } from '../../rig/program.ts';

const canTrace = has.linux && has.root && has.strace;
if (!canTrace)
  process.stderr.write('test/proof/killed: crashes at system calls need Linux, root and strace; skipped\n');

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

async function makeCampaign(env: Record<string, string> = {}): Promise<Place> {
  const place = await makePlace(manifest);
  Object.assign(place.env, env);
  writeFileSync(place.path('logo.png'), png);
  return place;
}

/** Every point takes some seconds: by itself a few of each sort, all of them before a release. */
const isLong = process.env.MEDIABATCH_TEST_CRASHES === 'all';
const trialsAtATime = 2;

const sampled = ['fdatasync', 'rename', 'connect'];

function sample(points: readonly Call[]): Call[] {
  return sampled.flatMap((name) => {
    const own = points.filter((point) => point.name === name);
    return own.slice(Math.floor(own.length / 2)).slice(0, 1);
  });
}

/** One run under strace serves all who only read what it did. */
let traced: Promise<string> | undefined;
function traceOnce(): Promise<string> {
  traced ??= makeCampaign().then(traceRun);
  return traced;
}

interface CrashResult {
  killed: boolean;
  /** What is not as promised; empty is good. */
  wrong: string[];
  /** Purchases that a person had to decide about. */
  open: number;
}

const subjects: Readonly<Record<string, string>> = { film: 'video push', pic: 'image hero', song: 'music calm' };

interface Crash {
  env?: Record<string, string>;
  /** Whether the lock is deleted after the kill. */
  losesLock?: boolean;
}

/** Kills a run just before the given call, runs it again, and asks the service's books what that has cost. */
async function crashAt(call: Pick<Call, 'name' | 'number'>, { env = {}, losesLock }: Crash = {}): Promise<CrashResult> {
  const place = await makeCampaign(env);
  const wrong: string[] = [];
  const first = await applyUntilCall(place, call);
  const killed = first.code === 137;
  if (!killed && first.code !== 0) wrong.push(`it ended with ${first.code}: ${first.err}`);
  const left = finalFiles(place.path('output'));
  if (losesLock === true) rmSync(place.lock, { force: true });
  const again = await place.apply([], { env: { ...env, ...oneThread } });
  // Where the service cannot be asked, the books know what a person would look up; the next run goes on from there.
  const open = await decideByTheBooks(remainsOf(place), place.service.env, (address) => subjects[address] ?? '');
  if (again.code !== (open > 0 ? 6 : 0)) wrong.push(`the rerun ended with ${again.code}: ${again.err}`);
  if (open > 0) {
    const last = await place.apply([], { env });
    if (last.code !== 0) wrong.push(`after the decision it ended with ${last.code}: ${last.err}`);
  }
  wrong.push(...findLosses(remainsOf(place)));
  wrong.push(...partialFiles(left, readLockFile(place.lock)).map((path) => `partial: ${path}`));
  if (place.service.ledger().length !== paidSteps) wrong.push(`${place.service.ledger().length} creates were booked`);
  if (finalFiles(place.path('output')).length !== paidSteps) wrong.push('an output is missing');
  await place.remove();
  return { killed, wrong, open };
}

/** Crashes at each point, two at a time. */
async function crashAll(points: readonly Call[], crash: Crash = {}) {
  const wrong: string[] = [];
  let kills = 0;
  let open = 0;
  const waiting = [...points];
  const work = async () => {
    for (let point = waiting.shift(); point !== undefined; point = waiting.shift()) {
      const result = await crashAt(point, crash);
      kills += result.killed ? 1 : 0;
      open += result.open;
      const where = `${point.name} ${point.number} (${point.target})`;
      wrong.push(...result.wrong.map((complaint) => `${where}: ${complaint}`));
    }
  };
  await Promise.all(Array.from({ length: trialsAtATime }, work));
  if (isLong) process.stdout.write(`${points.length} points, ${kills} kills, ${open} left to a person\n`);
  return { wrong, kills };
}

describe.runIf(canTrace)('killed at a system call (strace, root)', () => {
  test(
    'I1 each step is booked once, the lock folds, and no file is partial',
    async () => {
      const all = crashPoints(readCalls(await traceOnce()), { everyPiece: 16 });
      const points = isLong ? all : sample(all);
      expect(new Set(points.map(({ name }) => name)).size).toBeGreaterThanOrEqual(isLong ? 7 : 3);
      const { wrong, kills } = await crashAll(points);
      expect(wrong).toEqual([]);
      expect(kills).toBeGreaterThan(points.length * 0.7);
    },
    isLong ? 1_800_000 : 60_000,
  );

  test(
    'I40 each step is booked once at every write of the journal and of the limits, also where the lock is lost then',
    async () => {
      const env = { MEDIABATCH_LIMIT: '500/month' };
      const calls = readCalls(await makeCampaign(env).then(traceRun));
      const all = calls.filter(({ target }) => /\/mediabatch\/(purchases|spending)\//.test(target));
      const points = isLong ? all : all.slice(all.length / 2).slice(0, 1);
      // A reservation, a create request, a job and its files for each step; credits before and after.
      expect(all.length).toBeGreaterThanOrEqual(paidSteps * 6);
      const { wrong, kills } = await crashAll(points, { env, losesLock: true });
      expect(wrong).toEqual([]);
      expect(kills).toBeGreaterThan(points.length * 0.7);
      expect((await crashAll(points, { env })).wrong).toEqual([]);
    },
    isLong ? 1_800_000 : 60_000,
  );
});

describe.runIf(canTrace)('the order of system calls (strace, root)', () => {
  test('I2 every create leaves after the sync of its intent', async () => {
    const seen = { written: '', durable: '', creates: 0, early: [] as string[] };
    for (const call of wholeCalls(await traceOnce())) {
      follow(call, seen);
      const key = /POST \/api[^ ]*\/(?:generate|create)?[^"]*idempotency-key: ([\w-]+)/i.exec(call)?.[1];
      if (key === undefined) continue;
      seen.creates += 1;
      if (!seen.durable.includes(key)) seen.early.push(key);
    }
    expect(seen.creates).toBeGreaterThanOrEqual(2);
    expect(seen.early).toEqual([]);
  });

  test('I3 no job is looked at before the sync of its id', async () => {
    const seen = { written: '', durable: '', looks: 0, early: [] as string[] };
    for (const call of wholeCalls(await traceOnce())) {
      follow(call, seen);
      const id = /GET \/api[^ ?"]*\/([0-9a-f]{24})[ ?]/.exec(call)?.[1];
      if (id === undefined) continue;
      seen.looks += 1;
      if (!seen.durable.includes(id)) seen.early.push(id);
    }
    expect(seen.looks).toBeGreaterThanOrEqual(3);
    expect(seen.early).toEqual([]);
  });

  test('the reader of traces counts calls by thread', () => {
    const trace = '7 fsync(3</a>) = 0\n8 fsync(4</b>) = 0\n7 fsync(5</c>) = 0\n7 close(3) = 0\n';
    expect(readCalls(trace).map(({ number, target }) => [number, target])).toEqual([
      [1, '/a'],
      [1, '/b'],
      [2, '/c'],
    ]);
  });
});

/** What is written to the lock counts from the end of the next sync on. */
function follow(call: string, seen: { written: string; durable: string }): void {
  if (!call.includes('campaign.lock.jsonl>')) return;
  if (/ writev?\(/.test(call)) seen.written += call;
  if (/ f(?:data)?sync\(/.test(call) && / = 0$/.test(call)) {
    seen.durable += seen.written;
    seen.written = '';
  }
}

/** A call that another thread interrupted stands in two lines: it is over where the second one is. */
function wholeCalls(trace: string): string[] {
  const begun = new Map<string, string>();
  return trace.split('\n').flatMap((line) => {
    const [thread = ''] = line.split(' ', 1);
    if (line.endsWith('<unfinished ...>')) {
      begun.set(thread, line.slice(0, -'<unfinished ...>'.length));
      // A request counts from where it begins, a sync from where it ends.
      return line.includes(' fdatasync(') || line.includes(' fsync(') ? [] : [line];
    }
    const resumed = /<\.\.\. \w+ resumed>(.*)$/.exec(line);
    return resumed === null ? [line] : [`${begun.get(thread) ?? ''}${resumed[1]}`];
  });
}

export const oneThread = { UV_THREADPOOL_SIZE: '1' };

/** One call of the system, with its number among the calls of that name in its thread: what `when=` counts. */
export interface Call {
  name: string;
  number: number;
  /** What it was about: a path, a socket, an event. */
  target: string;
}

/** Runs the command under strace. One thread does all file work, so that its calls stand in one row. */
async function applyTraced(place: Place, options: string[]): Promise<{ code: number | null; err: string }> {
  const words = ['strace', '-f', '-qq', ...options, process.execPath, bin, ...applied];
  const { code, signal, err } = await runProgram(words, { cwd: place.folder, env: { ...place.env, ...oneThread } });
  return { code: signal === 'SIGKILL' ? 137 : code, err };
}

const calls = ['write', 'writev', 'fdatasync', 'fsync', 'rename', 'link', 'unlink', 'ftruncate', 'connect'];

/** All that a run which lives asked of the system, in order, with the texts that it wrote. */
async function traceRun(place: Place): Promise<string> {
  const log = place.path('trace');
  const { code, err } = await applyTraced(place, ['-y', '-s', '4000', '-o', log, '-e', `trace=${calls.join(',')}`]);
  if (code !== 0) throw new Error(`the run to be surveyed ended with ${code}: ${err}`);
  return readFileSync(log, 'utf8');
}

/** Runs until just before the given call. */
function applyUntilCall(place: Place, { name, number }: Pick<Call, 'name' | 'number'>) {
  const inject = ['-e', `trace=${name}`, '-e', `inject=${name}:signal=KILL:when=${number}`];
  return applyTraced(place, ['-o', '/dev/null', ...inject]);
}

function readCalls(trace: string): Call[] {
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
function crashPoints(survey: readonly Call[], options: { everyPiece: number }): Call[] {
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
