/*
 * The command line. Each file of `commands/` is one command.
 * Takes: arguments, environment variables, a terminal. Each option is declared once in `program/` or in
 * `campaign/option-table.ts`.
 * Returns: a call of `campaign/`, text from `report/`, and an exit code of `contract/exit.ts`.
 * Independent of: the service, the lock's format, prices. A rule about money or purchases belongs to a lower module.
 */

import { readFileSync, statSync } from 'node:fs';
import { engineOf } from '../../campaign/on-engine/engine-address.ts';
import type { OpenCampaign } from '../../campaign/open-campaign.ts';
import { findGiven, flagOf, wordsOf } from '../../campaign/option-table.ts';
import type { EngineChoice } from '../../campaign/run.ts';
import type { SavedPlan } from '../../campaign/saved-plan.ts';
import { isUpToDate } from '../../campaign/up-to-date.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import { digestOf } from '../../disk/outputs/hash-file.ts';
import { shellWord } from '../../report/advice-text.ts';
import { quietText } from '../../report/plan/plan-text.ts';
import { safeText } from '../../report/safe-text.ts';
import { type ApplyOptions, open } from '../open.ts';
import type { Terminal } from '../terminal.ts';

/** If the campaign is up to date, returns without loading the large modules. */
export async function apply(file: string, typed: ApplyOptions, terminal: Terminal): Promise<number> {
  const saved = file.endsWith('.json') ? await readSaved(file, typed, terminal) : undefined;
  const options: ApplyOptions = { ...saved?.options, ...typed };
  const engine = engineFor(options);
  if (options.dryRun) return (await import('./plan.ts')).plan(file, options, terminal);
  if (options.events === '-' && options.json) {
    const message = '--json and --events cannot be combined: both write to stdout';
    throw new CampaignError({
      code: 'MB3000',
      message,
      hint: 'remove --json or --events',
      options: ['--json', '--events'],
    });
  }
  requireSandbox(options);
  if (saved !== undefined) printSavedPlan(saved, terminal);
  const campaign = await open(saved?.manifest ?? file, options, terminal);
  const given = saved === undefined ? digestOfCall(options, campaign) : undefined;
  const known = await isUpToDate(campaign, given);
  // A gate without dependent steps can be open even if every step is up to date.
  if (known !== undefined && options.review !== true) {
    terminal.err(quietText(known, { style: terminal.style }));
    return exitCodes.done;
  }
  const { applyCampaign } = await import('../apply-campaign.ts');
  return applyCampaign(options, { campaign, given, engine, terminal, saved });
}

async function readSaved(file: string, options: ApplyOptions, terminal: Terminal): Promise<SavedPlan | undefined> {
  const { openSavedPlan, refuseReplanning } = await import('../../campaign/saved-plan.ts');
  const saved = await openSavedPlan(file);
  if (saved === undefined) return undefined;
  terminal.called = { file: saved.manifest, options: { ...terminal.called.options, ...saved.options } };
  refuseReplanning(saved, options);
  return saved;
}

/** Ignores `MEDIABATCH_ENGINE` in a sandbox run. Throws MB3000. */
function engineFor({ engine, store, sandbox }: ApplyOptions): EngineChoice | undefined {
  const url = engineOf(engine, sandbox === true ? {} : process.env);
  if (url !== undefined) return { url, store };
  if (store === undefined) return undefined;
  // Without an engine, files that the user expects in the store would be saved on this machine only.
  throw new CampaignError({
    code: 'MB3000',
    message: '--store needs an engine: without one, files are saved next to the manifest',
    hint:
      sandbox === true
        ? 'remove --store: --sandbox runs on this machine (MEDIABATCH_ENGINE is for real runs)'
        : 'remove --store, or set the engine: MEDIABATCH_ENGINE=postgres://user@host:5432/database',
    options: ['--store', '--engine'],
  });
}

function requireSandbox(options: ApplyOptions): void {
  const [given] = findGiven(options, ({ flags }) => flags.startsWith('--sandbox-'));
  if (options.sandbox === true || given === undefined) return;
  const first = flagOf(given.row);
  throw new CampaignError({
    code: 'MB3000',
    message: `${first} requires --sandbox`,
    hint: `add --sandbox, or remove ${first}`,
    options: [first],
  });
}

function printSavedPlan({ path, manifest, options }: SavedPlan, { err, style }: Terminal): void {
  const given = findGiven(options, ({ settles }) => settles === 'campaign');
  const words = [manifest, ...given.flatMap(({ row, value }) => wordsOf(flagOf(row), value))];
  err(
    `${style.dim(`${safeText(path)} is a plan of ${words.map((word) => safeText(shellWord(word), 200)).join(' ')}`)}\n`,
  );
}

/** Returns a digest of the program and the options, or undefined if `apply` must plan even if nothing changed. */
function digestOfCall(options: ApplyOptions, campaign: OpenCampaign): string | undefined {
  if (options.json || options.events !== undefined || options.redo !== undefined) return undefined;
  // `--yes` and `--lock-timeout` change how a run starts, but not its steps.
  const { yes, lockTimeoutMs, ...planned } = options;
  const { file, paths, vars, service, replays } = campaign;
  const given = { file, paths, planned, vars, service, replays };
  const version = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  // Two builds of the same version may differ, so the digest contains the build time.
  const built = statSync(process.argv[1] ?? '', { throwIfNoEntry: false })?.mtimeMs;
  return digestOf(Buffer.from(JSON.stringify([version, built, process.version, given]))).sha256;
}
