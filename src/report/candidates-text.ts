import type { Adoption, ListedRecord } from '../plan/match-listed.ts';
import { safeText } from './safe-text.ts';
import { shellWord } from './shell-word.ts';
import type { Style } from './style.ts';

const mostShown = 5;

/** Jobs that may be those of a step, for a person to choose from. */
export function candidatesText(
  open: Adoption<ListedRecord & { prompt?: string }>['open'],
  { style, file }: { style: Style; file: string },
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
  lines.push(
    `choose with: mediabatch adopt ${shellWord(file)} --job ID, or mediabatch import ${shellWord(file)} ADDRESS ID`,
  );
  return `${lines.join('\n')}\n`;
}
