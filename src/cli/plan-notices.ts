import { CampaignError } from '../contract/failure.ts';
import { kinds } from '../kinds/index.ts';
import { isSpending, isWork } from '../plan/actions.ts';
import type { Plan } from '../plan/plan.ts';
import { countOf } from '../report/numbers.ts';
import type { SelectionOptions } from './open.ts';
import { printNotice, type Terminal } from './terminal.ts';

/**
 * Reports selected steps that depend on unfinished steps outside the selection. `ends`: whether to throw MB3006 if no
 * selected step can run.
 */
export function warnUnselected(
  plan: Plan,
  { options, terminal, ends }: { options: SelectionOptions; terminal: Terminal; ends: boolean },
): void {
  const addresses = plan.rows.flatMap((row) => (row.blockedBy === 'selection' ? [row.address] : []));
  if (addresses.length === 0) return;
  const text = `${countOf(addresses.length, 'selected step')} ${addresses.length === 1 ? 'needs' : 'need'} steps that are neither done nor selected`;
  const hint =
    options.select === undefined
      ? 'exclude fewer steps: a step can only run after the steps that it needs'
      : 'select the needed steps, too: + before a name or a condition adds its dependencies, as in +teaser';
  if (ends && plan.rows.every((row) => !isWork(row) && row.action !== 'keep'))
    throw new CampaignError({ code: 'MB3006', message: `${text}, so no step can run`, hint, addresses });
  printNotice(terminal, text, hint);
}

/** Warns if the service does not replay answers for this token: a user must then resolve each lost answer. */
export function warnCredential(plan: Plan, replays: 'yes' | 'no' | 'unknown', terminal: Terminal): void {
  if (replays !== 'no') return;
  const affected = plan.rows.filter(({ action, kind }) => isSpending(action) && kinds[kind]?.recovery === 'replay');
  if (affected.length === 0) return;
  printNotice(
    terminal,
    `MEDIABATCH_API_KEY contains a token, not an API key: if the answer to one of ${countOf(affected.length, 'image or music create request')} is lost, a user must decide whether the request was charged; with an API key, the run recovers the answer`,
  );
}
