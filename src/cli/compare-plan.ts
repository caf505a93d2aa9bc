import { relative, resolve, sep } from 'node:path';
import { requireCheckedGraph } from '../campaign/checked-graph.ts';
import { compareWithCommit } from '../campaign/compare-with-commit.ts';
import { makePlan } from '../campaign/make-plan.ts';
import { findGiven, flagOf, type OptionRow } from '../campaign/option-table.ts';
import { Session } from '../campaign/session.ts';
import { systemClock } from '../contract/clock.ts';
import { exitCodes } from '../contract/exit.ts';
import { CampaignError, failureOf, failures } from '../contract/failure.ts';
import { repositoryOf } from '../disk/fs/own-tree.ts';
import {
  commentMarker,
  compareJson,
  compareMarkdown,
  compareText,
  failureMarkdown,
  isSame,
} from '../report/plan/compare-text.ts';
import { planMarkdown } from '../report/plan/plan-text.ts';
import { type ApplyOptions, open } from './open.ts';
import { formOf, outAs, type Terminal } from './terminal.ts';

/**
 * Runs `plan --compare`: shows the changes of the working tree relative to a commit. Nothing is sent, written or
 * checked out.
 */
export async function comparePlan(file: string, options: ApplyOptions, terminal: Terminal): Promise<number> {
  refuseOthers(options);
  const campaign = await open(file, options, terminal);
  const { compare: ref = '', refresh, serviceMoved } = options;
  const checked = await requireCheckedGraph(campaign, { refresh });
  const exitOf = (differs: boolean, missing = 0) => {
    if (options.detailedExitcode !== true || !differs) return exitCodes.done;
    return missing > 0 ? exitCodes.outOfCredits : exitCodes.changesPending;
  };
  try {
    const view = await compareWithCommit(campaign, checked, { ref, serviceMoved });
    const { outStyle: style, outWidth: width } = terminal;
    await outAs(terminal, options, {
      text: () => compareText(view, { style, width, all: options.all === true }),
      markdown: () => compareMarkdown(view, { path: pathInTree(file) }),
      json: () => compareJson(view),
    });
    return exitOf(!isSame(view), view.fit?.missing);
  } catch (error) {
    if (formOf(options) !== 'markdown' || !isUnusableThere(error)) throw error;
    const terms = { graph: checked.graph, service: campaign.service, serviceMoved };
    const { plan } = await makePlan(await Session.open(campaign, terms), checked, {});
    const marker = commentMarker(pathInTree(file));
    terminal.out(planMarkdown(plan, { marker, unlike: error.failure.message, now: systemClock.now() }));
    return exitOf(true, plan.totals.fit?.missing);
  }
}

/** Whether the commit has no usable campaign: it is new, or had errors there. The comment is written anyway. */
function isUnusableThere(error: unknown): error is CampaignError {
  return error instanceof CampaignError && error.failure.code === 'MB3604';
}

export function commentOnFailure(error: unknown, file: string, { out, paste }: Terminal): void {
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
    hint: `remove one of them; \`plan\` without --compare accepts ${first}`,
    options: ['--compare', first],
  });
}
