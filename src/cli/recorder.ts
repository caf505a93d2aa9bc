import { relative } from 'node:path';
import type { CampaignPaths } from '../campaign/paths.ts';
import type { Clock } from '../contract/clock.ts';
import { exitCodes } from '../contract/exit.ts';
import { CampaignError } from '../contract/failure.ts';
import { type EventSink, EventsTargetError, findEventsTarget } from '../disk/events-target.ts';
import { readKeptDurations } from '../disk/state/caches.ts';
import type { Call } from '../ground/advice.ts';
import { defined, messageOf } from '../ground/values.ts';
import { isWork } from '../plan/actions.ts';
import type { Plan } from '../plan/plan.ts';
import { failedStepsGithub, failureGithub } from '../report/diagnostics/diagnostics-json.ts';
import { line } from '../report/document.ts';
import { createRunTimes, type RunTimes } from '../report/run/remaining-time.ts';
import { createEventLines, createLines, type Detail, type RunReporter } from '../report/run/run-lines.ts';
import { createRunView, foldEvent, type RunView } from '../report/run/run-view.ts';
import { endText, stopText } from '../report/run/run-words.ts';
import { summaryView } from '../report/run/summary-text.ts';
import { giveCursorBackAtExit, type Terminal, tell, tellNotice, toCheckoutPath } from './terminal.ts';

/**
 * Opens the file of `--events`. Checks it before planning, so that a wrong path costs nothing; the check does not
 * change it.
 */
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

/** Makes the listeners of the event stream: a screen or lines for users, a file of events, the summary. */
export async function makeRecorder(
  plan: Plan,
  options: {
    terminal: Terminal;
    clock: Clock;
    paths: CampaignPaths;
    events: EventSink | undefined;
    /**
     * Returns the address of the review page, once there is one. Omitted if no decisions are possible during the run.
     */
    page?: (() => string | undefined) | undefined;
    latest(): Pick<Plan, 'rows' | 'concurrency' | 'gates'>;
    detail: Detail | undefined;
    /** Whether workers of an engine carry the plan out, even while no client is attached. */
    elsewhere?: boolean;
    /** Command that continues the run. Default: `apply` of its manifest. */
    goingOn?: Call | undefined;
    filesStay?: boolean | undefined;
  },
): Promise<RunReporter & { view: RunView; times?: RunTimes | undefined }> {
  const { terminal, events, clock, paths, page, detail } = options;
  const { style } = terminal;
  const now = () => clock.now();
  const view = createRunView();
  const hasWork = plan.rows.some(isWork) || (page !== undefined && plan.gates !== undefined);
  const unfit = new Set(
    plan.rows.flatMap(({ action, output, address }) => (action === 'failed' && output ? [address] : [])),
  );
  let reporters: RunReporter[] = [];
  let times: ReturnType<typeof createRunTimes> | undefined;
  if (events !== undefined) reporters.push(createEventLines(events.write, events.end));
  const hasScreen = hasWork && terminal.screen && detail === undefined;
  const cursorIsBack = hasScreen ? giveCursorBackAtExit() : () => {};
  if (hasWork) {
    const durations = await readKeptDurations(paths);
    times = createRunTimes({ view, plan: options.latest, durations, now });
    const common = { style, now, view, times, ...defined({ page }) };
    if (hasScreen) {
      const { createScreen } = await import('../report/run/run-screen.ts');
      reporters.push(createScreen({ stream: process.stderr, ...common }));
    } else {
      reporters.push(createLines(terminal.err, { ...common, every: everyMs, ...defined({ detail }) }));
    }
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
          tellNotice(terminal, `no more events are written: ${messageOf(error)}`);
        }
      }
    },
    async end() {
      for (const reporter of reporters) await reporter.end();
      cursorIsBack();
      // A user who detached from a run that no worker has begun gets no summary.
      if (hasWork && view.steps > 0) {
        const outputs = relative(process.cwd(), paths.outputs);
        const isShort = detail === 'quiet' && view.end?.exit === exitCodes.done;
        const summary = summaryView(view, {
          paste: terminal.paste,
          outputs,
          unfit,
          sandbox: terminal.called.options.sandbox === true,
          elsewhere: options.elsewhere === true,
          filesStay: options.filesStay,
          goingOn: options.goingOn,
        });
        tell(terminal, ...(isShort ? [line(endText(view, view.end?.elapsedMs ?? 0))] : summary));
        terminal.github?.(failedStepsGithub(view, toCheckoutPath(paths.manifest)));
        const { stopped, end } = view;
        if (stopped !== undefined && end !== undefined && isAnnotated(end.exit)) {
          terminal.github?.(failureGithub(`exit ${end.exit}`, [stopText(stopped)]));
        }
      }
    },
  };
}

/** Returns whether the reason why a run stopped is not among its failed steps: credits, key, or service. */
function isAnnotated(exit: number): boolean {
  return exit === exitCodes.outOfCredits || exit === exitCodes.keyRefused || exit === exitCodes.unreachable;
}

function everyMs(ms: number, call: () => void): () => void {
  const timer = setInterval(call, ms);
  timer.unref();
  return () => clearInterval(timer);
}
