import { requireCheckedGraph } from '../campaign/checked-graph.ts';
import { compareWithCommit } from '../campaign/compare-with-commit.ts';
import { exitCodes } from '../contract/exit.ts';
import { CampaignError } from '../contract/failure.ts';
import { compareJson, compareMarkdown, compareText } from '../report/plan/compare-text.ts';
import { safeJson } from '../report/safe-text.ts';
import type { PlanCommandOptions } from './apply-options.ts';
import { open } from './open.ts';
import type { Terminal } from './terminal.ts';

/** `plan --compare`: what the working tree changes as seen from a commit. Nothing is sent, written or checked out. */
export async function comparePlan(file: string, options: PlanCommandOptions, terminal: Terminal): Promise<number> {
  refuseOthers(options);
  const campaign = await open(file, options, terminal);
  const { compare: ref = '', refresh, serviceMoved } = options;
  const checked = await requireCheckedGraph(campaign, { refresh });
  const view = await compareWithCommit(campaign, checked, { ref, serviceMoved });
  const format = options.json ? 'json' : (options.format ?? 'text');
  const style = terminal.outStyle;
  switch (format) {
    case 'json':
      terminal.out(`${safeJson(compareJson(view), 2)}\n`);
      break;
    case 'markdown':
      terminal.out(compareMarkdown(view));
      break;
    case 'text':
      terminal.out(compareText(view, { style, width: terminal.outWidth, all: options.all === true }));
      break;
    default:
      format satisfies never;
  }
  return exitCodes.done;
}

/** Options that are about what a run would do. */
const aboutRun = {
  out: '--out',
  redo: '--redo',
  select: '--select',
  exclude: '--exclude',
  maxCredits: '--max-credits',
  first: '--first',
  sample: '--sample',
  detailedExitcode: '--detailed-exitcode',
} as const;

function refuseOthers(options: PlanCommandOptions): void {
  const given = (Object.keys(aboutRun) as (keyof typeof aboutRun)[]).filter((name) => options[name] !== undefined);
  const [first] = given.map((name) => aboutRun[name]);
  if (first === undefined) return;
  throw new CampaignError({
    code: 'MB3001',
    message: `--compare shows two versions of a whole campaign, and ${first} is about one run`,
    hint: `leave one of them out; \`plan\` without --compare takes ${first}`,
    options: ['--compare', first],
  });
}
