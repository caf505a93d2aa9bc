import type { Decided, DecideOptions } from '../../campaign/decide.ts';
import * as judging from '../../campaign/decisions/judge.ts';
import * as decisions from '../../campaign/decisions/steps.ts';
import { requireGraph } from '../../campaign/load-manifest.ts';
import type { OpenCampaign } from '../../campaign/open-campaign.ts';
import { nameInGit } from '../../campaign/person.ts';
import { requireRestoredLock } from '../../campaign/restore-purchases.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import { call, way } from '../../ground/advice.ts';
import { situate } from '../../plan/situation/situation.ts';
import { rulingsJson, rulingsText } from '../../report/plan/rulings-text.ts';
import { shortList } from '../../report/safe-text.ts';
import { makeStatus } from '../../report/status/status.ts';
import { gateText } from '../../report/status/status-text.ts';
import { askAboutMove } from '../ask-person.ts';
import { open, type StateOptions } from '../open.ts';
import { outJson, type Terminal } from '../terminal.ts';

/** Options of the command line that all decisions share. */
export interface DecisionOptions extends StateOptions {
  /** In ms. */
  lockTimeout: number;
  dryRun?: boolean;
  json?: boolean;
  yes?: boolean;
  /** The service of the lock has a new address. */
  serviceMoved?: boolean;
}

export interface DecisionContext<Options extends DecisionOptions = DecisionOptions> {
  options: Options;
  terminal: Terminal;
}

/** Decisions about steps that are named or selected, by their commands. */
const verbs = {
  pick: judging.pick,
  reject: judging.reject,
  unpick: judging.unpick,
  accept: decisions.accept,
  pin: decisions.pin,
  unpin: decisions.unpin,
  forget: decisions.forget,
} as const;

export type Verb = keyof typeof verbs;

interface VerbOptions extends DecisionOptions {
  select?: string[];
  /** `pick`, `reject`: */
  note?: string;
  by?: string;
  reason?: string;
  /** `pick`: files with picks made elsewhere. */
  from?: string[];
  /** `forget`: */
  orphans?: boolean;
  force?: boolean;
}

/** Records a decision about steps. */
export async function decideSteps(
  verb: Verb,
  file: string,
  names: string[],
  context: DecisionContext<VerbOptions>,
): Promise<number> {
  const { options, terminal } = context;
  const { select, from, note, reason, orphans, force } = options;
  const campaign = await open(file, options, terminal);
  const shared = toDecideOptions(context);
  if (from !== undefined) {
    refuseWithFrom(names, options);
    return tellDecided(verb, await judging.pickFrom(campaign, from, shared), context);
  }
  if (verb === 'pick' && names.length === 0 && select === undefined) throw await whichGates(campaign);
  // Taking a decision back is on record without a name.
  const isJudged = verb === 'pick' || verb === 'reject';
  const by = isJudged ? (options.by ?? (await nameInGit(campaign.paths.folder))) : undefined;
  const chosen = { names, select, ...(verb === 'forget' && { orphans, force }) };
  const decided = await verbs[verb](campaign, chosen, { ...shared, ...(isJudged && { note, reason, by }) });
  return tellDecided(verb, decided, context);
}

export async function move(
  file: string,
  addresses: { from: string; to: string },
  context: DecisionContext,
): Promise<number> {
  const campaign = await open(file, context.options, context.terminal);
  return tellDecided('move', await decisions.move(campaign, addresses, toDecideOptions(context)), context);
}

const mostGates = 10;

function refuseWithFrom(names: readonly string[], { select, note, by }: VerbOptions): void {
  if (names.length === 0 && select === undefined && note === undefined && by === undefined) return;
  throw new CampaignError({
    code: 'MB3000',
    message: '--from says what is picked and by whom, so steps, -s, --note and --by do not go with it',
    hint: 'pick by files or by names, one after the other; nothing was recorded',
    options: ['--from'],
  });
}

/** Lists the open gates for a `pick` that names nothing. */
async function whichGates(campaign: OpenCampaign): Promise<CampaignError> {
  const graph = await requireGraph(campaign);
  const { lock } = await requireRestoredLock(campaign, graph);
  const { gates } = makeStatus({ situation: situate(graph, lock), present: new Map() });
  const [first] = gates ?? [];
  const named = (gates ?? []).map(gateText);
  return new CampaignError({
    code: 'MB3000',
    message:
      first === undefined
        ? 'nothing is named, and no gate has anything to look at'
        : `nothing is named; open gates: ${shortList(named, mostGates)}`,
    hint:
      first === undefined
        ? way('what is bought, and what waits', call('status'))
        : way('pick one by its address, as in', call('pick', first.toSee[0] ?? first.name)),
    options: ['--select'],
  });
}

/** The same for the application. */
export function toDecideOptions({ options, terminal }: DecisionContext): DecideOptions {
  const { lockTimeout, dryRun, serviceMoved, yes } = options;
  return {
    lockTimeoutMs: lockTimeout,
    dryRun,
    ...(serviceMoved === true && { askAboutMove: (question) => askAboutMove(question, { yes, terminal }) }),
  };
}

/** Says what was decided. `command`: as the person called it, `pin`. */
export function tellDecided(command: string, decided: Decided, { options, terminal }: DecisionContext): number {
  if (!('rulings' in decided)) {
    terminal.err('nothing was recorded\n');
    return decided.is === 'no' ? exitCodes.done : exitCodes.interrupted;
  }
  const { is: stage, rulings } = decided;
  const dryRun = stage === 'dry run';
  if (options.json) outJson(terminal, rulingsJson(rulings, { command, dryRun, paste: terminal.paste }));
  terminal.err(rulingsText(rulings, { command, stage, style: terminal.style }));
  return exitCodes.done;
}
