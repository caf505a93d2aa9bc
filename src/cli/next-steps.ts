import { wordsOfPlan } from '../campaign/option-table.ts';
import type { RunResult } from '../campaign/run.ts';
import type { SavedPlan } from '../campaign/saved-plan.ts';
import type { StepOutcome } from '../contract/event.ts';
import { type ExitAnswers, exitCodes } from '../contract/exit.ts';
import type { NextStep } from '../contract/failure.ts';
import { type Call, call } from '../ground/advice.ts';
import { groupBy } from '../ground/values.ts';
import { hasWork, publishes } from '../plan/actions.ts';
import { isBought, postsOf } from '../plan/consent.ts';
import { addressOf, type Plan, type PlanRow, type PlanTotals } from '../plan/plan.ts';
import { isAskedAbout } from '../plan/posts/post-record.ts';
import { sumPrices } from '../plan/sum-up.ts';
import { failureGithub } from '../report/diagnostics/diagnostics-text.ts';
import { command, type Document, facts, line, warning } from '../report/document.ts';
import { countOf } from '../report/numbers.ts';
import { postsText, sideBySide, spendText } from '../report/plan/plan-facts.ts';
import type { RunView } from '../report/run/run-view.ts';
import { wayOn } from '../report/run/summary-text.ts';
import { safeText, shortList } from '../report/safe-text.ts';
import type { StatusView } from '../report/status/status.ts';
import { approving, type Consent } from './consent.ts';
import type { ApplyOptions } from './open.ts';
import { print, type Terminal } from './terminal.ts';

interface Context {
  file: string;
  options: ApplyOptions;
  saved?: SavedPlan | undefined;
  terminal: Terminal;
}

/** Returns the `plan` command that saves the plan for review and approval. */
export function showingCall(file: string, options: ApplyOptions, saved: SavedPlan | undefined): Call {
  const out = saved?.path ?? `${file.replace(/\.(ya?ml|json)$/i, '')}.plan.json`;
  return { ...call('plan', ...wordsOfPlan(options), '--out', out), file };
}

export function applyingPlan({ path }: Pick<SavedPlan, 'path'>, ...words: string[]): Call {
  return { ...call('apply', ...words), file: path, bare: true };
}

/**
 * Returns the options for the next `apply`, without those that would create steps again. `purchases`: steps that still
 * need approval. If any do, this run created no job.
 */
function optionsLeft({ redo, new: _new, ...limits }: ApplyOptions, purchases: readonly PlanRow[]): ApplyOptions {
  const isOpen = purchases.length > 0 && limits.publish !== true;
  return isOpen && redo !== undefined ? { ...limits, redo } : limits;
}

function purchasesWaiting(carriedOut: Plan, planned: Plan): PlanRow[] {
  const held = new Set(carriedOut.rows.flatMap(({ address, reason }) => (reason.code === 'payer' ? [address] : [])));
  return planned.rows.filter((row) => held.has(row.address) && isBought(row));
}

function postsWaiting(carriedOut: Plan, outcomes: RunResult['outcomes']): PlanRow[] {
  const isWaiting = (row: PlanRow) => row.blockedBy === 'consent' && row.post !== undefined && !isAskedAbout(row);
  return carriedOut.rows.filter((row) => isWaiting(row) && outcomes.get(row.address) !== 'unneeded');
}

interface EndedRun extends Context {
  planned: Plan;
  carriedOut: Plan;
  result: Pick<RunResult, 'exit' | 'outcomes'>;
  consent: Consent;
}

const most = 10;

function report({ terminal }: Context, label: string, text: string, below: Document): void {
  print(terminal, facts([{ label: warning(label), text, below }]));
}

export function printNextSteps(run: EndedRun, view: Pick<RunView, 'stopped'>): void {
  if (view.stopped === undefined) printLimited(run);
  printReserved(run);
  printUnresolved(run);
  printPurchases(run);
  printPosts(run);
  printGates(run);
}

function printLimited({ carriedOut: { rows }, options, result, terminal }: EndedRun): void {
  const limited = rows.filter(({ blockedBy }) => blockedBy === 'budget');
  const [first] = limited;
  if (first === undefined || result.exit !== exitCodes.outOfCredits) return;
  const because = first.reason.code === 'limit' ? 'limit' : 'budget';
  if (options.quiet !== true) print(terminal, ...wayOn({ because, detail: '' }, { paste: terminal.paste }));
  const title = `exit ${result.exit}`;
  terminal.github?.(failureGithub(title, [`${countOf(limited.length, 'step')} blocked: ${first.reason.text}`]));
}

