import { join, relative } from 'node:path';
import { findApproval } from '../campaign/approvals.ts';
import type { OpenCampaign } from '../campaign/open-campaign.ts';
import { nameOfPerson } from '../campaign/person.ts';
import { openSavedPlan, type SavedPlan } from '../campaign/saved-plan.ts';
import { usualValidMs } from '../contract/approval.ts';
import { systemClock } from '../contract/clock.ts';
import { CampaignError } from '../contract/failure.ts';
import type { PlanDesk, PlanToApprove } from '../contract/review.ts';
import { safeText } from '../report/safe-text.ts';
import { makeStyle } from '../report/style.ts';
import { programIn } from './consent.ts';
import { open } from './open.ts';
import { savedPlansIn, sayYes, shownWidth, showPlan } from './saved-plans.ts';
import type { Terminal } from './terminal.ts';

/**
 * The saved plans beside a manifest that a person may approve on the review page of its lock. Undefined where a program may
 * have started the page: it would know the address, and could press the button itself.
 */
export function openPlanDesk(
  { paths }: Pick<OpenCampaign, 'paths'>,
  terminal: Terminal,
  env: NodeJS.ProcessEnv,
): PlanDesk | undefined {
  if (!terminal.interactive || programIn(env) !== undefined) return undefined;
  return {
    async list() {
      const plans: PlanToApprove[] = [];
      for (const name of await savedPlansIn(paths.folder)) {
        const found = await readPlan(relative('', join(paths.folder, name)), paths.lock, terminal).catch(orNone);
        if (found !== undefined) plans.push(found.shown);
      }
      return plans;
    },
    async approve({ path, digest, what }) {
      const found = await readPlan(path, paths.lock, terminal);
      // The same file buys something else once another run has paid for a part of it.
      if (found?.shown.digest !== digest || found.shown.what !== what) throw changed(path);
      const by = await nameOfPerson(paths.folder);
      const until = systemClock.now() + usualValidMs;
      const counts = await sayYes(found.saved, { lock: paths.lock, what, by, until }, terminal);
      terminal.err(`${terminal.style.green('approved')} on the page: ${safeText(path)}, ${safeText(what, 500)}\n`);
      return `approved ${counts}`;
    },
  };
}

/** A plan as a person is to see it. Undefined: it is none, is for another lock, takes no yes, or has one. */
async function readPlan(
  path: string,
  lock: string,
  terminal: Terminal,
): Promise<{ saved: SavedPlan; shown: PlanToApprove } | undefined> {
  const saved = await openSavedPlan(path);
  if (saved === undefined) return undefined;
  // What is wrong with its campaign is told by whoever plans or applies.
  const campaign = await open(saved.manifest, saved.options, { ...terminal, err: () => undefined });
  if (campaign.paths.lock !== lock) return undefined;
  const { plan, text, what } = await showPlan(saved, campaign, { style: makeStyle(false), width: shownWidth });
  if (what === undefined) return undefined;
  const approved = await findApproval(saved, { plan, campaign, now: systemClock.now() });
  if (approved.is === 'approved') return undefined;
  return { saved, shown: { path, digest: saved.digest, text, what } };
}

function orNone(error: unknown): undefined {
  // It is stale, or not whole: it says so where somebody names it.
  if (error instanceof CampaignError) return undefined;
  throw error;
}

function changed(path: string): CampaignError {
  return new CampaignError({
    code: 'MB3102',
    message: `${safeText(path)} is not what was shown, and nothing was approved`,
    hint: 'load the page again: it shows the plan as it is now',
    file: path,
  });
}
