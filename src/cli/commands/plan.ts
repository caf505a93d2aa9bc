import { relative, resolve, sep } from 'node:path';
import { requireCheckedGraph } from '../../campaign/checked-graph.ts';
import { findGiven, flagOf, type OptionRow } from '../../campaign/option-table.ts';
import { showPlan } from '../../campaign/plan.ts';
import { savePlan } from '../../campaign/saved-plan.ts';
import { systemClock } from '../../contract/clock.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError, failureOf, failures } from '../../contract/failure.ts';
import { repositoryOf } from '../../disk/fs/own-tree.ts';
import { call } from '../../ground/advice.ts';
import { isWork, publishes } from '../../plan/actions.ts';
import { isBought } from '../../plan/consent.ts';
import type { Plan } from '../../plan/plan.ts';
import {
  commentMarker,
  compareJson,
  compareMarkdown,
  compareText,
  failureMarkdown,
  isSame,
} from '../../report/plan/compare-text.ts';
import { planJson } from '../../report/plan/plan-json.ts';
import { planMarkdown, planText } from '../../report/plan/plan-text.ts';
import { inertText, safeText } from '../../report/safe-text.ts';
import { approving, consentIn } from '../consent.ts';
import { type ApplyOptions, open, printSandboxLock } from '../open.ts';
import { warnCredential, warnUnselected } from '../plan-notices.ts';
import { formOf, outAs, type Terminal } from '../terminal.ts';
import { endStage } from '../timing.ts';

/** Shows the plan from manifest, lock and local files. Sends no request. Writes only the `--out` file. */
export async function plan(file: string, options: ApplyOptions, terminal: Terminal): Promise<number> {
  try {
    if (options.compare === undefined) return await planAlone(file, options, terminal);
    return await comparePlan(file, options, terminal);
  } catch (error) {
    if (formOf(options) === 'markdown') commentOnFailure(error, file, terminal);
    throw error;
  }
}

async function planAlone(file: string, options: ApplyOptions, terminal: Terminal): Promise<number> {
  endStage('load');
  const campaign = await open(file, options, terminal);
  const checked = await requireCheckedGraph(campaign, { refresh: options.refresh });
  endStage('graph');
  const { graph } = checked;
  const { plan: made, redo } = await showPlan(campaign, checked, { ...options, asks: options.refresh === true });
  endStage('plan');
  warnCredential(made, campaign.replays, terminal);
  printSandboxLock(campaign, options, terminal);
  if (options.out !== undefined) await savePlan(options.out, made, { campaign, graph, options, redo });
  // I19
  await outAs(terminal, options, {
    text: () => textOf(made, options, terminal),
    markdown: () => planMarkdown(made, { now: systemClock.now() }),
    json: async () => {
      const { nextOfPlan } = await import('../next-steps.ts');
      return planJson(made, { next: nextOfPlan(made, { file, options, terminal }) });
    },
  });
  if (options.out !== undefined) {
    // `plan` does not record the new address of the service, so `apply` needs `--service-moved`, too.
    const moved = options.serviceMoved === true ? ['--service-moved'] : [];
    const apply = { ...call('apply', ...moved), file: options.out, bare: true } as const;
    const { flags } = consentIn(process.env, { sandbox: options.sandbox === true });
    const isForPerson = flags === 'ignored' && made.rows.some((row) => isBought(row) || publishes(row));
    const way = isForPerson
      ? `to have a user approve it: ${terminal.paste(approving(options.out))}`
      : `apply it: ${terminal.paste(apply)}`;
    terminal.err(`${terminal.style.green('saved')}  ${safeText(options.out)}; ${way}\n`);
  }
  // With `--json`, the rows of the plan show which steps cannot run.
  warnUnselected(made, { options, terminal, ends: formOf(options) !== 'json' });
  return options.detailedExitcode === true ? detailedExit(made) : exitCodes.done;
}

function textOf(made: Plan, options: ApplyOptions, terminal: Terminal): string {
  const { outStyle: style, outWidth: width, github } = terminal;
  const text = planText(made, {
    ...{ style, width, now: systemClock.now() },
    ...{ all: options.all === true, isRehearsal: options.sandbox === true },
  });
  return github === undefined ? text : inertText(text);
}

/** Returns the exit code of `--detailed-exitcode`. `outOfCredits` takes precedence over `changesPending`. */
function detailedExit({ rows, totals }: Plan): number {
  const isShort = (totals.fit?.missing ?? 0) > 0;
  if (isShort || rows.some(({ blockedBy }) => blockedBy === 'budget')) return exitCodes.outOfCredits;
  return rows.some(isWork) ? exitCodes.changesPending : exitCodes.done;
}

async function comparePlan(file: string, options: ApplyOptions, terminal: Terminal): Promise<number> {
  refuseOthers(options);
  const campaign = await open(file, options, terminal);
  const { compare: ref = '', refresh, serviceMoved } = options;
  const checked = await requireCheckedGraph(campaign, { refresh });
  const exitOf = (differs: boolean, missing = 0) => {
    if (options.detailedExitcode !== true || !differs) return exitCodes.done;
    return missing > 0 ? exitCodes.outOfCredits : exitCodes.changesPending;
  };
  try {
    const { compareWithCommit } = await import('../../campaign/compare-with-commit.ts');
    const view = await compareWithCommit(campaign, checked, { ref, serviceMoved });
    const { outStyle: style, outWidth: width } = terminal;
    await outAs(terminal, options, {
      text: () => compareText(view, { style, width, all: options.all === true }),
      markdown: () => compareMarkdown(view, { path: pathInTree(file) }),
      json: () => compareJson(view),
    });
    return exitOf(!isSame(view), view.fit?.missing);
  } catch (error) {
    const failure = failureOf(error);
    // If the commit lacks the campaign, or the campaign had errors, the comment shows the plan without a comparison.
    if (formOf(options) !== 'markdown' || failure?.code !== 'MB3604') throw error;
    const { plan } = await showPlan(campaign, checked, { serviceMoved });
    const marker = commentMarker(pathInTree(file));
    terminal.out(planMarkdown(plan, { marker, unlike: failure.message, now: systemClock.now() }));
    return exitOf(true, plan.totals.fit?.missing);
  }
}

function commentOnFailure(error: unknown, file: string, { out, paste }: Terminal): void {
  const failure = failureOf(error);
  if (failure === undefined || failures[failure.code].exit !== exitCodes.wrongInput) return;
  out(failureMarkdown(failure, { path: pathInTree(file), paste }));
}

function pathInTree(file: string): string {
  const path = resolve(file);
  const repository = repositoryOf(path);
  return (repository === undefined ? file : relative(repository, path)).replaceAll(sep, '/');
}

function refuseOthers(options: ApplyOptions): void {
  const isRefused = ({ settles, compared }: OptionRow) =>
    (compared ?? (settles === 'plan' ? 'refused' : 'ignored')) === 'refused';
  const [given] = findGiven(options, isRefused);
  if (given === undefined) return;
  const first = flagOf(given.row);
  throw new CampaignError({
    code: 'MB3000',
    message: `--compare cannot be combined with ${first}: it compares two versions of a whole campaign`,
    hint: `remove --compare or ${first}`,
    options: ['--compare', first],
  });
}
