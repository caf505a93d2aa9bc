import type { JudgeFacts, Judgement } from './judge.ts';

/**
 * Lists the steps about whose outputs something new can be said at a gate. Picks and rejections: at gates that are not
 * decided, and where all are, at those.
 */
export function findJudgeable(as: Judgement['as'], { gates, matches, verdicts }: JudgeFacts): string[] {
  const done = new Map(
    matches.flatMap((match) => (match.purchase?.state === 'done' ? [[match.step.address, match]] : [])),
  );
  const listOf = (chosen: JudgeFacts['gates']) =>
    chosen.flatMap(({ members }) =>
      members.filter((address) => {
        const match = done.get(address);
        const verdict = match && verdicts.on(match);
        return match !== undefined && (as === 'undecided' ? verdict !== undefined : verdict?.is !== as);
      }),
    );
  if (as === 'undecided') return listOf(gates);
  const open = listOf(gates.filter(({ state }) => state?.is !== 'decided'));
  return open.length > 0 ? open : listOf(gates);
}