function printReserved(run: EndedRun): void {
  const { rows } = run.carriedOut;
  const held = rows.filter(({ reason, beside }) => reason.code === 'post-open' && beside !== undefined);
  for (const [address = '', own] of [...groupBy(held, ({ beside }) => beside?.address)].slice(0, most)) {
    const what = `${countOf(own.length, 'post')} until a user has verified whether ${safeText(address, 200)} is published`;
    const resolve = run.terminal.paste(call('resolve', address));
    report(run, 'waiting', what, [
      command('to record the result, with --job and the id of the post, or --not-spent', resolve),
    ]);
  }
}

function printUnresolved(run: EndedRun): void {
  const { carriedOut, consent, terminal } = run;
  const asked = carriedOut.rows.filter(isAskedAbout);
  if (asked.length === 0) return;
  const publish = consent.flags === 'count' ? ['--publish'] : [];
  const shown = asked.slice(0, most);
  const lines = shown.flatMap((row) => {
    const { address, beside } = row;
    if (beside === undefined) return [];
    return [
      sideBySide(row),
      command('  if it is the same post', terminal.paste(call('move', beside.address, address))),
      command('  if it is a different post', terminal.paste(call('apply', '--redo', address, ...publish))),
    ];
  });
  const gone = [...new Set(shown.flatMap(({ beside }) => beside?.address ?? []))];
  const head = `${countOf(asked.length, 'post')} that may be published already under another name: --publish does not cover ${asked.length === 1 ? 'it' : 'them'}`;
  report(run, 'waiting', head, [
    ...lines,
    command(
      'if the published post was not renamed, but removed from the manifest',
      terminal.paste(call('forget', ...gone)),
    ),
  ]);
}

function printPurchases(run: EndedRun): void {
  const { file, options, planned, carriedOut, saved, consent, terminal } = run;
  const waiting = purchasesWaiting(carriedOut, planned);
  if (waiting.length === 0) return;
  const flag = consent.flags === 'count' ? ' (or add --yes if the payer has already approved)' : '';
  const posts = options.publish === true ? postsOf(carriedOut.rows, 'waiting').length : 0;
  const approval =
    saved === undefined ? showingCall(file, optionsLeft(options, waiting), saved) : approving(saved.path);
  report(run, 'waiting', `${countOf(waiting.length, 'step')} for approval of ${spendText(sumPrices(waiting))}`, [
    posts === 0 ? undefined : line(`${countOf(posts, 'post')} ${posts === 1 ? 'waits' : 'wait'} for these steps`),
    command(`to have the payer approve the steps in an interactive terminal${flag}`, terminal.paste(approval)),
  ]);
}

function printPosts(run: EndedRun): void {
  const { file, options, planned, carriedOut, result, saved, consent, terminal } = run;
  // An approved post waits only for the steps that it depends on.
  if (options.publish === true) return;
  const waiting = postsWaiting(carriedOut, result.outcomes);
  if (waiting.length === 0) return;
  const addresses = new Set(waiting.map(({ address }) => address));
  const them = addresses.size === 1 ? 'the post' : 'the posts';
  const named = new Set(options.redo?.flatMap((text) => text.split(/\s+/)));
  // Only posts are redone, because this run has already redone the other steps.
  const again = planned.rows
    .filter((row) => publishes(row) && (row.action === 'redo' || named.has(row.address)) && addresses.has(row.address))
    .flatMap(({ address }) => ['--redo', address]);
  const agree = options.yes === true ? ['--yes', '--publish'] : ['--publish'];
  const apply = saved === undefined ? call('apply', ...again, ...agree) : applyingPlan(saved, ...agree);
  // Steps that `--redo` or `--new` created must not be created once more.
  const { redo: _redo, new: _new, ...limits } = options;
  const showing = showingCall(file, limits, saved);
  const plan: Call = { ...showing, words: [...showing.words.slice(0, -2), ...again, ...showing.words.slice(-2)] };
  report(run, 'waiting', `${postsText(postsOf(waiting, 'waiting'))}: publishing needs its own consent`, [
    line(shortList([...addresses], most)),
    command(`to have ${them} approved in an interactive terminal`, terminal.paste(plan)),
    consent.flags === 'count' ? command(`to publish ${them}`, terminal.paste(apply)) : undefined,
  ]);
}

