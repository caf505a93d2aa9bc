import type { Terminal } from '../cli/terminal.ts';
import { collectVars } from '../cli/vars.ts';
import { LockChangedError } from '../contract/errors.ts';
import { CommandError, exitCodes } from '../contract/exit.ts';
import { openLockFile } from '../disk/lock/lock-file.ts';
import type { Graph } from '../graph/graph.ts';
import { outlineOf } from '../graph/outline.ts';
import { joinInto } from '../lock/join.ts';
import type { Lock } from '../lock/record.ts';
import { writeHeader, writeLines } from '../lock/write.ts';
import { withoutMovedAway } from '../plan/orphans.ts';
import type { Ruling } from '../plan/ruling.ts';
import { rulingsJson, rulingsText } from '../report/plan/rulings-text.ts';
import { safeJson, safeText } from '../report/safe-text.ts';
import { readEnvironment } from './environment.ts';
import { holdGuard } from './hold-guard.ts';
import { type LoadedLock, requireGraph, requireLock } from './load.ts';
import { agreeToMove } from './lock-service.ts';
import { type CampaignPaths, campaignPaths } from './paths.ts';

/** What all decisions have in common. */
export interface DecideOptions {
  sandbox?: boolean;
  lock?: string;
  lockTimeout: number;
  var?: Record<string, string>;
  dryRun?: boolean;
  json?: boolean;
  yes?: boolean;
  /** The service of the lock has a new address. */
  serviceMoved?: boolean;
}

/** A campaign whose lock nobody else writes until the decision is made. */
export interface HeldCampaign {
  graph: Graph;
  lock: Lock;
  paths: CampaignPaths;
}

export interface DecideContext {
  /** As the person called it, `pin`. */
  command: string;
  options: DecideOptions;
  terminal: Terminal;
  /** Digest of the service's address, where the decision is about jobs there. */
  service?: string | undefined;
  /** Asked before anything is recorded. */
  confirm?: (rulings: readonly Ruling[]) => Promise<'yes' | 'no' | 'interrupted'>;
}

/** Holds the lock while `rule` makes up what is decided, records it, and tells it. Spends nothing. */
export async function decide(
  file: string,
  context: DecideContext,
  rule: (held: HeldCampaign) => Promise<Ruling[]> | Ruling[],
): Promise<number> {
  const { options, terminal, service } = context;
  const paths = campaignPaths(file, options);
  const graph = await requireGraph(file, collectVars(options.var), terminal);
  // Whoever only looks leaves nothing behind, not even a guard, and can do so where nothing can be written.
  const guard = options.dryRun === true ? undefined : await holdGuard(paths.lock, options.lockTimeout * 1000, terminal);
  try {
    const { serviceMoved, yes } = options;
    const loaded = await requireLock(paths, service, terminal, { serviceMoved });
    if (serviceMoved === true && options.dryRun !== true) {
      const environment = readEnvironment(process.env, process.cwd());
      await agreeToMove(loaded, { environment, path: paths.lock, yes, terminal });
    }
    const rulings = await rule({ graph, lock: loaded.lock, paths });
    const isRecorded = rulings.some(({ is }) => is === 'recorded');
    if (!isRecorded) requireSome(rulings);
    if (isRecorded && options.dryRun !== true) {
      const agreed = await agree(rulings, context);
      if (agreed !== 'yes') {
        terminal.err('nothing was recorded\n');
        return agreed === 'no' ? exitCodes.done : exitCodes.interrupted;
      }
      await record(rulings, { graph, loaded, paths });
    }
    tell(rulings, context);
    return exitCodes.done;
  } finally {
    await guard?.release();
  }
}

/** Where nothing at all could be decided, what a person asked for was not possible. */
function requireSome(rulings: readonly Ruling[]): void {
  const [first, ...others] = rulings.filter(({ is }) => is === 'refused');
  if (first?.is !== 'refused' || rulings.some(({ is }) => is === 'unchanged')) return;
  const more = others.length > 0 ? ` (and ${others.length} more like it)` : '';
  throw new CommandError(exitCodes.wrongUsage, safeText(`${first.address} ${first.text}${more}`, 1000), first.hint);
}

/** What is asked about is shown before. */
async function agree(rulings: readonly Ruling[], context: DecideContext): Promise<'yes' | 'no' | 'interrupted'> {
  const { confirm, command, terminal, options } = context;
  if (confirm === undefined) return 'yes';
  if (options.yes !== true) {
    terminal.err(rulingsText(rulings, { command, stage: 'asked', style: terminal.style }));
  }
  return confirm(rulings);
}

async function record(
  rulings: readonly Ruling[],
  { graph, loaded, paths }: { graph: Graph; loaded: LoadedLock; paths: CampaignPaths },
): Promise<void> {
  const { lock } = loaded;
  for (const ruling of rulings) {
    if (ruling.is !== 'recorded') continue;
    for (const one of ruling.records) joinInto(lock.steps, one);
  }
  const file = await openLockFile(paths.lock, {
    header: writeHeader(lock),
    read: loaded.read ?? null,
    ...(loaded.tornTailAt !== undefined && { cutAt: loaded.tornTailAt }),
  });
  try {
    await file.replace(writeLines(withoutMovedAway(lock, outlineOf(graph))));
  } catch (error) {
    if (!(error instanceof LockChangedError)) throw error;
    throw new CommandError(
      exitCodes.lockHeld,
      'the lock was changed by another program at the same time, so nothing was recorded',
      'run the command again',
    );
  } finally {
    await file.close();
  }
}

function tell(rulings: readonly Ruling[], { command, options, terminal }: DecideContext): void {
  const dryRun = options.dryRun === true;
  if (options.json) terminal.out(`${safeJson(rulingsJson(rulings, { command, dryRun, paste: terminal.paste }), 2)}\n`);
  terminal.err(rulingsText(rulings, { command, stage: dryRun ? 'dry run' : 'recorded', style: terminal.style }));
}
