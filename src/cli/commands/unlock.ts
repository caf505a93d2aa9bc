import { campaignPaths } from '../../campaign/paths.ts';
import { systemClock } from '../../contract/clock.ts';
import { CampaignError } from '../../contract/failure.ts';
import { type EngineNote, readEngineNote } from '../../disk/lock/engine-note.ts';
import { readGuardHolder, removeGuard } from '../../disk/lock/guard.ts';
import { type Advice, call, way } from '../../ground/advice.ts';
import { defined, messageOf } from '../../ground/values.ts';
import { jsonOf } from '../../report/document.ts';
import { clockText } from '../../report/numbers.ts';
import { type Flags, open, type Texts } from '../open.ts';
import { outJson, type Terminal } from '../terminal.ts';

type UnlockOptions = Texts<'id' | 'lock'> & Flags<'sandbox' | 'json' | 'force'>;

/**
 * Releases the lock of a run whose machine is unreachable, or of a run on an engine. Ends a run on an engine. Requires
 * the run's ID.
 */
export async function unlock(file: string, options: UnlockOptions, terminal: Terminal): Promise<void> {
  const { lock } = campaignPaths(file, options);
  const note = readEngineNote(lock);
  const holder = await readGuardHolder(lock);
  const refuse = (message: string, hint: Advice) =>
    new CampaignError({ code: 'MB3408', message, hint, lock, ...defined({ holder }) });
  const held = holder?.id ?? note?.run;
  if (held === undefined) throw refuse(`no run holds the lock of ${file}`, 'there is nothing to unlock');
  const since = clockText(holder?.since ?? note?.since ?? '', systemClock.now());
  const who = `${holder === undefined ? `a run on ${note?.engine}` : `process ${holder.pid} on ${holder.host}`} since ${since}`;
  if (options.id === undefined) {
    throw refuse(
      `the lock of ${file} is held by ${who}`,
      way('when you are certain that this run has ended', call('unlock', '--id', held)),
    );
  }
  // The command `workers` shows the first eight characters of a run's id.
  const { id: short } = options;
  const id = [note?.run, holder?.id].find((one) => short.length >= 8 && one?.startsWith(short)) ?? short;
  if (note?.run === id) await abandonRunOnEngine(file, note, { options, terminal });
  else if ((await removeGuard(lock, id)) !== 'removed') {
    throw refuse(
      `the run that holds the lock has the id ${held}, not ${id}`,
      `the lock is held by ${who}; unlock only when you are certain that this run has ended`,
    );
  }
  terminal.err(`${terminal.style.green('unlocked')} ${file}\n`);
  if (options.json === true) outJson(terminal, jsonOf('unlocked', { lock, run: id }));
}

async function abandonRunOnEngine(
  file: string,
  note: EngineNote,
  { options, terminal }: { options: UnlockOptions; terminal: Terminal },
): Promise<void> {
  const { force = false, sandbox, lock } = options;
  const { engine } = note;
  const campaign = await open(file, { sandbox, lock }, terminal);
  const { abandonRun } = await import('../../campaign/on-engine/engine-run.ts');
  const found = await abandonRun(campaign, note, { force, env: process.env });
  if (found.is === 'open') throw openError(file, note);
  if (found.is === 'not asked' && !force) throw notAskedError(file, note, found.why);
  const text = {
    over: `the run on ${engine} has ended, and all its purchases are in the lock`,
    unknown: `${engine} has no record of run ${note.run}`,
    'not asked': `${engine} was not queried: if its workers still execute the run, the next \`apply\` on this machine buys the same steps a second time`,
  }[found.is];
  terminal.err(`${text}\n`);
  if (found.is === 'over') return;
  terminal.err(
    `to list jobs of the run that no lock in this folder contains: ${terminal.paste(call('list jobs', '--unknown'))}\n`,
  );
}

function openError(file: string, { run, engine }: EngineNote): CampaignError {
  return new CampaignError({
    code: 'MB3704',
    message: `the run of ${file} is still open on ${engine}; nothing was unlocked`,
    hint: [
      way('to attach to the run, and download its outputs', call('apply', '--engine', engine)),
      way('to cancel the run, and collect its running jobs', call('cancel', '--engine', engine)),
      way(
        'to end the run, and continue on this machine with its recorded purchases',
        call('unlock', '--id', run, '--force'),
      ),
    ],
    lock: engine,
  });
}

function notAskedError(file: string, { run }: EngineNote, why: unknown): CampaignError {
  const { hint = [] } = why instanceof CampaignError ? why.failure : {};
  return new CampaignError(
    {
      code: 'MB3702',
      message: `the run of ${file} may still be open, because the engine did not answer: ${messageOf(why)}`,
      hint: [
        ...[hint].flat(),
        'nothing was unlocked; try again when the engine answers: unlock then ends the run without losing purchases',
        way(
          'only if you are certain that the workers of the run have stopped: otherwise these workers and the next `apply` buy the same steps',
          call('unlock', '--id', run, '--force'),
        ),
      ],
    },
    { cause: why },
  );
}
