import { nameOfEngine } from '../../campaign/hold-guard.ts';
import { isOpenOnEngine } from '../../campaign/on-engine/is-open-on-engine.ts';
import { campaignPaths } from '../../campaign/paths.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import { type EngineNote, readEngineNote, removeEngineNote } from '../../disk/lock/engine-note.ts';
import { readGuardHolder, removeGuard } from '../../disk/lock/guard.ts';
import { advise, call } from '../../plan/advice.ts';
import type { Terminal } from '../terminal.ts';

export interface UnlockOptions {
  id: string;
  sandbox?: boolean;
  lock?: string;
  /** Although the engine has the run open. */
  force?: boolean;
}

/** Ends the claim of a run that will never end it itself, on a machine that cannot be asked. Needs the id that it showed. */
export async function unlock(file: string, options: UnlockOptions, terminal: Terminal): Promise<number> {
  const { lock, state } = campaignPaths(file, options);
  const removed = await removeGuard(lock, options.id);
  if (removed === 'removed') {
    terminal.err(`${terminal.style.green('unlocked')} ${file}\n`);
    return exitCodes.done;
  }
  const note = readEngineNote(lock);
  if (note?.run === options.id) {
    if (options.force !== true && (await isOpenOnEngine(note, { state, env: process.env })))
      throw openError(file, note);
    await removeEngineNote(lock);
    terminal.err(`${terminal.style.green('unlocked')} ${file}\n`);
    const jobs = terminal.paste({ call: 'jobs', words: ['--unknown'] });
    terminal.err(`what that run has bought, and no lock here knows: ${jobs}\n`);
    return exitCodes.done;
  }
  const holder = await readGuardHolder(lock);
  throw new CampaignError({
    code: 'MB3408',
    message:
      holder === undefined
        ? `no run holds the lock of ${file}`
        : `the run that holds the lock has the id ${holder.id}, not ${options.id}`,
    hint:
      holder === undefined
        ? 'there is nothing to unlock'
        : `it is process ${holder.pid} on ${holder.host}, since ${holder.since}; unlock it only when you are certain that it is gone`,
    lock,
    ...(holder !== undefined && { holder }),
  });
}

/** Error for a run that is open on an engine: two runs would share keys, and a list kind would be bought twice. */
function openError(file: string, { run, engine }: EngineNote): CampaignError {
  const name = nameOfEngine(engine);
  return new CampaignError({
    code: 'MB3704',
    message: `the run of ${file} is open on ${engine}: it goes on, and what it buys would be in no lock here`,
    hint: advise`${call('apply', '--engine', name)} attaches to it, ${call('cancel', '--engine', name)} stops it; if it is to be given up all the same: ${call('unlock', '--id', run, '--force')}`,
    lock: engine,
  });
}
