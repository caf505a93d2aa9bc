import { relative } from 'node:path';
import { type Followed, followRun } from '../../campaign/find-run.ts';
import { type CampaignPaths, campaignPaths } from '../../campaign/paths.ts';
import { systemClock } from '../../contract/clock.ts';
import { exitCodes } from '../../contract/exit.ts';
import { call } from '../../ground/advice.ts';
import { bad, command, type Document, faint, line, stack } from '../../report/document.ts';
import { clockText } from '../../report/numbers.ts';
import type { Remaining, RunTimes } from '../../report/run/remaining-time.ts';
import { createLines, type RunReporter } from '../../report/run/run-lines.ts';
import { createRunView, foldEvent, type RunView } from '../../report/run/run-view.ts';
import { summaryView } from '../../report/run/summary-text.ts';
import { safeText } from '../../report/safe-text.ts';
import { listenForInterruption } from '../signals.ts';
import { giveCursorBackAtExit, type Terminal, tell } from '../terminal.ts';

interface FollowCommandOptions {
  sandbox?: boolean;
  lock?: string;
}

/**
 * Shows a run that is in progress in another terminal, until it ends. Takes no lock; needs no manifest, API key or
 * network; writes nothing.
 */
export async function follow(file: string, options: FollowCommandOptions, terminal: Terminal): Promise<number> {
  const paths = campaignPaths(file, options);
  const view = createRunView();
  let remaining: Remaining | undefined;
  const reporter = await makeReporter({ view, times: { remaining: () => remaining } }, terminal);
  const cursorIsBack = terminal.screen ? giveCursorBackAtExit() : () => {};
  const interruption = listenForInterruption();
  const followed = await followRun(paths, {
    clock: systemClock,
    signal: interruption.signal,
    on(event) {
      foldEvent(view, event);
      reporter.on(event);
    },
    onTime(shown) {
      remaining = shown;
    },
    onWait({ host, since }) {
      const began = clockText(since, systemClock.now());
      terminal.err(`${safeText(`a command on ${host} has held the lock since ${began}; waiting for its run`)}\n`);
    },
  });
  await reporter.end();
  cursorIsBack();
  interruption.stop();
  tell(terminal, ...endView(followed, { view, paths, file, options, terminal }));
  return exitCodes.done;
}

async function makeReporter(
  run: { view: RunView; times: RunTimes },
  { screen, style, err }: Terminal,
): Promise<RunReporter> {
  const now = () => systemClock.now();
  if (!screen) return createLines(err, { style, now, ...run });
  const { createScreen } = await import('../../report/run/run-screen.ts');
  return createScreen({ stream: process.stderr, style, now, ...run });
}

interface EndContext {
  view: RunView;
  paths: CampaignPaths;
  file: string;
  options: FollowCommandOptions;
  terminal: Terminal;
}

function endView(followed: Followed, { view, paths, file, options, terminal }: EndContext): Document {
  const { paste } = terminal;
  const outputs = relative(process.cwd(), paths.outputs);
  const summary = () => summaryView(view, { paste, outputs, sandbox: options.sandbox === true });
  switch (followed.is) {
    case 'left':
      return [line('stopped watching; the run continues')];
    case 'ended': {
      const { exit = view.end?.exit, how, error } = followed.close;
      const why = error === undefined ? '' : `: ${safeText(error)}`;
      const end =
        exit === undefined
          ? `the run was ${how === 'broken' ? 'aborted' : 'left'}${why}`
          : `the run ended with exit ${exit}`;
      return [stack(...summary(), line(faint(end)))];
    }
    case 'gone':
      return [
        stack(
          ...summary(),
          line([bad('the process of the run is gone'), ', and recorded no reason; its paid jobs are on record']),
        ),
      ];
    case 'idle': {
      const { last } = followed;
      const begin = command('to begin one', paste(call('apply')));
      if (last === undefined)
        return [stack(line(`no run of ${file} is in progress, and none is recorded here`), begin)];
      const end = last.exit === undefined ? 'was aborted' : `ended with exit ${last.exit}`;
      return [
        stack(
          line(`no run of ${file} is in progress; the last one, ${last.id}, ${end}`),
          command('what it did', paste(call('runs show', last.id))),
          begin,
        ),
      ];
    }
    default:
      return followed satisfies never;
  }
}
