import { kinds } from '../kinds/index.ts';
import { isSpending } from '../plan/actions.ts';
import type { Plan } from '../plan/plan.ts';
import { countOf } from '../report/numbers.ts';
import type { Terminal } from './terminal.ts';

/** With a token the service does not hand out the same job for the same key: said before anything is bought. */
export function tellCredential(plan: Plan, replays: 'yes' | 'no' | 'unknown', { err, style }: Terminal): void {
  if (replays !== 'no') return;
  const affected = plan.rows.filter(({ action, kind }) => isSpending(action) && kinds[kind]?.recovery === 'replay');
  if (affected.length === 0) return;
  err(
    `${style.yellow('notice')} MEDIABATCH_API_KEY holds a token, not an API key: should the answer to one of ${countOf(affected.length, 'image or music create')} be lost, it cannot be asked for again, and a person has to decide; with an API key it is found by itself\n`,
  );
}
