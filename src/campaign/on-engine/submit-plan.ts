import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Engine } from '../../cluster/open-engine.ts';
import type { RunHeader, RunRecord, Submission } from '../../cluster/runs/run-record.ts';
import type { Seal } from '../../cluster/seal.ts';
import { CampaignError } from '../../contract/failure.ts';
import type { Graph } from '../../graph/graph.ts';
import { call, way } from '../../ground/advice.ts';
import type { Json } from '../../ground/json.ts';
import { writeLines } from '../../lock/write.ts';
import type { Plan, PlanRow } from '../../plan/plan.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { type RunSettings, settle } from '../option-table.ts';
import { ownVersion } from '../own-version.ts';
import { userName } from '../person.ts';
import type { ApplyTerms, Held } from '../run.ts';
import { isOfGraph } from './record-of-run.ts';

/** Whether only this machine can carry a row out: an upload of a local file, or a rename in the local folder. */
export function isForThisMachine({ order }: PlanRow): boolean {
  return order !== undefined && (order.action === 'move' || order.file !== undefined);
}

export function submissionOf(
  plan: Plan,
  { loaded, outline, facts, prices }: Pick<Held, 'loaded' | 'outline' | 'facts' | 'prices'>,
  about: { account: string; manifest: string; store: string | null; settings: RunSettings; seal: Seal },
): Submission {
  const { account, manifest, store, settings, seal } = about;
  const { publish: _publish, ...ofRun } = settle(settings);
  const orders = plan.rows.flatMap((row) => (row.order === undefined || isForThisMachine(row) ? [] : [row.order]));
  const header: RunHeader = {
    plan: {
      ...plan,
      rows: plan.rows.map((row): PlanRow => {
        const { order: _, later: __, asked: ___, ...shared } = row;
        return (isForThisMachine(row) ? { ...shared, action: 'keep' } : shared) as PlanRow;
      }),
    },
    orders: orders.length,
    outline: { tasks: outline.tasks, addresses: [...outline.addresses] },
    createRoutes: facts.createRoutes as unknown as Json,
    prices,
  };
  return {
    id: randomUUID(),
    ...{ account, store, header, seal },
    campaign: plan.campaign,
    // The order of each post says whether it may be published.
    settings: { ...ofRun, concurrency: plan.concurrency },
    totals: plan.totals,
    origin: { host: hostname(), user: userName() ?? '', manifest, version: ownVersion() },
    orders,
    // A function, because the lines are read again when the transaction has to be repeated.
    lines: {
      *[Symbol.iterator]() {
        // The header is left out, because the engine has the service of an account.
        const lines = writeLines(loaded.lock);
        lines.next();
        yield* lines;
      },
    },
  };
}

/** Throws MB3000 for options that an engine cannot carry out. */
export function refuseHere({ sandbox }: Pick<OpenCampaign, 'sandbox'>, { review }: Pick<ApplyTerms, 'review'>): void {
  if (review === true) {
    throw new CampaignError({
      code: 'MB3000',
      message: '--review and --engine cannot be combined: with an engine, gates are decided between two runs',
      hint: 'leave --review out, or the engine (--engine, MEDIABATCH_ENGINE)',
      options: ['--review', '--engine'],
    });
  }
  if (sandbox) {
    throw new CampaignError({
      code: 'MB3000',
      message: '--sandbox and --engine cannot be combined: workers do not reach the service in this process',
      hint: way('remove --sandbox, and use this service', call('sandbox')),
      options: ['--sandbox', '--engine'],
    });
  }
}

/** Throws MB3704 if the campaign has a run on another engine, or of another account. */
export function refuseOtherEngine(note: { engine: string; account: string }, { shown, account }: Engine): void {
  if (note.engine === shown && note.account === account) return;
  const other = note.engine === shown ? 'with another key, or for another address of the service' : `on ${note.engine}`;
  throw new CampaignError({
    code: 'MB3704',
    message: `this campaign has a run ${other}`,
    hint: 'attach to that run first; nothing was sent',
    lock: note.engine,
  });
}

export function lostRun(run: string, { shown }: Engine): CampaignError {
  return new CampaignError({
    code: 'MB3702',
    message: `${shown} does not know the run ${run}, which this campaign was submitted as`,
    hint: [
      'nothing was sent; if its database was recreated, what the run has bought since is in no lock',
      way('to see it', call('list jobs', '--unknown')),
      way('to release the campaign', call('unlock', '--id', run)),
    ],
  });
}

/**
 * Throws MB3704 when the run belongs to another campaign of the same name, because its lines must not be added to
 * this lock.
 */
export function refuseNamesake(header: RunHeader, { campaign, origin }: RunRecord, graph: Graph, shown: string): void {
  if (isOfGraph(header, graph)) return;
  throw new CampaignError({
    code: 'MB3704',
    message: `another campaign named ${campaign} has an open run on ${shown}: ${origin.host}:${origin.manifest}, with none of these steps`,
    hint: 'idempotency keys contain the campaign name: rename one of the two campaigns, or wait until that run has ended. Nothing was sent',
    lock: shown,
  });
}
