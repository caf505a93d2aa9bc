import { wordsOfPlan } from '../campaign/option-table.ts';
import type { RunResult } from '../campaign/run.ts';
import type { SavedPlan } from '../campaign/saved-plan.ts';
import type { StepOutcome } from '../contract/event.ts';
import { type Call, call } from '../ground/advice.ts';
import { groupBy } from '../ground/values.ts';
import { publishes } from '../plan/actions.ts';
import { isBought, postsOf } from '../plan/consent.ts';
import type { Plan, PlanRow } from '../plan/plan.ts';
import { isAskedAbout } from '../plan/posts/post-record.ts';
import { sumPrices } from '../plan/sum-up.ts';
import { command, type Document, facts, line, warning } from '../report/document.ts';
import { countOf } from '../report/numbers.ts';
import { spendText } from '../report/plan/plan-facts.ts';
import { postsText, sideBySide } from '../report/plan/post-words.ts';
import { safeText, shortList } from '../report/safe-text.ts';
import { approving, type Consent } from './consent.ts';
import type { ApplyOptions } from './open.ts';
import { type Terminal, tell } from './terminal.ts';

const shownAddresses = 10;

export function showingCall(file: string, options: ApplyOptions, saved: SavedPlan | undefined): Call {
  const out = saved?.path ?? `${file.replace(/\.(ya?ml|json)$/i, '')}.plan.json`;
  return { ...call('plan', ...wordsOfPlan(options), '--out', out), file };
}

/** Applies a saved plan again, with its own options. */
export function applyingPlan({ path }: Pick<SavedPlan, 'path'>, ...words: string[]): Call {
  return { ...call('apply', ...words), file: path, bare: true };
}

interface WaitingContext {
  file: string;
  options: ApplyOptions;
  planned: Plan;
  outcomes: RunResult['outcomes'];
  saved?: SavedPlan;
  consent: Consent;
  terminal: Terminal;
}

/**
 * Returns the options of an `apply` that continues this one, without those that would buy or publish steps again or
 * start a new lock. `purchases`: purchases that still lack consent. If there are any, this run bought nothing.
 */
export function optionsLeft(
  { redo, new: _new, ...limits }: ApplyOptions,
  { purchases }: { purchases: readonly PlanRow[] },
): ApplyOptions {
  const isOpen = purchases.length > 0 && limits.publish !== true;
  return isOpen && redo !== undefined ? { ...limits, redo } : limits;
}

export function tellWaiting(carriedOut: Plan, context: WaitingContext): void {
  const { terminal } = context;
  tellHeld(carriedOut, terminal);
  tellAsked(carriedOut, context);
  tellPurchases(carriedOut, context);
  tellPosts(carriedOut, context);
  tellReplaced(carriedOut, context);
}

function tellReplaced({ rows }: Plan, { terminal, outcomes }: WaitingContext): void {
  const stale = rows.filter(
    ({ changedSince, reason }) =>
      changedSince === true && reason.follows?.some((address) => outcomes.get(address) === 'done') === true,
  );
  const [first] = stale;
  if (first === undefined) return;
  const text = `${countOf(stale.length, 'sent post')} ${stale.length === 1 ? 'keeps' : 'keep'} the earlier output: ${shortList(
    stale.map(({ address }) => address),
    shownAddresses,
  )}`;
  const again = terminal.paste(call('apply', '--redo', first.address, '--publish'));
  tellHead(terminal, text, [command('to replace a scheduled post, delete it at the service, then', again)], 'posted');
}

/** Returns the planned purchases that were not made, because the run only collected paid outputs. */
export function purchasesWaiting(carriedOut: Plan, planned: Plan): PlanRow[] {
  const held = new Set(carriedOut.rows.flatMap(({ address, reason }) => (reason.code === 'payer' ? [address] : [])));
  return planned.rows.filter((row) => held.has(row.address) && isBought(row));
}

export function postsWaiting(carriedOut: Plan, outcomes: RunResult['outcomes']): PlanRow[] {
  const isWaiting = (row: PlanRow) => row.blockedBy === 'consent' && row.post !== undefined && !isAskedAbout(row);
  return carriedOut.rows.filter((row) => isWaiting(row) && outcomes.get(row.address) !== 'unneeded');
}

function tellHead(terminal: Terminal, text: string, below: Document, label = 'waiting'): void {
  tell(terminal, facts([{ label: warning(label), text, below }]));
}

function tellPurchases(carriedOut: Plan, { file, options, planned, saved, consent, terminal }: WaitingContext): void {
  const waiting = purchasesWaiting(carriedOut, planned);
  if (waiting.length === 0) return;
  const limits = optionsLeft(options, { purchases: waiting });
  const flag = consent.flags === 'count' ? ' (or approve beforehand, with --yes)' : '';
  const posts = options.publish === true ? postsOf(carriedOut.rows, 'waiting').length : 0;
  const approval = saved === undefined ? showingCall(file, limits, saved) : approving(saved.path);
  tellHead(terminal, `${countOf(waiting.length, 'step')} for approval of ${spendText(sumPrices(waiting))}`, [
    posts === 0 ? undefined : line(`${countOf(posts, 'post')} ${posts === 1 ? 'waits' : 'wait'} for them`),
    command(`to have the payer approve them in an interactive terminal${flag}`, terminal.paste(approval)),
  ]);
}

