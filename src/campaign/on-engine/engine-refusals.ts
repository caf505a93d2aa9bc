import type { Engine } from '../../cluster/open-engine.ts';
import type { RunHeader, RunRecord } from '../../cluster/runs/run-record.ts';
import { CampaignError } from '../../contract/failure.ts';
import type { Graph } from '../../graph/graph.ts';
import { type Advice, call, way } from '../../ground/advice.ts';
import type { ApplyTerms } from '../carrier.ts';
import type { OpenCampaign } from '../open-campaign.ts';

/** Throws MB3000 for options that cannot be combined. */
export function refuseHere({ sandbox }: OpenCampaign, { review }: Pick<ApplyTerms, 'review'>): void {
  const refuse = (options: string[], message: string, hint: Advice) => {
    throw new CampaignError({ code: 'MB3000', message, hint, options });
  };
  if (review === true) {
    const message = '--review and --engine do not go together: people decide between two runs then';
    refuse(['--review', '--engine'], message, 'leave --review out, or the engine (--engine, MEDIABATCH_ENGINE)');
  }
  if (sandbox) {
    const message = '--sandbox and --engine do not go together: workers do not reach the service in this process';
    refuse(
      ['--sandbox', '--engine'],
      message,
      way('leave --sandbox out, and let this be the service', call('sandbox')),
    );
  }
}

/** Throws MB3704 when the run of this campaign is on another engine, or belongs to another account. */
export function refuseOtherEngine(note: { engine: string; account: string }, { shown, account }: Engine): void {
  if (note.engine === shown && note.account === account) return;
  const other = note.engine === shown ? 'with another key, or for another address of the service' : `on ${note.engine}`;
  throw new CampaignError({
    code: 'MB3704',
    message: `this campaign has a run ${other}`,
    hint: 'attach to that one first; nothing was sent',
    lock: note.engine,
  });
}

/** Error MB3702: the engine was queried and does not have the run. */
export function lostRun(run: string, { shown }: Engine): CampaignError {
  return new CampaignError({
    code: 'MB3702',
    message: `${shown} does not know the run ${run}, which this campaign was submitted as`,
    hint: [
      'nothing was sent; if its database was recreated, what the run has bought since is in no lock',
      way('to see it', call('list jobs', '--unknown')),
      way('to give the campaign free', call('unlock', '--id', run)),
    ],
  });
}

/** Whether a run belongs to this campaign, and not to another one of the same name. */
export function isOfGraph({ outline }: RunHeader, { steps }: Pick<Graph, 'steps'>): boolean {
  const theirs = new Set(outline.addresses);
  return steps.some(({ address }) => theirs.has(address));
}

/**
 * Throws MB3704 when the run belongs to another campaign of the same name, because its lines must not be added to
 * this lock.
 */
export function refuseNamesake(
  header: RunHeader,
  graph: Graph,
  { run, engine }: { run: RunRecord; engine: Engine },
): void {
  if (isOfGraph(header, graph)) return;
  const { campaign, origin } = run;
  throw new CampaignError({
    code: 'MB3704',
    message: `another campaign named ${campaign} has an open run on ${engine.shown}: ${origin.host}:${origin.manifest}, with none of these steps`,
    hint: 'keys are made from the name: give one of them another name, or wait until that run has ended. Nothing was sent',
    lock: engine.shown,
  });
}
