import { relative } from 'node:path';
import { engineOf } from '../../campaign/on-engine/engine-address.ts';
import type { OpenCampaign } from '../../campaign/open-campaign.ts';
import { findFinishedJobs } from '../../campaign/runs.ts';
import { makeSelector } from '../../campaign/select-steps.ts';
import { findPriceHints } from '../../campaign/service-facts.ts';
import { Session } from '../../campaign/session.ts';
import { systemClock } from '../../contract/clock.ts';
import { CampaignError, failureOf } from '../../contract/failure.ts';
import { readEngineNote } from '../../disk/lock/engine-note.ts';
import { readLiveHolder } from '../../disk/lock/guard.ts';
import { call } from '../../ground/advice.ts';
import { defined } from '../../ground/values.ts';
import { joinLocks } from '../../lock/join.ts';
import type { Lock } from '../../lock/record.ts';
import type { Situation } from '../../plan/situation/situation.ts';
import { jsonOf } from '../../report/document.ts';
import { mermaidLimits, mermaidText } from '../../report/mermaid.ts';
import { clockText, countOf, limitText } from '../../report/numbers.ts';
import { safeText } from '../../report/safe-text.ts';
import { makeStatus, type StatusView } from '../../report/status/status.ts';
import { statusView, stepsView } from '../../report/status/status-text.ts';
import { type Flags, open, printSandboxLock, type SelectionOptions, type StateOptions, type Texts } from '../open.ts';
import { outJson, printNotice, show, type Terminal } from '../terminal.ts';

type StatusOptions = StateOptions & SelectionOptions & Flags<'json' | 'list' | 'graph'> & Texts<'engine'>;

export async function status(file: string, options: StatusOptions, terminal: Terminal): Promise<void> {
  const campaign = await open(file, options, terminal);
  printSandboxLock(campaign, options, terminal);
  const { paths } = campaign;
  const { graph, loaded } = await Session.open(campaign);
  const lock = await withEngine(loaded.lock, { campaign, name: graph.name, options, terminal });
  const { states: present, situation } = await new Session(campaign, graph, { ...loaded, lock }).inspect();
  const selected = makeSelector(situation).chosen(options);
  if (options.graph === true) {
    terminal.out(graphText(situation, { selected, bySteps: options.list === true }));
    return;
  }
  const folder = relative('', paths.outputs).replaceAll('\\', '/');
  const run = await findRun(paths.lock);
  const finishedJobs = await findFinishedJobs(paths, lock);
  const hints = await findPriceHints(campaign, { graph, lock, matches: [], redo: new Set() });
  const view = makeStatus({
    hints,
    situation,
    present,
    now: systemClock.now(),
    finishedJobs,
    folder: folder === '' ? '' : `${folder}/`,
    ...defined({ run, selected }),
  });
  if (options.json) {
    const { nextOfStatus } = await import('../next-steps.ts');
    outJson(terminal, jsonOf('status', { ...view, ...nextOfStatus(view, terminal) }));
  } else if (options.list) show(terminal, stepsView(view.rows));
  else show(terminal, statusView(view, { paste: terminal.paste, now: systemClock.now() }));
}

function graphText(situation: Situation, options: Parameters<typeof mermaidText>[1]): string {
  const text = mermaidText(situation, options);
  if (text !== undefined) return text;
  const { edges, characters } = mermaidLimits;
  throw new CampaignError({
    code: 'MB3000',
    message: `the graph could not be drawn: Mermaid supports at most ${countOf(edges, 'edge')} and ${countOf(characters, 'character')}`,
    options: ['--select', '--list'],
    hint: 'draw fewer steps, as in --select +hero@lamp for one step and its dependencies, or remove --list',
  });
}

async function withEngine(
  lock: Lock,
  about: { campaign: OpenCampaign; name: string; options: StatusOptions; terminal: Terminal },
): Promise<Lock> {
  const { campaign, name, options, terminal } = about;
  // With `--sandbox`, only `--engine` selects an engine, not MEDIABATCH_ENGINE, as for `apply`.
  const engine = engineOf(options.engine, options.sandbox === true ? {} : process.env);
  if (engine === undefined) {
    printRunOnEngine(campaign, terminal);
    return lock;
  }
  const { inspectRun } = await import('../../campaign/on-engine/engine-run.ts');
  const found = await inspectRun(engine, campaign, name).catch((error: unknown) => {
    const failure = failureOf(error);
    // `status --json` fails, because its JSON document cannot show that the progress of the run is missing.
    if (failure?.code !== 'MB3702' || options.json === true) throw error;
    printNotice(
      terminal,
      `the status below does not include the progress of the run: ${failure.message}`,
      failure.hint,
    );
    return null;
  });
  if (found === undefined) terminal.err(`no run of ${safeText(name)} is open on this engine\n`);
  if (!found) return lock;
  const { state, submitted, origin, paused } = found.run;
  const by = origin.pausedBy === undefined ? '' : ` by ${safeText(origin.pausedBy)}`;
  const pausedText =
    paused === null ? 'is open' : `is paused${by} since ${clockText(paused.getTime(), systemClock.now())}`;
  const what = state === 'ended' ? 'has ended' : pausedText;
  terminal.err(
    `the run on ${safeText(found.shown)} that was submitted from ${safeText(origin.host)} at ${clockText(submitted.getTime(), systemClock.now())} ${what}\n`,
  );
  if (found.limit !== undefined) terminal.err(`limit of the run: ${limitText(found.limit)}\n`);
  return joinLocks(lock, found.lock);
}

function printRunOnEngine({ paths }: OpenCampaign, terminal: Terminal): void {
  const note = readEngineNote(paths.lock);
  if (note === undefined) return;
  const { called } = terminal;
  terminal.called = { ...called, options: { ...called.options, engine: note.engine } };
  terminal.err(
    `a run was submitted to ${safeText(note.engine)} at ${clockText(note.since, systemClock.now())}; to include its progress: ${terminal.paste(call('status'))}\n`,
  );
}

async function findRun(lockPath: string): Promise<StatusView['run']> {
  const holder = await readLiveHolder(lockPath).catch(() => undefined);
  return holder === undefined ? undefined : { pid: holder.pid, host: holder.host, since: holder.since };
}
