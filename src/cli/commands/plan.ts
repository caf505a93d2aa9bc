import { requireCheckedGraph } from '../../campaign/checked-graph.ts';
import { lookAtPosts } from '../../campaign/look-at-posts.ts';
import { tellLostLock } from '../../campaign/lost-lock/lost-lock.ts';
import { makePlan } from '../../campaign/make-plan.ts';
import { requireLock } from '../../campaign/read-lock.ts';
import { savePlan } from '../../campaign/save-plan.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import { isWork } from '../../plan/actions.ts';
import { call } from '../../plan/advice.ts';
import type { Plan } from '../../plan/plan.ts';
import { inertText } from '../../report/github-commands.ts';
import { planJson } from '../../report/plan/plan-json.ts';
import { planMarkdown } from '../../report/plan/plan-markdown.ts';
import { planText } from '../../report/plan/plan-text.ts';
import { safeJson, safeText } from '../../report/safe-text.ts';
import type { PlanCommandOptions } from '../apply-options.ts';
import { open } from '../open.ts';
import { tellCredential } from '../tell-credential.ts';
import { findUnselected, tellUnselected } from '../tell-unselected.ts';
import type { Terminal } from '../terminal.ts';

/** The plan, from the manifest, the lock and the disk alone: no network, no key, nothing written but what `--out` asks for. */
export async function plan(file: string, options: PlanCommandOptions, terminal: Terminal): Promise<number> {
  refuseLonePictures(options);
  try {
    if (options.compare === undefined) return await planAlone(file, options, terminal);
    return await (await import('../compare-plan.ts')).comparePlan(file, options, terminal);
  } catch (error) {
    const isComment = options.format === 'markdown' && options.json !== true;
    if (isComment) (await import('../compare-plan.ts')).commentOnFailure(error, file, terminal);
    throw error;
  }
}

/** There is nothing to show pictures of but in a comment on what changes. */
function refuseLonePictures({ images, compare, format, json }: PlanCommandOptions): void {
  if (images === undefined || (compare !== undefined && format === 'markdown' && json !== true)) return;
  throw new CampaignError({
    code: 'MB3001',
    message: '--images is a picture for a comment on what changes',
    hint: 'give it with --compare REF and --format markdown',
    options: ['--images', '--compare', '--format'],
  });
}

async function planAlone(file: string, options: PlanCommandOptions, terminal: Terminal): Promise<number> {
  const campaign = await open(file, options, terminal);
  const { service, replays } = campaign;
  const checked = await requireCheckedGraph(campaign, { refresh: options.refresh });
  const { graph, facts, trace } = checked;
  const { lock } = await requireLock(campaign, service, options);
  const { plan: made, redo } = await makePlan(campaign, { graph, lock, facts, trace }, options);
  await tellLostLock(campaign, { graph, lock, plan: made, isNew: options.new === true });
  await lookAtPosts(made, campaign, { checked, asks: options.refresh === true });
  tellCredential(made, replays, terminal);
  if (options.out !== undefined) await savePlan(options.out, made, { file, options, graph, service, redo });
  const format = options.json ? 'json' : (options.format ?? 'text'); // I19
  switch (format) {
    case 'json':
      terminal.out(`${safeJson(planJson(made), 2)}\n`);
      break;
    case 'markdown':
      terminal.out(planMarkdown(made));
      break;
    case 'text': {
      const { outStyle: style, outWidth: width, github } = terminal;
      const text = planText(made, { style, width, all: options.all === true });
      terminal.out(github === undefined ? text : inertText(text));
      break;
    }
    default:
      format satisfies never;
  }
  if (options.out !== undefined) {
    // Planning records nothing: whoever applies says it again.
    const moved = options.serviceMoved === true ? ['--service-moved'] : [];
    const apply = { ...call('apply', ...moved), file: options.out, bare: true } as const;
    terminal.err(`${terminal.style.green('saved')}  ${safeText(options.out)}; apply it: ${terminal.paste(apply)}\n`);
  }
  const unselected = findUnselected(made, { options, graph, command: 'plan' });
  // A program has its answer: it is in the rows.
  tellUnselected(unselected, terminal, { ends: format !== 'json' });
  return options.detailedExitcode === true ? detailedExit(made) : exitCodes.done;
}

/** That the credits do not carry the plan is what a pipeline must not miss. */
function detailedExit({ rows }: Plan): number {
  if (rows.some(({ blockedBy }) => blockedBy === 'budget')) return exitCodes.outOfCredits;
  return rows.some(isWork) ? exitCodes.changesPending : exitCodes.done;
}
