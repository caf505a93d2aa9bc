import type { Decided, DecideOptions } from '../../campaign/decide.ts';
import * as judging from '../../campaign/decisions/judge.ts';
import * as decisions from '../../campaign/decisions/steps.ts';
import { requireGraph } from '../../campaign/load-manifest.ts';
import { nameInGit } from '../../campaign/person.ts';
import { requireLock } from '../../campaign/read-lock.ts';
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

export interface AcceptOptions extends DecisionOptions {
  select?: string[];
}

export async function accept(file: string, names: string[], context: DecisionContext<AcceptOptions>): Promise<number> {
  const { options, terminal } = context;
  const campaign = await open(file, options, terminal);
  const decided = await decisions.accept(campaign, { names, select: options.select }, toDecideOptions(context));
  return tellDecided('accept', decided, context);
}

export interface ForgetOptions extends DecisionOptions {
  select?: string[];
  orphans?: boolean;
  force?: boolean;
}

export async function forget(file: string, names: string[], context: DecisionContext<ForgetOptions>): Promise<number> {
  const { options, terminal } = context;
  const { select, orphans, force } = options;
  const campaign = await open(file, options, terminal);
  const decided = await decisions.forget(campaign, { names, select, orphans, force }, toDecideOptions(context));
  return tellDecided('forget', decided, context);
}

export async function move(
  file: string,
  addresses: { from: string; to: string },
  context: DecisionContext,
): Promise<number> {
  const campaign = await open(file, context.options, context.terminal);
  return tellDecided('move', await decisions.move(campaign, addresses, toDecideOptions(context)), context);
}

export interface PinOptions extends DecisionOptions {
  select?: string[];
}

type Context = DecisionContext<PinOptions>;

export async function pin(file: string, names: string[], context: Context): Promise<number> {
  return tellDecided('pin', await decideWith(decisions.pin, file, names, context), context);
}

export async function unpin(file: string, names: string[], context: Context): Promise<number> {
  return tellDecided('unpin', await decideWith(decisions.unpin, file, names, context), context);
}

async function decideWith(
  decision: typeof decisions.pin,
  file: string,
  names: string[],
  context: Context,
): Promise<Decided> {
  const { options, terminal } = context;
  const campaign = await open(file, options, terminal);
  return decision(campaign, { names, select: options.select }, toDecideOptions(context));
}

const mostGates = 10;

export interface JudgeOptions extends DecisionOptions {
  select?: string[];
  note?: string;
  reason?: string;
  by?: string;
}

export interface PickOptions extends JudgeOptions {
  /** Files with what people picked elsewhere. */
  from?: string[];
}

export async function pick(file: string, names: string[], context: DecisionContext<PickOptions>): Promise<number> {
  const { options, terminal } = context;
  const { from, select, note, by } = options;
  if (from === undefined && names.length === 0 && select === undefined) throw await whichGates(file, context);
  if (from === undefined) return judge('pick', judging.pick, { file, names, context });
  if (names.length > 0 || select !== undefined || note !== undefined || by !== undefined) {
    throw new CampaignError({
      code: 'MB3001',
      message: '--from says what is picked and by whom, so steps, -s, --note and --by do not go with it',
      hint: 'pick by files or by names, one after the other; nothing was recorded',
      options: ['--from'],
    });
  }
  const campaign = await open(file, options, terminal);
  return tellDecided('pick', await judging.pickFrom(campaign, from, toDecideOptions(context)), context);
}

/** Whoever names nothing is told what there is to pick. */
async function whichGates(file: string, { options, terminal }: DecisionContext<PickOptions>): Promise<CampaignError> {
  const campaign = await open(file, options, terminal);
  const graph = await requireGraph(campaign);
  const { lock } = await requireLock(campaign, undefined);
  const { gates } = makeStatus({ situation: situate(graph, lock), present: new Map() });
  const [first] = gates ?? [];
  const named = (gates ?? []).map(gateText);
  return new CampaignError({
    code: 'MB3001',
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

export function reject(file: string, names: string[], context: DecisionContext<JudgeOptions>): Promise<number> {
  return judge('reject', judging.reject, { file, names, context });
}

export function unpick(file: string, names: string[], context: DecisionContext<JudgeOptions>): Promise<number> {
  return judge('unpick', judging.unpick, { file, names, context });
}

async function judge(
  command: string,
  decision: typeof judging.reject,
  { file, names, context }: { file: string; names: string[]; context: DecisionContext<JudgeOptions> },
): Promise<number> {
  const { options, terminal } = context;
  const campaign = await open(file, options, terminal);
  const { select, note, reason } = options;
  // Who takes something back says nothing of it.
  const by = command === 'unpick' ? undefined : (options.by ?? (await nameInGit(campaign.paths.folder)));
  const decided = await decision(campaign, { names, select }, { ...toDecideOptions(context), ...{ note, reason, by } });
  return tellDecided(command, decided, context);
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
