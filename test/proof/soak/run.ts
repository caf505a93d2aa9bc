import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fault, FaultAction } from '../../../src/sandbox/index.ts';
import { type CommandResult, command, temporaryFolder } from '../../rig/command.ts';
import { decideByTheBooks, findLosses, type Remains } from '../../rig/killed-run.ts';
import { type Booking, creditsIn, creditsOf, readLockFile } from '../../rig/oracle.ts';
import { seeded } from '../../rig/random.ts';
import { type ServiceHere, serviceHere } from '../../rig/service-here.ts';

// A long campaign on a bad day: every sort of fault at once, and the run killed again and again, until it is done.
//   [MEDIABATCH_SOAK_SEED=1] npm run test:soak

// Lost creates turn up in the lists of a service on this machine at once.
process.env.MEDIABATCH_TEST_SHORT_WAITS = '1';

const steps = 1000;
/** Of the requests of each sort that meet trouble. */
const share = 0.05;
const random = seeded(Number(process.env.MEDIABATCH_SOAK_SEED ?? 1));
const minutes = 10;
const kills = 8;

const counts = { pic: Math.round(steps * 0.42), over: Math.round(steps * 0.08) };
const voices = steps - counts.pic - counts.over;

const manifest = `version: 1
name: soak
tasks:
  pic:
    kind: image
    foreach: pictures.csv
    key: "{{row.n}}"
    with: { prompt: "picture {{row.n}}", resolution: 1k }
  over:
    kind: image
    foreach: covers.csv
    key: "{{row.n}}"
    with: { prompt: "cover {{row.n}}", resolution: 1k, referenceImages: ["{{tasks.pic.url}}"] }
  voice:
    kind: voiceover
    foreach: voices.csv
    key: "{{row.n}}"
    with: { text: "{{row.n}}", voice_id: Alice, output_format: wav }
`;

function table(count: number): string {
  return `n\n${Array.from({ length: count }, (_, index) => `${index + 1}\n`).join('')}`;
}

/** One run; with `killAfterMs` it is killed so long after its first words. */
async function applyOnce(folder: string, env: Record<string, string>, killAfterMs?: number): Promise<CommandResult> {
  let timer: NodeJS.Timeout | undefined;
  const words = ['apply', 'campaign.yaml', '--yes', '--poll-interval', '50', '--concurrency', '32'];
  try {
    return await command(words, {
      cwd: folder,
      env,
      onErr: (_seen, child) => {
        if (killAfterMs !== undefined) timer ??= setTimeout(() => child.kill('SIGKILL'), killAfterMs);
      },
    });
  } finally {
    clearTimeout(timer);
  }
}

function remainsIn(folder: string, lock: string, sandbox: ServiceHere): Remains {
  return { folder, lock, ledger: sandbox.ledger() as Booking[] };
}

const words: Readonly<Record<string, string>> = { pic: 'picture ', over: 'cover ' };

function subjectOfStep(address: string, kind: string): string {
  const [task = '', key = ''] = address.split('@');
  return `${kind} ${words[task] ?? ''}${key}`;
}

function findWrong(remains: Remains): string[] {
  const { ledger } = remains;
  const lock = readLockFile(remains.lock);
  const done = [...lock.steps.values()].filter(({ purchases: [newest] }) => newest?.state === 'done').length;
  const wrong = findLosses(remains);
  if (ledger.length !== steps) wrong.push(`${ledger.length} creates were booked for ${steps} steps`);
  if (done !== steps) wrong.push(`${done} of ${steps} steps are done`);
  if (creditsOf(ledger) !== creditsIn(lock)) {
    wrong.push(`${creditsOf(ledger)} credits were charged, ${creditsIn(lock)} are on record`);
  }
  return wrong;
}