type PlanGate = NonNullable<Plan['gates']>[number];

function printGates(run: EndedRun): void {
  const { carriedOut, terminal, options, result } = run;
  const { gates = [], rows } = carriedOut;
  const buyOthers = (to: string, some: readonly PlanGate[]) => {
    const redo = some.map(({ is, name, members: [first = name] }) => (is === 'canary' ? first : name));
    return command(to, terminal.paste(call('apply', ...redo.slice(0, most).flatMap((name) => ['--redo', name]))));
  };
  const list = (some: readonly PlanGate[], lineOf: (gate: PlanGate) => string) =>
    some.slice(0, most).map((gate) => {
      const note = gate.note === undefined ? '' : ` (${gate.note})`;
      return line(safeText(`${lineOf(gate)}${note}`, 300));
    });
  const rejected = gates.filter(({ state }) => state === 'rejected');
  if (rejected.length > 0) {
    report(run, 'rejected', `the outputs of ${countOf(rejected.length, 'gate')}, so no step uses these outputs`, [
      ...list(rejected, ({ name }) => name),
      buyOthers('to buy replacements', rejected),
    ]);
  }
  const waiting = rows.filter(({ blockedBy }) => blockedBy === 'gate').length;
  const blocked = new Set(rows.flatMap(({ address, action }) => (action === 'blocked' ? [address] : [])));
  const isMade = (address: string) => !blocked.has(address) && (result.outcomes.get(address) ?? 'done') === 'done';
  // A gate has no outputs yet if it waits for another gate or none of its steps has finished.
  const open = gates.filter(
    (gate) => gate.state !== 'rejected' && (waiting === 0 || gate.waiting > 0) && gate.members.some(isMade),
  );
  const [first] = open;
  if (first === undefined || (waiting === 0 && result.exit !== exitCodes.done)) return;
  const head =
    waiting === 0
      ? `${countOf(open.length, 'gate')} ${open.length === 1 ? 'is' : 'are'} open, and no step waits for a pick`
      : `${countOf(waiting, 'step')} until outputs are picked`;
  const review = options.review === true ? call('apply', '--review') : call('review');
  report(run, waiting === 0 ? 'gates' : 'waiting', head, [
    ...list(open, describeGate),
    command('to review the outputs, and pick by keyboard', terminal.paste(review)),
    command('or to pick by name, as in', terminal.paste(call('pick', first.members.find(isMade) ?? first.name))),
    waiting === 0 ? undefined : command('then', terminal.paste(call('apply'))),
    buyOthers('to buy replacements instead, as in', [first]),
  ]);
}

function describeGate({ name, is, choose, members, state, picked }: PlanGate): string {
  if (is === 'canary') return `${name}: ${members.join(', ')} to be picked`;
  if (state === 'contested') return `${name}: ${picked.join(' and ')} are picked, but only ${choose} may be picked`;
  return `${name}: ${is === 'approve' ? 'to be approved' : `${choose} of ${members.length} to be picked`}`;
}

export function nextOfPlan(plan: Plan, context: Context): NextStep[] {
  const step = stepsFor(context.terminal);
  const look = hasSomethingToPick(plan) ? [step(call('review'), { needs: 'person' })] : [];
  const publishing = plan.rows.some(publishes);
  if (!publishing && !plan.rows.some(isBought)) return [...(hasWork(plan) ? [step(call('apply'))] : []), ...look];
  return [...agreeing({ credits: mostOf(plan.totals), publishing }, context), ...look];
}

function agreeing(
  { credits, publishing }: { credits: number | null; publishing: boolean },
  { file, options, saved, terminal }: Context,
): NextStep[] {
  const step = stepsFor(terminal);
  if (options.sandbox === true)
    return [step(call('apply', '--yes', ...(publishing ? ['--publish'] : [])), { credits })];
  const saving = showingCall(file, options, saved);
  const path = options.out ?? saving.words.at(-1) ?? '';
  return [
    ...(options.out === undefined ? [step(saving)] : []),
    step(approving(path), { needs: 'person' }),
    step(applyingPlan({ path }), { credits }),
  ];
}

