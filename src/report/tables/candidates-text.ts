import { call } from '../../plan/advice.ts';
import type { Adoption, ListedRecord } from '../../plan/match-listed.ts';
import type { Paste } from '../advice-text.ts';
import { safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';

const mostShown = 5;

/** Jobs that may belong to a step, for a person to choose from. */
export function candidatesText(
  open: Adoption<ListedRecord & { prompt?: string }>['open'],
  { style, paste }: { style: Style; paste: Paste },
): string {
  const lines = open.flatMap(({ match, jobs }) => {
    const { address } = match.step;
    const shown = jobs.slice(0, mostShown).map(({ job, likeness }) => {
      const parts = [likeness, job.createdAt, job.prompt === undefined ? undefined : `“${safeText(job.prompt, 40)}”`];
      return `    ${safeText(job.jobId, 100)}  ${safeText(parts.filter((part) => part !== undefined).join('  '), 120)}`;
    });
    const more = jobs.length > mostShown ? [`    … and ${jobs.length - mostShown} more`] : [];
    return [`${style.yellow('undecided')} ${safeText(address)} could be:`, ...shown, ...more];
  });
  const [first] = open;
  const [candidate] = first?.jobs ?? [];
  if (first !== undefined && candidate !== undefined) {
    const { jobId } = candidate.job;
    const [adopt, take] = [call('adopt', '--job', jobId), call('import', first.match.step.address, jobId)];
    lines.push(`choose as in \`${paste(adopt)}\`, or, for any step, ${paste(take)}`);
  }
  return `${lines.join('\n')}\n`;
}
