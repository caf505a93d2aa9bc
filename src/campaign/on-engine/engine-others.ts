import type { Engine } from '../../cluster/open-engine.ts';
import { readEngineNote, removeEngineNote, writeEngineNote } from '../../disk/lock/engine-note.ts';
import type { ApplyGraphOptions } from '../apply-options.ts';
import { holdGuard } from '../hold-guard.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { refuseNamesake } from './engine-refusals.ts';

interface Where {
  engine: Engine;
  campaign: OpenCampaign;
  options: Pick<ApplyGraphOptions, 'check' | 'lockTimeoutMs'>;
}

/** Refuses the run of somebody who was faster, if it is another campaign's of this name. */
export async function refuseAnother({ engine, campaign, options }: Where, id: string): Promise<void> {
  const { readHeader, readRun } = await import('../../cluster/runs.ts');
  const run = await readRun(engine.database, id);
  if (run === undefined) return;
  try {
    const { graph } = await options.check();
    refuseNamesake(await readHeader(engine.database, id), graph, { run, engine });
  } catch (error) {
    await removeEngineNote(campaign.paths.lock);
    throw error;
  }
}

/** Forgets a submit that came to nothing. Whoever may still be about to submit holds the lock. */
export async function forgetSubmit({ engine, campaign, options }: Where, run: string): Promise<void> {
  const { paths, tell } = campaign;
  const { readRun } = await import('../../cluster/runs.ts');
  const guard = await holdGuard(paths.lock, options.lockTimeoutMs ?? 0, tell, { forEngine: true });
  try {
    const isStill = readEngineNote(paths.lock)?.run === run;
    if (isStill && (await readRun(engine.database, run)) === undefined) await removeEngineNote(paths.lock);
  } finally {
    await guard.release();
  }
}

/** Notes the run beside the lock. `submitted`: the engine has it. */
export async function noteRun(
  { engine, campaign }: Pick<Where, 'engine' | 'campaign'>,
  run: string,
  { submitted, since }: { submitted: boolean; since: Date },
): Promise<void> {
  const { account, shown } = engine;
  await writeEngineNote(campaign.paths.lock, { run, account, engine: shown, since: since.toISOString(), submitted });
}