export function nextOfRun(run: EndedRun, view: Pick<RunView, 'stepsByAddress' | 'stopped'>): NextStep[] {
  const { planned, carriedOut, result, options, saved, terminal } = run;
  const { exit, outcomes } = result;
  const step = stepsFor(terminal);
  const endsAs = (...wanted: StepOutcome[]) => [...outcomes].filter(([, outcome]) => wanted.includes(outcome));
  const unresolved = endsAs('unresolved').map(([id]) => id);
  // With `--on-unknown hold`, another `apply` recovers no lost answers.
  const isRecoverable = (id: string) =>
    options.onUnknown !== 'hold' && view.stepsByAddress.get(id)?.recoverable === true;
  const [asked] = [
    ...unresolved.filter((id) => !isRecoverable(id)).map(addressOf),
    ...carriedOut.rows.flatMap(({ action, address }) => (action === 'unresolved' ? [address] : [])),
  ];
  const goesOn = unresolved.some(isRecoverable) || endsAs('running', 'lost', 'left').length > 0;
  const isLimited = view.stopped?.because === 'limit' || view.stopped?.because === 'budget';
  const again = saved !== undefined && exit === exitCodes.interrupted ? applyingPlan(saved) : call('apply');
  const purchases = purchasesWaiting(carriedOut, planned);
  const posts = postsWaiting(carriedOut, outcomes);
  const open = { credits: mostOf(sumPrices(purchases)), publishing: posts.length > 0 };
  const waitsForPicks = hasSomethingToPick(carriedOut, outcomes);
  const isOver =
    carriedOut.rows.every(({ action, blockedBy }) => action !== 'failed' && blockedBy !== 'budget') &&
    endsAs('failed', 'refused').length === 0;
  return [
    ...(asked === undefined ? [] : [step(call('explain', asked), { needs: 'person' })]),
    ...(view.stopped?.because === 'auth' ? [step(call('doctor'))] : []),
    // Only a user can raise a budget or a credit limit.
    ...(goesOn ? [step(again, isLimited ? { needs: 'person' } : {})] : []),
    ...(purchases.length + posts.length === 0
      ? []
      : agreeing(open, { ...run, options: optionsLeft(options, purchases) })),
    ...(waitsForPicks ? [step(call('review'), { needs: 'person' })] : []),
    ...(isOver && !waitsForPicks ? [] : [step(call('plan', '--json'))]),
  ];
}

/** Returns the next commands, whether `apply` can be repeated, whether a user must act, and what was paid. */
export function nextOfStatus(
  { tasks, rows, gates = [], credits: { spent, held, heldUnknown } }: StatusView,
  terminal: Terminal,
): ExitAnswers & { next: NextStep[] } {
  const step = stepsFor(terminal);
  const has = (...states: (keyof StatusView['tasks'][number]['states'])[]) =>
    tasks.some((task) => states.some((state) => task.states[state] > 0));
  const asked = rows.find(({ state, recoverable }) => state === 'unresolved' && recoverable !== true);
  const isPaid =
    has('running', 'lost') ||
    rows.some(({ recoverable }) => recoverable) ||
    tasks.some((task) => task.filesMissing > 0);
  const next = [
    ...(asked === undefined ? [] : [step(call('explain', asked.address), { needs: 'person' })]),
    ...(isPaid ? [step(call('apply'))] : []),
    ...(gates.length === 0 ? [] : [step(call('review'), { needs: 'person' })]),
    ...(has('not-bought', 'changed', 'failed') ? [step(call('plan', '--json'))] : []),
  ];
  return {
    again: isPaid ? 'same' : next.length > 0 ? 'changed' : 'never',
    person: next.some(({ needs }) => needs === 'person') || has('failed'),
    paid: held + heldUnknown > 0 || has('unresolved') ? 'perhaps' : spent > 0 ? 'recorded' : 'nothing',
    next,
  };
}

function stepsFor({ paste }: Terminal) {
  return (run: Call, { credits = 0, needs = null }: Partial<Omit<NextStep, 'command'>> = {}): NextStep => ({
    command: paste(run),
    credits,
    needs,
  });
}

function hasSomethingToPick({ gates = [], rows }: Plan, outcomes?: RunResult['outcomes']): boolean {
  const made = rows.filter(({ address, action }) => action === 'keep' || outcomes?.get(address) === 'done');
  const addresses = new Set(made.map(({ address }) => address));
  return gates.some(({ members }) => members.some((address) => addresses.has(address)));
}

function mostOf({ toSpend, ceiling }: Pick<PlanTotals, 'toSpend' | 'ceiling'>): number | null {
  return toSpend === null ? null : ceiling;
}
