import type { Judgement } from './judge.ts';
import type { Situation } from './situation.ts';

/**
 * Lists the steps about whose outputs something new can be said at a gate. Picks and rejections: at gates that are not
 * decided, and where all are, at those.
 */
export function findJudgeable(as: Judgement['as'], situation: Situation): string[] {
  const { graph, matches, verdicts } = situation;
  const done = new Map(
    matches.flatMap((match) => (match.purchase?.state === 'done' ? [[match.step.address, match]] : [])),
  );
  const listOf = (chosen: Situation['graph']['gates']) =>
    chosen.flatMap(({ members }) =>
      members.filter((address) => {
        const match = done.get(address);
        const verdict = match && verdicts.on(match);
        return match !== undefined && (as === 'undecided' ? verdict !== undefined : verdict?.is !== as);
      }),
    );
  if (as === 'undecided') return listOf(graph.gates);
  const open = listOf(graph.gates.filter(({ state }) => state.is !== 'decided'));
  return open.length > 0 ? open : listOf(graph.gates);
}
