import { type BadPlace, findBadPlaces } from '../disk/check-places.ts';
import { checkOutputs, findStrangers } from '../disk/outputs.ts';
import type { Graph } from '../graph/graph.ts';
import type { Lock } from '../lock/record.ts';
import { assemblePlan, outputsToCheck } from '../plan/assemble.ts';
import type { FileState } from '../plan/decide.ts';
import type { Plan } from '../plan/plan.ts';
import { safeText } from '../report/safe-text.ts';
import type { CampaignPaths } from './campaign.ts';
import { CommandError, exitCodes } from './exit.ts';
import type { Terminal } from './terminal.ts';

export interface PlanOptions {
  /** `--redo`: addresses or task names. */
  redo: string[];
  maxCredits?: number;
  concurrency?: number;
  replays: 'yes' | 'no' | 'unknown';
  terminal: Terminal;
}

export const defaultConcurrency = 8;

/** Asks the disk what the planner wants to know, and plans. */
export async function planCampaign(
  graph: Graph,
  lock: Lock,
  paths: CampaignPaths,
  options: PlanOptions,
): Promise<Plan> {
  const recorded = outputsToCheck(graph, lock);
  const states = await checkOutputs(paths.outputs, recorded);
  const plan = assemblePlan({
    graph,
    lock,
    fileState: (output): FileState => states.get(output.path) ?? 'missing',
    replays: options.replays,
    now: Date.now(),
    concurrency: options.concurrency ?? graph.concurrency ?? defaultConcurrency,
    redo: selectSteps(graph, options.redo),
    ...(options.maxCredits !== undefined && { maxCredits: options.maxCredits }),
  });
  await checkPlaces(plan, lock, { paths, terminal: options.terminal });
  return plan;
}

/** Where outputs cannot go, or where something else is: said before anything is paid for. */
async function checkPlaces(
  plan: Plan,
  lock: Lock,
  context: { paths: CampaignPaths; terminal: Terminal },
): Promise<void> {
  const { paths, terminal } = context;
  const saves = plan.rows.flatMap(({ address, order }) => (order === undefined ? [] : [{ address, save: order.save }]));
  const [bad] = await findBadPlaces(paths.outputs, saves, { ownRoot: paths.outputs !== paths.folder });
  if (bad !== undefined) throw badPlaceError(bad);
  const ours = new Set<string>();
  for (const record of lock.steps.values()) {
    for (const { outputs } of record.purchases) for (const { path } of outputs ?? []) ours.add(path);
  }
  const [stranger, ...others] = await findStrangers(paths.outputs, saves, (path) => ours.has(path));
  if (stranger === undefined) return;
  const more = others.length > 0 ? `, and ${others.length} more like it` : '';
  const text = `${stranger.path} is not on record as an output of ${stranger.address}${more}; a file with other content than the download is kept under another name`;
  terminal.err(`${terminal.style.yellow('notice MB1604')} ${safeText(text, 1000)}\n`);
}

function badPlaceError({ address, path, why }: BadPlace): CommandError {
  switch (why) {
    case 'symlink':
      return new CommandError(
        exitCodes.wrongInput,
        `MB1605: ${path} is a symbolic link; ${address} would be saved through it`,
        'outputs are only written into real folders below the manifest: put a folder there, or choose another `save:`',
      );
    case 'not-a-folder':
    case 'not-a-file':
      return new CommandError(
        exitCodes.wrongInput,
        `MB1604: ${path} is ${why === 'not-a-file' ? 'not a plain file' : 'a file, not a folder'}, and ${address} is to be saved there`,
        'move it away, or choose another `save:`',
      );
    case 'not-writable':
      return new CommandError(
        exitCodes.cannotWrite,
        `the folder ${path} cannot be written, and ${address} is to be saved there`,
        'fix its permissions (or the read-only mount) and run again; nothing was spent',
      );
    default:
      return why satisfies never;
  }
}

/** `hero` is every step of the task, `hero@de` one of them. */
export function selectSteps(graph: Graph, selectors: string[]): Set<string> {
  const chosen = new Set<string>();
  for (const selector of selectors) {
    const found = graph.steps.filter(({ address, task }) => address === selector || task === selector);
    if (found.length === 0) {
      const near = graph.steps
        .map(({ address }) => address)
        .filter((address) => address.startsWith(selector.slice(0, 3)));
      throw new CommandError(
        exitCodes.wrongUsage,
        `--redo ${selector} matches no step`,
        near.length > 0
          ? `near it: ${near.slice(0, 5).join(', ')}`
          : 'give a task or an address as `mediabatch plan` shows it',
      );
    }
    for (const { address } of found) chosen.add(address);
  }
  return chosen;
}
