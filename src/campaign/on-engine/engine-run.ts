import type { Engine } from '../../cluster/open-engine.ts';
import type { RunRecord } from '../../cluster/run-record.ts';
import { readEngineNote } from '../../disk/lock/engine-note.ts';
import type { Lock } from '../../lock/record.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { accountFacts, addressOf } from './engine-helpers.ts';
import { lockOfRun } from './lock-of-run.ts';

/** A run of a campaign on an engine, and what is on record of it there. */
export interface RunOnEngine {
  run: RunRecord;
  /** The fold of its lines. */
  lock: Lock;
  /** Address of the engine without what signs in. */
  shown: string;
}

/** Looks at the run that this clone has submitted, or the open one of another clone. Undefined: there is none. */
export function lookAtRun(
  url: string,
  campaign: OpenCampaign,
  { name }: { name: string },
): Promise<RunOnEngine | undefined> {
  return withRun(url, campaign, name, async (run, { database, shown }) => ({
    run,
    lock: await lockOfRun(database, run.id),
    shown,
  }));
}

/** Cancels the run: nothing more is bought for it; what runs is collected. Undefined: there is none. */
export function cancelOnEngine(
  url: string,
  campaign: OpenCampaign,
  { name }: { name: string },
): Promise<{ run: RunRecord; isOpen: boolean; shown: string } | undefined> {
  return withRun(url, campaign, name, async (run, { database, shown }) => {
    const { cancelRun } = await import('../../cluster/runs.ts');
    return { run, shown, isOpen: await cancelRun(database, run.id) };
  });
}

async function withRun<Answer>(
  url: string,
  campaign: OpenCampaign,
  name: string,
  act: (run: RunRecord, engine: Engine) => Promise<Answer>,
): Promise<Answer | undefined> {
  const { openEngine } = await import('../../cluster/open-engine.ts');
  const { findOpenRun, readRun } = await import('../../cluster/runs.ts');
  const { tell } = campaign;
  const address = await addressOf({ url }, campaign);
  const engine = await openEngine(address.url, accountFacts(campaign), {
    shown: address.shown,
    onAway: ({ message }) => tell({ is: 'notice', text: `the engine is away: ${message}` }),
    onBack: () => tell({ is: 'notice', text: 'the engine is back' }),
    signal: new AbortController().signal,
  });
  try {
    const note = readEngineNote(campaign.paths.lock);
    const noted = note && (await readRun(engine.database, note.run));
    // The one that was submitted here may have ended, and another clone have gone on.
    const run = noted?.state === 'open' ? noted : ((await findOpenRun(engine.database, engine.account, name)) ?? noted);
    return run && (await act(run, engine));
  } finally {
    await engine.close();
    await address.close();
  }
}
