import { chooseSteps } from '../../campaign/choose-steps.ts';
import { type DecideOptions, decide } from '../../campaign/decide.ts';
import { orphansOf } from '../../campaign/find-remote-records.ts';
import { CommandError, exitCodes } from '../../contract/exit.ts';
import type { Graph } from '../../graph/graph.ts';
import type { Lock } from '../../lock/record.ts';
import { advise, call } from '../../plan/advice.ts';
import { applyDecisions } from '../../plan/apply-decisions.ts';
import { forgetRecord } from '../../plan/forget.ts';
import { pricesFrom } from '../../plan/prices.ts';
import { type Ruling, refuse } from '../../plan/ruling.ts';
import type { Terminal } from '../terminal.ts';

export interface ForgetOptions extends DecideOptions {
  select?: string[];
  orphans?: boolean;
  force?: boolean;
}

/** What was bought for these addresses counts as never bought. Ids and charges stay on record. */
export function forget(
  file: string,
  names: string[],
  { options, terminal }: { options: ForgetOptions; terminal: Terminal },
): Promise<number> {
  return decide(file, { command: 'forget', options, terminal }, ({ graph, lock }) => {
    const chosen = chooseAll(names, options, { graph, lock });
    const priceOf = pricesFrom(lock, graph.prices);
    const steps = new Map(applyDecisions(graph, lock).steps.map((step) => [step.address, step]));
    return chosen.map((address): Ruling => {
      const step = steps.get(address);
      const record = lock.steps.get(address);
      if (record === undefined) {
        return refuse(
          address,
          'has nothing that was bought',
          advise`${call('plan', '--all')} shows what every step has`,
        );
      }
      return forgetRecord(record, {
        force: options.force === true,
        ...(step !== undefined && { price: priceOf(step.kind, step.request).credits }),
        ...(step?.decided?.pinned === 'manifest' && { isPinnedByTask: true }),
      });
    });
  });
}

function chooseAll(names: string[], options: ForgetOptions, facts: { graph: Graph; lock: Lock }): string[] {
  const { graph, lock } = facts;
  const orphans = orphansOf(graph, lock);
  if (options.orphans !== true)
    return chooseSteps(names, options.select, { graph, lock, orphans: namedOrphans(lock, graph) });
  if (orphans.length === 0 && names.length === 0 && options.select === undefined) {
    throw new CommandError(exitCodes.wrongUsage, 'the lock has no orphans', 'there is nothing to forget');
  }
  const named =
    names.length === 0 && options.select === undefined
      ? []
      : chooseSteps(names, options.select, { graph, lock, orphans: namedOrphans(lock, graph) });
  return [...new Set([...named, ...orphans])];
}

/** What only the lock has, forgotten or not: naming it twice is no mistake. */
function namedOrphans(lock: Lock, graph: Graph): string[] {
  const known = new Set(graph.steps.map(({ address }) => address));
  return [...lock.steps.keys()].filter((address) => !known.has(address)).sort();
}
