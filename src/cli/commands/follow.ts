import { relative } from 'node:path';
import { campaignPaths } from '../../campaign/paths.ts';
import { type Followed, followRun } from '../../campaign/runs.ts';
import { systemClock } from '../../contract/clock.ts';
import { call } from '../../ground/advice.ts';
import { bad, command, type Document, faint, line, stack } from '../../report/document.ts';
import { clockText } from '../../report/numbers.ts';
import type { Remaining } from '../../report/run/remaining-time.ts';
import { createRunView, foldEvent, type RunView } from '../../report/run/run-view.ts';
import { summaryView } from '../../report/run/summary-text.ts';
import { safeText } from '../../report/safe-text.ts';
import type { Flags, Texts } from '../open.ts';
import { createReporter } from '../recorder.ts';
import { listenForInterruption } from '../signals.ts';
import { print, type Terminal } from '../terminal.ts';

/** Shows the progress of a run that another terminal started. Takes no lock, writes no file and sends no request. */
export async function follow(
  file: string,
  options: Texts<'lock'> & Flags<'sandbox'>,
  terminal: Terminal,
): Promise<void> {
  const paths = campaignPaths(file, options);
  const view = createRunView();
  let shown: Remaining | undefined;
  const reporter = await createReporter(terminal, { view, times: () => shown }, undefined);
  const interruption = listenForInterruption();
  const followed = await followRun(paths, {
    signal: interruption.signal,
    on(event) {
      foldEvent(view, event);
      reporter.on(event);
    },
    onTime(remaining) {
      shown = remaining;
    },
    onWait({ host, since }) {
      const began = clockText(since, systemClock.now());
      terminal.err(
        `${safeText(`a command on ${host} has held the lock since ${began}; waiting for the run of this command`)}\n`,
      );
    },
  });
  await reporter.end();
  interruption.stop();
  const { paste } = terminal;
  const outputs = relative(process.cwd(), paths.outputs);
  const summary = () => summaryView(view, { paste, outputs, sandbox: options.sandbox === true });
  print(terminal, stack(...endOf(followed, { file, view, summary, paste })));
}

function endOf(
  followed: Followed,
  { file, view, summary, paste }: { file: string; view: RunView; summary: () => Document } & Pick<Terminal, 'paste'>,
): Document {
  switch (followed.is) {
    case 'left':
      return [line('stopped watching; the run continues')];
    case 'ended': {
      const { exit = view.end?.exit, how, error } = followed.close;
      const why = error === undefined ? '' : `: ${safeText(error)}`;
      const aborted = `the run was ${how === 'broken' ? 'aborted' : 'stopped immediately'}${why}`;
      return [...summary(), line(faint(exit === undefined ? aborted : `the run ended with exit ${exit}`))];
    }
    case 'gone':
      return [
        ...summary(),
        line([
          bad('the process of the run is gone'),
          ', and no reason was recorded; the paid jobs of the run are on record',
        ]),
      ];
    case 'idle': {
      const { last } = followed;
      const end = last?.exit === undefined ? 'was aborted' : `ended with exit ${last.exit}`;
      const which =
        last === undefined ? 'no earlier run is recorded on this machine' : `the last run, ${last.id}, ${end}`;
      return [
        line(`no run of ${file} is in progress, and ${which}`),
        last && command('what it did', paste(call('runs show', last.id))),
        command('to start a run', paste(call('apply'))),
      ];
    }
    default:
      return followed satisfies never;
  }
}