function tellPosts(carriedOut: Plan, context: WaitingContext): void {
  const { file, options, planned, outcomes, saved, consent, terminal } = context;
  // With consent to publish, a post waits only for the steps that it needs.
  if (options.publish === true) return;
  const waiting = postsWaiting(carriedOut, outcomes).map((row) => withoutDoubt(row, outcomes));
  if (waiting.length === 0) return;
  const addresses = new Set(waiting.map(({ address }) => address));
  const shown = [...addresses].slice(0, shownAddresses).map((address) => safeText(address, 300));
  const more = addresses.size > shown.length ? ` … and ${addresses.size - shown.length} more` : '';
  const them = addresses.size === 1 ? 'it' : 'them';
  const named = new Set(options.redo?.flatMap((text) => text.split(/\s+/)));
  const redone = planned.rows.filter(
    (row) => publishes(row) && (row.action === 'redo' || named.has(row.address)) && addresses.has(row.address),
  );
  // Only the posts are redone, because all other steps of `--redo` have been bought again.
  const again = redone.flatMap(({ address }) => ['--redo', address]);
  const agree = options.yes === true ? ['--yes', '--publish'] : ['--publish'];
  const apply = saved === undefined ? call('apply', ...again, ...agree) : applyingPlan(saved, ...agree);
  // Steps that were bought again, or for a new lock, must not be bought once more.
  const { redo: _redo, new: _new, ...limits } = options;
  const showing = showingCall(file, limits, saved);
  const plan: Call = { ...showing, words: [...showing.words.slice(0, -2), ...again, ...showing.words.slice(-2)] };
  tellHead(terminal, `${postsText(postsOf(waiting, 'waiting'))}: publishing needs its own consent`, [
    line(`${shown.join(', ')}${more}`),
    command(`to have ${them} approved in an interactive terminal`, terminal.paste(plan)),
    consent.flags === 'count' ? command(`to publish ${them}`, terminal.paste(apply)) : undefined,
  ]);
}

/** Removes the mark `perhaps` from a post if this run made all its parts. */
function withoutDoubt(row: PlanRow, outcomes: RunResult['outcomes']): PlanRow {
  const { post, parts = [] } = row;
  if (post?.perhaps !== true || parts.some(({ of }) => outcomes.get(of) !== 'done')) return row;
  const { perhaps: _, ...target } = post;
  return { ...row, post: target };
}

const shownAsked = 5;

function tellHeld({ rows }: Plan, terminal: Terminal): void {
  const held = rows.filter(({ reason, beside }) => reason.code === 'post-open' && beside !== undefined);
  for (const [address = '', own] of [...groupBy(held, ({ beside }) => beside?.address)].slice(0, shownAsked)) {
    const what = `${countOf(own.length, 'post')} until a user has verified whether ${safeText(address, 200)} is published`;
    tellHead(terminal, what, [
      command('to record the result, with --job and its id, or --not-spent', terminal.paste(call('resolve', address))),
    ]);
  }
}

function tellAsked({ rows }: Plan, { terminal, consent }: WaitingContext): void {
  const asked = rows.filter(isAskedAbout);
  if (asked.length === 0) return;
  const publish = consent.flags === 'count' ? ['--publish'] : [];
  const lines = asked.slice(0, shownAsked).flatMap((row) => {
    const { address, beside } = row;
    if (beside === undefined) return [];
    return [
      sideBySide(row),
      command('  it is the same post', terminal.paste(call('move', beside.address, address))),
      command('  it is another post', terminal.paste(call('apply', '--redo', address, ...publish))),
    ];
  });
  const gone = [...new Set(asked.flatMap(({ beside }) => beside?.address ?? []))].slice(0, shownAsked);
  const them = asked.length === 1 ? 'it' : 'them';
  const head = `${countOf(asked.length, 'post')} that may be published already under another name: --publish does not cover ${them}`;
  tellHead(terminal, head, [
    ...lines,
    asked.length > shownAsked ? line(`… and ${countOf(asked.length - shownAsked, 'more post')}`) : undefined,
    command('the post was not renamed, only removed from the manifest', terminal.paste(call('forget', ...gone))),
  ]);
}

const shownGates = 10;

/**
 * Reports gates that block steps, or that are still open after a run that has done everything (`isDone`), and the next
 * steps: decide, continue with the page if one was served (`review`), or buy other outputs. `outcomes`: those of the
 * run's steps.
 */
