import { call } from '../../ground/advice.ts';
import type { Json } from '../../ground/json.ts';
import { groupBy } from '../../ground/values.ts';
import type { Ruling } from '../../plan/decisions/ruling.ts';
import type { Adoption, ListedRecord } from '../../plan/purchases/match-listed.ts';
import { adviceText, type Paste } from '../advice-text.ts';
import { command, type Document, faint, good, line, type Span, stack, table, warning } from '../document.ts';
import { countOf } from '../numbers.ts';
import { safeText } from '../safe-text.ts';

const mostListed = 20;
const mostAlike = 3;

interface Facts {
  /** The command as the user wrote it. */
  command: string;
  /** `asked`: rulings that are recorded after confirmation. */
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

function section(rulings: readonly Ruling[], is: Ruling['is'], wordOf: (ruling: Ruling) => Span): Document {
  const all = rulings.filter((ruling) => ruling.is === is);
  const [first] = all;
  if (first === undefined) return [];
  const groups = [...groupBy(all, ({ text }) => text).values()].flatMap((same) =>
    is === 'unchanged' && same.length > mostAlike ? [same] : same.map((one) => [one]),
  );
  const listed = groups.slice(0, mostListed).flatMap(([ruling = first, ...others]) => {
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    return line([wordOf(ruling), ` ${safeText(`${ruling.address}${more}: ${ruling.text}`, 1000)}`]);
  });
  const hidden = groups.slice(mostListed).reduce((sum, same) => sum + same.length, 0);
  return [...listed, hidden > 0 ? line([wordOf(first), ` … and ${countOf(hidden, 'step')} more`]) : undefined];
}

const irregular: Readonly<Record<string, string>> = { pin: 'pinned', unpin: 'unpinned', forget: 'forgotten' };

function pastOf(command: string): string {
  return irregular[command] ?? `${command.replace(/e$/, '')}ed`;
}

const mostShown = 5;

export function candidatesView(open: Adoption<ListedRecord & { prompt?: string }>['open'], paste: Paste): Document {
  const lines = open.map(({ match, jobs }) => {
    const shown = jobs.slice(0, mostShown).map(({ job, likeness }) => {
      const prompt = job.prompt === undefined ? '' : `“${safeText(job.prompt, 40)}”`;
      return [safeText(job.jobId, 100), likeness, job.createdAt ?? '', prompt];
    });
    const more = jobs.length > mostShown ? line(`… and ${jobs.length - mostShown} more`) : undefined;
    const columns = [{ title: '' }, { title: '' }, { title: '' }, { title: '', least: 12 }];
    return line([warning('undecided'), ` ${match.step.address} could be:`], [table(columns, shown), more]);
  });
  const [first] = open;
  const [candidate] = first?.jobs ?? [];
  if (first === undefined || candidate === undefined) return [stack(...lines)];
  const { jobId } = candidate.job;
  const take = call('adopt', first.match.step.address, '--job', jobId);
  return [stack(...lines, command('choose as in', paste(take)))];
}
