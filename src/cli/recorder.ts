import { relative } from 'node:path';
import type { CampaignPaths } from '../campaign/paths.ts';
import { systemClock } from '../contract/clock.ts';
import { exitCodes } from '../contract/exit.ts';
import { CampaignError } from '../contract/failure.ts';
import { type EventSink, EventsTargetError, findEventsTarget } from '../disk/events-target.ts';
import { readKeptDurations } from '../disk/state/caches.ts';
import type { Call } from '../ground/advice.ts';
import { defined, messageOf } from '../ground/values.ts';
import { isWork } from '../plan/actions.ts';
import type { Plan } from '../plan/plan.ts';
import { failedStepsGithub, failureGithub } from '../report/diagnostics/diagnostics-text.ts';
import { line } from '../report/document.ts';
import { createRunTimes, type RunTimes } from '../report/run/remaining-time.ts';
import { createEventLines, createLines, type Detail, type RunReporter } from '../report/run/run-lines.ts';
import { createRunView, foldEvent, type RunView } from '../report/run/run-view.ts';
import { endText, stopText } from '../report/run/run-words.ts';
import { summaryView } from '../report/run/summary-text.ts';
import { print, printNotice, restoreCursorAtExit, type Terminal, toCheckoutPath } from './terminal.ts';

/** Opens the `--events` file. Called before planning, so that an unusable path fails early. */
export function openEvents(
  path: string | undefined,
  { inputs, terminal }: { inputs: readonly string[]; terminal: Terminal },
): (() => EventSink) | undefined {
  if (path === undefined) return undefined;
  const guarded = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof EventsTargetError)) throw error;
      const { message, hint, isInput } = error;
      const said = { message: `--events ${path} ${message}`, hint };
      throw new CampaignError(isInput ? { code: 'MB3304', ...said, files: [path] } : { code: 'MB3301', ...said, path });
    }
  };
  const target = guarded(() => findEventsTarget(path, { inputs, own: terminal }));
  return () => guarded(() => target.open()); // I23
}

interface Recording {
  terminal: Terminal;
  paths: CampaignPaths;
  events: EventSink | undefined;
  /** Returns the URL of the review page once it is served. Undefined if the run has no review page. */
  page: (() => string | undefined) | undefined;
  latest(): Pick<Plan, 'rows' | 'concurrency' | 'gates'>;
  detail: Detail | undefined;
  elsewhere: boolean;
  /** Command that continues the run. Defaults to `apply` of the manifest. */
  goingOn: Call | undefined;
  filesStay: boolean | undefined;
}

export async function makeRecorder(
  plan: Plan,
  recording: Recording,
): Promise<RunReporter & { view: RunView; times: RunTimes | undefined }> {
  const { terminal, events, paths, page, detail, latest } = recording;
  const view = createRunView();
  const hasWork = plan.rows.some(isWork) || (page !== undefined && plan.gates !== undefined);
  let reporters: RunReporter[] = [];
  let times: RunTimes | undefined;
  if (events !== undefined) reporters.push(createEventLines(events.write, events.end));
  if (hasWork) {
    times = createRunTimes({ view, plan: latest, durations: await readKeptDurations(paths), now: systemClock.now });
    reporters.push(await createReporter(terminal, { view, times, ...defined({ page }) }, detail));
  }
  return {
    view,
    times,
    on(event) {
      foldEvent(view, event);
      for (const reporter of reporters) {
        try {
          reporter.on(event);
        } catch (error) {
          // Purchases must be recorded and collected, even if output fails.
          reporters = reporters.filter((other) => other !== reporter);
          printNotice(terminal, `no more events are written: ${messageOf(error)}`);
        }
      }
    },
    async end() {
      for (const reporter of reporters) await reporter.end();
      // A user who detached from a run that no worker has begun gets no summary.
      if (hasWork && view.steps > 0) printEnd(view, plan, recording);
    },
  };
}

/** Shows the progress of a run as a live display, or as lines with `--verbose` or on a terminal without support. */
export async function createReporter(
  terminal: Terminal,
  run: { view: RunView; times: RunTimes; page?: () => string | undefined },
  detail: Detail | undefined,
): Promise<RunReporter> {
  const shown = { ...run, style: terminal.style, now: systemClock.now };
  if (!terminal.screen || detail !== undefined) {
    return createLines(terminal.err, { ...shown, every: everyMs, ...defined({ detail }) });
  }
  const { createScreen } = await import('../report/run/run-screen.ts');
  const screen = createScreen({ stream: process.stderr, ...shown });
  const cursorIsBack = restoreCursorAtExit();
  return { on: screen.on, end: () => screen.end().then(cursorIsBack) };
}

function everyMs(ms: number, call: () => void): () => void {
  const timer = setInterval(call, ms);
  timer.unref();
  return () => clearInterval(timer);
}

function printEnd(view: RunView, { rows }: Plan, recording: Recording): void {
  const { terminal, paths, detail, elsewhere, goingOn, filesStay } = recording;
  const { stopped, end } = view;
  if (detail === 'quiet' && end?.exit === exitCodes.done) print(terminal, line(endText(view, end.elapsedMs)));
  else {
    const summary = summaryView(view, {
      ...{ elsewhere, goingOn, filesStay, paste: terminal.paste },
      outputs: relative(process.cwd(), paths.outputs),
      unfit: new Set(rows.flatMap(({ action, output, address }) => (action === 'failed' && output ? [address] : []))),
      sandbox: terminal.called.options.sandbox === true,
    });
    print(terminal, ...summary);
  }
  terminal.github?.(failedStepsGithub(view, toCheckoutPath(paths.manifest)));
  if (stopped !== undefined && end !== undefined && isAnnotated(end.exit)) {
    terminal.github?.(failureGithub(`exit ${end.exit}`, [stopText(stopped)]));
  }
}

function isAnnotated(exit: number): boolean {
  return exit === exitCodes.outOfCredits || exit === exitCodes.keyRefused || exit === exitCodes.unreachable;
}
