import { call } from '../../ground/advice.ts';
import type { Json } from '../../ground/json.ts';
import type { Ruling } from '../../plan/decisions/ruling.ts';
import type { Adoption, ListedRecord } from '../../plan/purchases/match-listed.ts';
import { adviceText, type Paste } from '../advice-text.ts';
import {
  command,
  type Document,
  faint,
  good,
  jsonOf,
  line,
  type Span,
  someLines,
  stack,
  warning,
} from '../document.ts';
import { countOf } from '../numbers.ts';
import { safeText } from '../safe-text.ts';

const mostListed = 20;

interface Facts {
  command: string;
  /** `asked`: the user must still confirm. `journaled`: recorded in the purchase journal, but not in the lock. */
  stage: 'recorded' | 'journaled' | 'dry run' | 'asked';
}

export function rulingsView(rulings: readonly Ruling[], { command: verb, stage }: Facts): Document {
  const wordOf = (as: string) => good(isDone(stage) ? pastOf(as) : `would ${as}`);
  return [
    stack(
      ...section(rulings, 'recorded', (ruling) => wordOf((ruling.is === 'recorded' ? ruling.as : undefined) ?? verb)),
      ...section(rulings, 'unchanged', () => faint('unchanged')),
      ...section(rulings, 'refused', () => warning('not recorded')),
      stage === 'asked' ? undefined : line(footer(rulings, stage)),
    ),
  ];
}

function isDone(stage: Facts['stage']): stage is 'recorded' | 'journaled' {
  return stage === 'recorded' || stage === 'journaled';
}

function footer(rulings: readonly Ruling[], stage: Exclude<Facts['stage'], 'asked'>): string {
  const recorded = rulings.filter(({ is }) => is === 'recorded').length;
  if (recorded === 0) return 'nothing was recorded';
  if (!isDone(stage)) return '--dry-run: nothing was recorded';
  const place = stage === 'recorded' ? 'the lock' : 'the purchase journal of this machine';
  return `${countOf(recorded, 'step')} recorded in ${place}; 0 credits`;
}

type Ruled =
  | Extract<Ruling, { is: 'refused' }>
  | { is: Exclude<Ruling['is'], 'refused'>; address: string; text: string };

export function rulingsJson(
  rulings: readonly Ruled[],
  { command, dryRun, paste }: { command: string; dryRun: boolean; paste: Paste },
): Json {
  return jsonOf('decisions', {
    command,
    dryRun,
    steps: rulings.map((ruling) => ({
      address: ruling.address,
      result: ruling.is,
      text: ruling.text,
      ...(ruling.is === 'refused' && { hint: adviceText(ruling.hint, paste) }),
    })),
  });
}

function section(rulings: readonly Ruling[], is: Ruling['is'], wordOf: (ruling: Ruling) => Span): Document {
  const all = rulings.filter((ruling) => ruling.is === is);
  return someLines(
    all.map((ruling) => [wordOf(ruling), ` ${safeText(`${ruling.address}: ${ruling.text}`, 1000)}`]),
    mostListed,
    `more ${is}`,
  );
}

const irregular: Readonly<Record<string, string>> = { pin: 'pinned', unpin: 'unpinned', forget: 'forgotten' };

function pastOf(command: string): string {
  return irregular[command] ?? `${command.replace(/e$/, '')}ed`;
}

const mostShown = 5;

export function candidatesView(open: Adoption<ListedRecord & { prompt?: string }>['open'], paste: Paste): Document {
  const lines = open.map(({ match, jobs }) => {
    const texts = jobs.map(({ job: { jobId, createdAt = '', prompt }, likeness }) =>
      [jobId, likeness, createdAt, prompt && `“${safeText(prompt, 40)}”`].filter(Boolean).join('  '),
    );
    return line([warning('undecided'), ` ${match.step.address}: its job may be:`], someLines(texts, mostShown));
  });
  const [first] = open;
  const [candidate] = first?.jobs ?? [];
  if (first === undefined || candidate === undefined) return [stack(...lines)];
  const { jobId } = candidate.job;
  const take = call('adopt', first.match.step.address, '--job', jobId);
  return [stack(...lines, command('to choose a job, as in', paste(take)))];
}