export function tellOpenGates(
  { gates = [], rows }: Plan,
  terminal: Terminal,
  {
    review = false,
    isDone,
    outcomes,
  }: { review?: boolean | undefined; isDone: boolean; outcomes: ReadonlyMap<string, StepOutcome> },
): void {
  const against = gates.filter(isDecidedAgainst);
  if (against.length > 0) tellRejected(against, terminal);
  const waiting = rows.filter(({ blockedBy }) => blockedBy === 'gate').length;
  const isIdle = waiting === 0;
  const open = gates.filter((gate) => !isDecidedAgainst(gate) && (isIdle || gate.waiting > 0));
  // A gate that waits for another gate has no outputs yet, nor has a gate without a finished step.
  const hasEnded = (address: string) => (outcomes.get(address) ?? 'done') === 'done';
  const blocked = new Set(
    rows.flatMap(({ address, action }) => (action === 'blocked' || !hasEnded(address) ? [address] : [])),
  );
  const ready = open.filter(({ members }) => members.some((address) => !blocked.has(address)));
  if (ready.length === 0 || (isIdle && !isDone)) return;
  const undecided = ready.find(({ state }) => state !== 'rejected');
  const example = undecided?.members.find((address) => !blocked.has(address));
  const rejected = ready.filter(({ state }) => state === 'rejected').slice(0, shownGates);
  const isExample = rejected.length === 0 && ready.length > 1;
  const redo = (rejected.length > 0 ? rejected : [undecided ?? []].flat()).flatMap(({ is, name, members }) => [
    '--redo',
    is === 'canary' ? (members[0] ?? '') : name,
  ]);
  const buyOthers = command(
    `to buy others instead${isExample ? ', as in' : ''}`,
    terminal.paste(call('apply', ...redo)),
  );
  const names = ready.slice(0, shownGates).map((gate) => line(safeText(describeGate(gate), 300)));
  const more =
    ready.length > names.length ? line(`… and ${countOf(ready.length - names.length, 'more gate')}`) : undefined;
  const isOne = ready.length === 1;
  const behind = Math.min(
    waiting,
    ready.reduce((sum, gate) => sum + gate.waiting, 0),
  );
  const later = waiting - behind;
  const what = `${countOf(isIdle ? ready.length : behind, isIdle ? 'gate' : 'step')}`;
  const head = isIdle
    ? `${what} ${isOne ? 'is' : 'are'} open, and nothing waits for ${isOne ? 'it' : 'them'}`
    : `${what} until ${countOf(ready.length, 'gate')} ${isOne ? 'is' : 'are'} decided`;
  const others = open.length - ready.length;
  const after = others === 0 ? 'after that' : `for ${countOf(others, 'gate')} whose outputs are not made yet`;
  const text = later === 0 ? head : `${head}; ${countOf(later, 'more step')} ${after}`;
  const look = review
    ? command('to continue the review', terminal.paste(call('apply', '--review')))
    : command('to review them, and pick by keyboard', terminal.paste(call('review')));
  const ways =
    example === undefined
      ? []
      : [
          look,
          command('or to pick by name, as in', terminal.paste(call('pick', example))),
          isIdle ? undefined : command('then', terminal.paste(call('apply'))),
          rejected.length > 0 ? undefined : buyOthers,
        ];
  const below = [...names, more, rejected.length > 0 ? buyOthers : undefined, ...ways];
  tellHead(terminal, text, below, isIdle ? 'gates' : 'waiting');
}

type PlanGate = NonNullable<Plan['gates']>[number];

/** Whether everything was rejected, so that nothing waits for the gate. After a rejected canary, the others wait. */
function isDecidedAgainst({ is, state }: PlanGate): boolean {
  return state === 'rejected' && is !== 'canary';
}

function tellRejected(gates: readonly PlanGate[], terminal: Terminal): void {
  const shown = gates.slice(0, shownGates);
  const names = shown.map(({ name, note }) => line(safeText(`${name}${note === undefined ? '' : ` (${note})`}`, 300)));
  const more = gates.length - shown.length;
  const redo = shown.flatMap(({ name }) => ['--redo', name]);
  tellHead(
    terminal,
    `the outputs of ${countOf(gates.length, 'gate')}, so nothing is made from them`,
    [
      ...names,
      more === 0 ? undefined : line(`… and ${countOf(more, 'more gate')}`),
      command('to buy others', terminal.paste(call('apply', ...redo))),
    ],
    'rejected',
  );
}

function describeGate({ name, is, choose, members, state, picked, note }: PlanGate): string {
  const about = note === undefined ? '' : ` (${note})`;
  if (is === 'canary') return `${name}: ${members.join(', ')} ${state === 'rejected' ? 'rejected' : 'to be picked'}`;
  if (state === 'contested') return `${name}: ${picked.join(' and ')} are picked, but only ${choose} may be${about}`;
  return `${name}: ${is === 'approve' ? 'to be approved' : `${choose} of ${members.length} to be picked`}${about}`;
}
