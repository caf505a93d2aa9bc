import type { Decided, DecideOptions } from '../../campaign/decide.ts';
import { adopt as adoptJobs, importStep, resolve, type Searched } from '../../campaign/decisions/adopt.ts';
import { pickFrom, pick as pickOutputs, reject, unpick } from '../../campaign/decisions/judge.ts';
import { accept, forget, move, pin, unpin } from '../../campaign/decisions/steps.ts';
import type { OpenCampaign } from '../../campaign/open-campaign.ts';
import { nameInGit } from '../../campaign/person.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import { call, way } from '../../ground/advice.ts';
import { defined } from '../../ground/values.ts';
import type { Finding } from '../../plan/decisions/resolve-purchase.ts';
import type { Ruling } from '../../plan/decisions/ruling.ts';
import { command } from '../../report/document.ts';
import { countOf } from '../../report/numbers.ts';
import { candidatesView, rulingsJson, rulingsView } from '../../report/plan/rulings-text.ts';
import { safeText } from '../../report/safe-text.ts';
import { askAboutMove, askPerson, declined } from '../consent.ts';
import { type Flags, open, type StateOptions, type Texts } from '../open.ts';
import { outJson, print, type Terminal } from '../terminal.ts';

type SharedOptions = StateOptions & Flags<'dryRun' | 'json' | 'undo'> & { lockTimeout: number; select?: string[] };
type PickOptions = Texts<'note' | 'by' | 'reason' | 'from'> & Flags<'replace'>;
type ForgetOptions = Flags<'orphans' | 'force'>;
type JobOptions = Texts<'job'> & { credits?: number };
type AdoptOptions = JobOptions & Flags<'offline' | 'yes' | 'serviceMoved'>;
type ResolveOptions = JobOptions & Texts<'send'> & Flags<'notSpent' | 'spendAgain'>;

interface Called {
  campaign: OpenCampaign;
  words: string[];
  chosen: { names: string[]; select: string[] | undefined };
  /** Options of all decision commands. Each command accepts only the options that `program/` lists for it. */
  options: SharedOptions & PickOptions & ForgetOptions & AdoptOptions & ResolveOptions;
  shared: DecideOptions;
  terminal: Terminal;
}

/** `unpick` and `unpin` are `pick --undo` and `pin --undo`. */
const verbs = {
  pick,
  reject: async (called: Called) => reject(called.campaign, called.chosen, await withWords(called)),
  unpick: ({ campaign, chosen, shared }: Called) => unpick(campaign, chosen, shared),
  accept: ({ campaign, chosen, shared }: Called) => accept(campaign, chosen, shared),
  pin: ({ campaign, chosen, shared }: Called) => pin(campaign, chosen, shared),
  unpin: ({ campaign, chosen, shared }: Called) => unpin(campaign, chosen, shared),
  forget({ campaign, chosen, options: { orphans, force }, shared }: Called) {
    return forget(campaign, { ...chosen, orphans, force }, shared);
  },
  move: ({ campaign, words: [from = '', to = ''], shared }: Called) => move(campaign, { from, to }, shared),
  adopt,
  resolve({ campaign, words: [address = ''], options, shared }: Called) {
    const finding = readFinding(options);
    // `resolve` without `--job`, `--not-spent` or `--spend-again` only shows what is unresolved.
    const dryRun = finding === undefined ? true : shared.dryRun;
    return resolve(campaign, { address, finding, send: options.send }, { ...shared, dryRun });
  },
} satisfies { [verb: string]: (called: Called) => Promise<Decided> };

export type Verb = keyof typeof verbs;

export async function decideBy(
  name: Verb,
  file: string,
  { words, options, terminal }: Pick<Called, 'words' | 'options' | 'terminal'>,
): Promise<number> {
  const verb = options.undo === true && (name === 'pick' || name === 'pin') ? (`un${name}` as const) : name;
  const campaign = await open(file, options, terminal);
  const { lockTimeout, dryRun, serviceMoved, yes, select } = options;
  const shared: DecideOptions = {
    lockTimeoutMs: lockTimeout,
    dryRun,
    ...(serviceMoved === true && { askAboutMove: (question) => askAboutMove(question, { yes, terminal }) }),
  };
  const chosen = { names: words, select };
  const decided = await verbs[verb]({ campaign, words, chosen, options, shared, terminal });
  if (!('rulings' in decided)) return declined(decided.is, 'recorded', terminal);
  const { is: stage, rulings } = decided;
  const { paste } = terminal;
  if (options.json) outJson(terminal, rulingsJson(rulings, { command: verb, dryRun: stage === 'dry run', paste }));
  print(terminal, ...rulingsView(rulings, { command: verb, stage }));
  if (options.from !== undefined && stage === 'recorded') {
    print(
      terminal,
      command('to review the picks', paste(call('review'))),
      command('to continue', paste(call('apply'))),
    );
  }
  return exitCodes.done;
}

async function withWords({ campaign, options, shared }: Called) {
  const { note, reason, by = await nameInGit(campaign.paths.folder) } = options;
  return { ...shared, note, reason, by };
}

async function pick(called: Called): Promise<Decided> {
  const { campaign, words, chosen, options, shared } = called;
  const { from, select, replace } = options;
  if (from === undefined) return pickOutputs(campaign, chosen, { ...(await withWords(called)), replace });
  if (words.length > 0 || select !== undefined) {
    throw new CampaignError({
      code: 'MB3000',
      message: '--from cannot be combined with steps or -s: the file states what is picked and by whom',
      hint: 'use one command with --from and another with the steps; nothing was recorded',
      options: ['--from'],
    });
  }
  return pickFrom(campaign, from, shared);
}

async function adopt({ campaign, words: [address], options, shared, terminal }: Called): Promise<Decided> {
  const { yes, credits, offline, job } = options;
  if (address !== undefined && job !== undefined) {
    return importStep(campaign, { address, job, credits, offline }, shared);
  }
  if (address !== undefined || job !== undefined) {
    throw new CampaignError({
      code: 'MB3000',
      message: 'ADDRESS and --job must be used together: a step, and the job to record for the step',
      hint: way('nothing was recorded; use both, as in', call('adopt', 'ADDRESS', '--job', 'ID')),
      options: ['--job'],
    });
  }
  const { style, paste } = terminal;
  const onLooked = ({ open: left, steps, jobs: strangers }: Searched) => {
    if (left.length > 0) print(terminal, ...candidatesView(left, paste));
    const looked = `${countOf(steps, 'step')} that can adopt a job, ${countOf(strangers, 'job')} that no lock contains`;
    terminal.err(`${style.dim(safeText(looked))}\n`);
  };
  const confirm = (rulings: readonly Ruling[]) => {
    // The decisions are shown before the prompt.
    if (yes !== true) print(terminal, ...rulingsView(rulings, { command: 'adopt', stage: 'asked' }));
    const count = rulings.filter(({ is }) => is === 'recorded').length;
    return askPerson(`Adopt ${countOf(count, 'job')}?`, { yes, terminal });
  };
  return adoptJobs(campaign, { onLooked }, { ...shared, confirm });
}

function readFinding({ job, credits, notSpent, spendAgain }: ResolveOptions): Finding | undefined {
  if (job !== undefined) return { is: 'job', jobId: job, ...defined({ credits }) };
  if (notSpent === true) return { is: 'not-spent' };
  return spendAgain === true ? { is: 'spend-again' } : undefined;
}
