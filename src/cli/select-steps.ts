import type { Graph } from '../graph/graph.ts';
import type { Lock } from '../lock/record.ts';
import { type Match, matchSteps } from '../plan/match.ts';
import { parseSelection } from '../plan/parse-selection.ts';
import { type PriceOf, pricesFrom } from '../plan/prices.ts';
import { matchSelection } from '../plan/select.ts';
import { stateOfStep } from '../plan/step-state.ts';
import { CommandError, exitCodes } from './exit.ts';

/** Steps by what a person writes on the command line. Nothing matched is wrong usage, with near misses. */
export interface Selector {
  /** The union of several selections; empty for none. */
  all(option: string, texts: readonly string[]): Set<string>;
  /** `--select` minus `--exclude`; undefined when neither is given. */
  chosen(options: { select?: string[]; exclude?: string[] }): Set<string> | undefined;
}

export function makeSelector(graph: Graph, lock: Lock): Selector {
  let matched: ReadonlyMap<string, Match> | undefined;
  // Most selections are names, and most runs select nothing: the lock is only looked through for states and costs.
  const matches = () => {
    matched ??= new Map(matchSteps(graph, lock).map((match) => [match.step.address, match]));
    return matched;
  };
  let prices: PriceOf | undefined;
  const facts = {
    graph,
    stateOf: (address: string) => stateOfStep(matches().get(address), matches()),
    costOf: (address: string) => {
      const match = matches().get(address);
      prices ??= pricesFrom(lock, graph.prices);
      return match === undefined ? undefined : prices(match.step.kind, match.step.request).credits;
    },
  };
  const find = (option: string, text: string): Set<string> => {
    const selection = parseSelection(text);
    if ('problem' in selection) {
      throw new CommandError(
        exitCodes.wrongUsage,
        `${option} ${JSON.stringify(text)}: ${selection.problem}`,
        'write hero, hero@A*, +teaser, hero+, kind:video, tag:launch, state:failed or cost:>50; white space is “or”, a comma is “and”',
      );
    }
    const found = matchSelection(selection, facts);
    if (!(found instanceof Set)) throw new CommandError(exitCodes.wrongUsage, `${option} ${text}: ${found.problem}`);
    if (found.size === 0) {
      throw new CommandError(exitCodes.wrongUsage, `${option} ${text} matches no step`, nearMisses(graph, text));
    }
    return found;
  };
  const all = (option: string, texts: readonly string[]) => new Set(texts.flatMap((text) => [...find(option, text)]));
  return {
    all,
    chosen({ select, exclude }) {
      if (select === undefined && exclude === undefined) return undefined;
      const chosen =
        select === undefined ? new Set(graph.steps.map(({ address }) => address)) : all('--select', select);
      for (const address of all('--exclude', exclude ?? [])) chosen.delete(address);
      if (chosen.size === 0) throw new CommandError(exitCodes.wrongUsage, '--exclude leaves no step');
      return chosen;
    },
  };
}

function nearMisses(graph: Graph, text: string): string {
  const start = text.replace(/^\+/, '').slice(0, 3);
  const near = graph.steps.map(({ address }) => address).filter((address) => address.startsWith(start));
  const tasks = graph.tasks.map(({ id }) => id);
  return near.length > 0 ? `near it: ${near.slice(0, 5).join(', ')}` : `tasks: ${tasks.slice(0, 12).join(', ')}`;
}
