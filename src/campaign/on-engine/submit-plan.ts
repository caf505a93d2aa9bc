import { randomUUID } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import type { ClusterSettings, RunHeader, Submission } from '../../cluster/run-record.ts';
import type { GraphOutline } from '../../graph/outline.ts';
import type { Json } from '../../ground/json.ts';
import type { Lock } from '../../lock/record.ts';
import { writeLines } from '../../lock/write.ts';
import type { Plan, PlanRow } from '../../plan/plan.ts';
import type { WrittenPrices } from '../../plan/prices.ts';
import type { CreateRoutes } from '../../service/create.ts';
import { type RunSettings, settle } from '../options.ts';
import type { GivenOfRun } from './given-of-run.ts';

/** Recognizes what only this machine can do: its files go up, and files of its folder get other names. */
export function isForThisMachine({ order }: PlanRow): boolean {
  return order !== undefined && (order.action === 'move' || order.file !== undefined);
}

/** Makes the submission of a plan: all that a head needs of it, but what this machine does itself. */
export function submissionOf(
  plan: Plan,
  about: {
    account: string;
    sandbox: boolean;
    manifest: string;
    store: string | null;
    lock: Lock;
    outline: GraphOutline;
    createRoutes: CreateRoutes;
    prices: WrittenPrices;
    settings: RunSettings;
    given: GivenOfRun;
  },
): Submission {
  const { account, sandbox, manifest, store, lock, outline, createRoutes, prices, settings, given } = about;
  const theirs = (row: PlanRow) => row.order !== undefined && !isForThisMachine(row);
  const header: RunHeader = {
    plan: {
      ...plan,
      rows: plan.rows.map((row): PlanRow => {
        const { order: _, later: __, asked: ___, ...told } = row;
        return (isForThisMachine(row) ? { ...told, action: 'keep' } : told) as PlanRow;
      }),
    },
    outline: { tasks: outline.tasks, addresses: [...outline.addresses] },
    createRoutes: createRoutes as unknown as Json,
    prices,
    given,
  };
  return {
    id: randomUUID(),
    ...{ account, sandbox, store, header },
    campaign: plan.campaign,
    settings: settingsOf(plan, settings),
    totals: plan.totals,
    origin: { host: hostname(), user: userName(), manifest },
    orders: plan.rows.flatMap((row) => (theirs(row) && row.order !== undefined ? [row.order] : [])),
    // Read again when the transaction has to be repeated.
    lines: { [Symbol.iterator]: () => linesOf(lock) },
  };
}

/** Lines of the steps alone: the engine knows the service of an account. */
function* linesOf(lock: Lock): Generator<string> {
  const lines = writeLines(lock);
  lines.next();
  yield* lines;
}

/** Settings of a run on an engine, without `publish`: posts that may go out say so in their orders. */
function settingsOf({ concurrency }: Plan, given: RunSettings): ClusterSettings {
  const { publish: _publish, ...settings } = settle(given);
  return { concurrency, ...settings };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A user of a container may have no name.
    return '';
  }
}
