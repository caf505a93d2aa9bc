import { type GivenUp, giveUpRun } from '../../campaign/on-engine/engine-run.ts';
import { campaignPaths } from '../../campaign/paths.ts';
import { systemClock } from '../../contract/clock.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import { type EngineNote, readEngineNote } from '../../disk/lock/engine-note.ts';
import { readGuardHolder, removeGuard } from '../../disk/lock/guard.ts';
import { type Advice, call, type Way, way } from '../../ground/advice.ts';
import { defined, messageOf } from '../../ground/values.ts';
import { clockText } from '../../report/numbers.ts';
import { open } from '../open.ts';
import { outJson, type Terminal } from '../terminal.ts';

interface UnlockOptions {
  id?: string;
  sandbox?: boolean;
  lock?: string;
  json?: boolean;
  /** Whether to end a run that is open on its engine, or ignore an engine that does not answer. */
  force?: boolean;
}

/**
 * Ends the claim of a run that can never end it itself: its machine cannot be reached, or it is on an engine, where
 * this also ends the run. Requires the id that was shown.
 */
export async function unlock(file: string, options: UnlockOptions, terminal: Terminal): Promise<number> {
  const { lock } = campaignPaths(file, options);
  if (options.id === undefined) throw await whichId(file, lock);
  const note = readEngineNote(lock);
  const id = fullId(options.id, [note?.run, (await readGuardHolder(lock))?.id]);
  if (note?.run === id) await giveUp(file, note, { options, terminal });
  else if ((await removeGuard(lock, id)) !== 'removed')
    throw notHeld(file, id, { lock, holder: await readGuardHolder(lock) });
  terminal.err(`${terminal.style.green('unlocked')} ${file}\n`);
  if (options.json === true) outJson(terminal, { mediabatch: 'unlocked', version: 1, lock, run: id });
  return exitCodes.done;
}

/** Returns the full id that begins with a short one, as `workers` shows it; the short id if none does. */
function fullId(short: string, ids: readonly (string | undefined)[]): string {
  return (short.length >= 8 ? ids.find((id) => id?.startsWith(short)) : undefined) ?? short;
}

/** Throws unless the run of the note is over. */
async function giveUp(
  file: string,
  note: EngineNote,
  { options, terminal }: { options: UnlockOptions; terminal: Terminal },
): Promise<void> {
  const { force = false, sandbox, lock } = options;
  const campaign = await open(file, { sandbox, lock }, terminal);
  const found = await giveUpRun(campaign, note, { force, env: process.env });
  if (found.is === 'open') throw openError(file, note);
  if (found.is === 'not asked' && !force) throw notAskedError(file, note, found.why);
  terminal.err(`${givenUpText(found, note)}\n`);
  if (found.is === 'over') return;
  const jobs = terminal.paste({ call: 'list jobs', words: ['--unknown'] });
  terminal.err(`bought by that run, and in no lock here: ${jobs}\n`);
}

function givenUpText({ is }: GivenUp, { engine }: EngineNote): string {
  if (is === 'over') return `the run on ${engine} is over, and all its purchases are in the lock`;
  if (is === 'unknown') return `${engine} does not have that run`;
  return `${engine} was not queried: if its workers still carry out the run, the next \`apply\` here buys the same steps a second time`;
}

type Holder = Awaited<ReturnType<typeof readGuardHolder>>;

function unlockError(lock: string, holder: Holder, [message, hint]: [string, Advice]): CampaignError {
  return new CampaignError({ code: 'MB3408', message, hint, lock, ...defined({ holder }) });
}

const sinceText = (since: string) => clockText(since, systemClock.now());

function notHeld(file: string, id: string, { lock, holder }: { lock: string; holder: Holder }): CampaignError {
  if (holder === undefined) return notLocked(file, lock);
  const { host, pid, since } = holder;
  return unlockError(lock, holder, [
    `the run that holds the lock has the id ${holder.id}, not ${id}`,
    `it is process ${pid} on ${host}, since ${sinceText(since)}; unlock it only when you are certain that it is gone`,
  ]);
}

function notLocked(file: string, lock: string): CampaignError {
  return unlockError(lock, undefined, [`no run holds the lock of ${file}`, 'there is nothing to unlock']);
}

async function whichId(file: string, lock: string): Promise<CampaignError> {
  const holder = await readGuardHolder(lock);
  const note = readEngineNote(lock);
  const id = holder?.id ?? note?.run;
  if (id === undefined) return notLocked(file, lock);
  const since = sinceText(holder?.since ?? note?.since ?? '');
  const who = holder === undefined ? `a run on ${note?.engine}` : `process ${holder.pid} on ${holder.host}`;
  return unlockError(lock, holder, [
    `${who} has held the lock of ${file} since ${since}`,
    way('when you are certain that it is gone', call('unlock', '--id', id)),
  ]);
}

/**
 * Error for a run that is open on an engine. Two runs would use the same idempotency keys, and buy the jobs of a list
 * kind twice.
 */
function openError(file: string, { run, engine }: EngineNote): CampaignError {
  return new CampaignError({
    code: 'MB3704',
    message: `the run of ${file} is open on ${engine}, and continues`,
    hint: [
      way('to attach to it', call('apply', '--engine', engine)),
      way('to stop it, and collect what runs', call('cancel', '--engine', engine)),
      way('to end the run there at once, and continue here with its purchases', call('unlock', '--id', run, '--force')),
    ],
    lock: engine,
  });
}

/** Error for an engine that does not answer, because its run may still be in progress. */
function notAskedError(file: string, { run }: EngineNote, why: unknown): CampaignError {
  return new CampaignError(
    {
      code: 'MB3702',
      message: `the run of ${file} may still be open, because the engine did not answer: ${messageOf(why)}`,
      hint: [
        ...hintsOf(why),
        'try again when the engine answers: unlock then ends the run and loses nothing. Nothing was unlocked',
        way(
          'only if its workers are certainly gone: otherwise they and the next `apply` here buy the same steps',
          call('unlock', '--id', run, '--force'),
        ),
      ],
    },
    { cause: why },
  );
}

function hintsOf(error: unknown): Extract<Advice, readonly unknown[]> {
  const { hint = [] } = error instanceof CampaignError ? error.failure : {};
  return Array.isArray(hint) ? hint : [hint as string | Way];
}
