import { call } from '../../ground/advice.ts';
import type { Json } from '../../ground/json.ts';
import type { Ruling } from '../../plan/decisions/ruling.ts';
import type { Adoption, ListedRecord } from '../../plan/purchases/match-listed.ts';
import { adviceText, type Paste } from '../advice-text.ts';
import { countOf } from '../numbers.ts';
import { safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';

/** Up to this many rulings with the same result are listed one by one. */
const mostListed = 20;

interface Facts {
  /** The command as the person wrote it. */
  command: string;
  /** `asked`: about to be recorded, if the person agrees. */
  stage: 'recorded' | 'dry run' | 'asked';
}

/** The decisions, step by step, for people. Ends with a line feed. */
export function rulingsText(rulings: readonly Ruling[], { command, stage, style }: Facts & { style: Style }): string {
  const wordOf = (as: string) => style.green(stage === 'recorded' ? pastOf(as) : `would ${as}`);
  const lines = [
    ...section(rulings, 'recorded', (ruling) => wordOf((ruling.is === 'recorded' ? ruling.as : undefined) ?? command)),
    ...section(rulings, 'unchanged', () => style.dim('unchanged')),
    ...section(rulings, 'refused', () => style.yellow('left alone')),
  ];
  if (stage !== 'asked') lines.push(footer(rulings, stage));
  return `${lines.join('\n')}\n`;
}

function footer(rulings: readonly Ruling[], stage: 'recorded' | 'dry run'): string {
  const recorded = rulings.filter(({ is }) => is === 'recorded').length;
  if (recorded === 0) return 'nothing was recorded';
  const steps = countOf(recorded, 'step');
  return stage === 'recorded' ? `${steps} recorded in the lock; 0 credits` : `--dry-run: nothing was recorded`;
}

/** A ruling, without what it wrote. */
type Ruled =
  | Extract<Ruling, { is: 'refused' }>
  | { is: Exclude<Ruling['is'], 'refused'>; address: string; text: string };

export function rulingsJson(
  rulings: readonly Ruled[],
  { command, dryRun, paste }: { command: string; dryRun: boolean; paste: Paste },
): Json {
  return {
    mediabatch: 'decisions',
    version: 1,
    command,
    dryRun,
    steps: rulings.map((ruling) => ({
      address: ruling.address,
      result: ruling.is,
      text: ruling.text,
      ...(ruling.is === 'refused' && { hint: adviceText(ruling.hint, paste) }),
    })),
  };
}

function section(rulings: readonly Ruling[], is: Ruling['is'], wordOf: (ruling: Ruling) => string): string[] {
  const all = rulings.filter((ruling) => ruling.is === is);
  const [first] = all;
  if (first === undefined) return [];
  const listed = all
    .slice(0, mostListed)
    .map((ruling) => `${wordOf(ruling)} ${safeText(`${ruling.address}: ${ruling.text}`, 1000)}`);
  return all.length > mostListed
    ? [...listed, `${wordOf(first)} … and ${countOf(all.length - mostListed, 'step')} more`]
    : listed;
}

const irregular: Readonly<Record<string, string>> = { pin: 'pinned', unpin: 'unpinned', forget: 'forgotten' };

function pastOf(command: string): string {
  return irregular[command] ?? `${command.replace(/e$/, '')}ed`;
}

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
    const [adopt, take] = [call('adopt', '--job', jobId), call('adopt', first.match.step.address, '--job', jobId)];
    lines.push(`choose as in: ${paste(adopt)}`, `or, for any step: ${paste(take)}`);
  }
  return `${lines.join('\n')}\n`;
}