async function soak(folder: string): Promise<string[]> {
  const lockPath = join(folder, 'campaign.lock.jsonl');
  writeFileSync(join(folder, 'campaign.yaml'), manifest);
  for (const [name, count] of [
    ['pictures', counts.pic],
    ['covers', counts.over],
    ['voices', voices],
  ] as const) {
    writeFileSync(join(folder, `${name}.csv`), table(count));
  }
  const faults = spreadFaults(Math.round(steps * 1.2));
  const sandbox = await serviceHere({ speed: 400, credits: 1_000_000, faults });
  const endsAt = Date.now() + minutes * 60_000;
  let killed = 0;
  let decided = 0;
  try {
    for (let run = 1; ; run += 1) {
      if (Date.now() > endsAt) return [`it was not done in ${minutes} minutes, after ${run - 1} runs`];
      const killAfterMs = killed < kills ? 500 + random() * 6000 : undefined;
      const { code, signal, err } = await applyOnce(folder, sandbox.env, killAfterMs);
      if (signal === 'SIGKILL') killed += 1;
      process.stdout.write(`run ${run}: ${signal ?? code}, ${sandbox.ledger().length} creates booked\n`);
      if (signal === 'SIGKILL') continue;
      if (err.includes('internal error')) return [`run ${run} met a mistake of ours: ${err.slice(-2000)}`];
      const left = await decideByTheBooks(remainsIn(folder, lockPath, sandbox), sandbox.env, subjectOfStep);
      decided += left;
      if (code === 0) break;
      // A host that gives a string of bad answers is left alone for now; every other end would be a mistake.
      if (left === 0 && ![1, 6, 69, 75].includes(code ?? -1))
        return [`run ${run} ended with ${code}: ${err.slice(-2000)}`];
    }
    process.stdout.write(`${faults.length} faults, ${killed} kills, ${decided} lost answers looked up by hand\n`);
    return findWrong(remainsIn(folder, lockPath, sandbox));
  } finally {
    await sandbox.close();
  }
}

const refusal = { success: false, error: 'come back later', code: 'busy', message: 'come back later' };

/** Everything that may happen to an answer and passes. `booked`: the service has done it before the answer is lost. */
const troubles: { on: Fault['on']; do: FaultAction }[] = [
  { on: 'create', do: { type: 'reset' } },
  { on: 'create', do: { type: 'reset', booked: true } },
  { on: 'create', do: { type: 'html' } },
  { on: 'create', do: { type: 'html', booked: true } },
  { on: 'create', do: { type: 'status', status: 500, body: refusal } },
  { on: 'create', do: { type: 'status', status: 502, booked: true } },
  { on: 'create', do: { type: 'status', status: 503, body: refusal, booked: true } },
  { on: 'create', do: { type: 'truncate', bytes: 20 } },
  { on: 'status', do: { type: 'status', status: 404, body: refusal } },
  { on: 'status', do: { type: 'status', status: 500 } },
  { on: 'status', do: { type: 'status', status: 503, body: refusal } },
  { on: 'status', do: { type: 'html' } },
  { on: 'status', do: { type: 'reset' } },
  { on: 'status', do: { type: 'truncate', bytes: 30 } },
  { on: 'status', do: { type: 'answer', body: { success: true, data: { id: '{id}', status: 'RENDERING' } } } },
  { on: 'file', do: { type: 'truncate', bytes: 3000 } },
  { on: 'file', do: { type: 'html' } },
  { on: 'file', do: { type: 'status', status: 404 } },
  { on: 'file', do: { type: 'status', status: 403 } },
  { on: 'file', do: { type: 'status', status: 503 } },
  { on: 'file', do: { type: 'reset' } },
];

/** A throttled create makes all others wait, so there are a few of these and not a share. */
const throttles = 6;

/** `share` of the first `requests` requests of each sort, spread over all sorts of trouble. */
function spreadFaults(requests: number): Fault[] {
  const faults: Fault[] = [];
  for (const on of ['create', 'status', 'file'] as const) {
    const own = troubles.filter((trouble) => trouble.on === on);
    for (let nth = 1; nth <= requests; nth += 1) {
      const trouble = own[Math.floor(random() * own.length)];
      if (random() < share && trouble !== undefined) faults.push({ on, nth, do: trouble.do });
    }
  }
  for (let count = 1; count <= throttles; count += 1) {
    const nth = Math.floor((requests / (throttles + 1)) * count);
    faults.unshift({
      on: 'create',
      nth,
      do: { type: 'status', status: 429, body: refusal, headers: { 'retry-after': '1' } },
    });
  }
  return faults;
}

const { path, remove } = temporaryFolder();
try {
  const wrong = await soak(path);
  for (const complaint of wrong.slice(0, 50)) process.stdout.write(`${complaint}\n`);
  process.stdout.write(`${steps} steps: ${wrong.length === 0 ? 'each once, none lost' : `${wrong.length} wrong`}\n`);
  process.exitCode = wrong.length === 0 ? 0 : 1;
} finally {
  remove();
}
