import type { HistoryLine, RunEvent, StepOutcome } from '../../contract/event.ts';
import type { ReportSpan, ReportTimeline } from '../../contract/report.ts';
import { tellRun } from '../../report/history/run-story.ts';

/** Most jobs that are shown of a run: a branch may have brought it, or it may be damaged. */
const mostSpans = 20_000;
/** Times at which something happened, by the event that tells it. */
const phases = {
  'create-intended': 'sent',
  'job-created': 'job',
  'job-found': 'job',
  'job-completed': 'finished',
  'output-saved': 'saved',
} as const;

/** The jobs of a run over time, from the lines of its history. */
export function makeTimeline(
  id: string,
  lines: readonly HistoryLine[],
  assetOf: ReadonlyMap<string, number>,
): ReportTimeline | undefined {
  const { at, exit, elapsedMs, how } = tellRun(id, lines);
  if (at === undefined) return undefined;
  const started = Date.parse(at);
  const spans = new Map<string, ReportSpan>();
  for (const line of lines) if ('event' in line) addEvent(spans, line, assetOf);
  return {
    ...{ run: id, started },
    ...(how !== undefined && elapsedMs !== undefined && { ended: started + elapsedMs }),
    ...(exit !== undefined && { exitCode: exit }),
    spans: [...spans.values()].filter(({ sent, job, finished, saved, end }) => {
      const isSeen = [sent, job, finished, saved].some((time) => time !== undefined);
      return isSeen || end === 'failed' || end === 'unresolved';
    }),
  };
}

function addEvent(spans: Map<string, ReportSpan>, event: RunEvent, assetOf: ReadonlyMap<string, number>): void {
  if (!('address' in event) || event.address === undefined) return;
  const { address } = event;
  const known = spans.get(address);
  if (event.event === 'step-started') {
    if (known !== undefined || spans.size >= mostSpans) return;
    const asset = assetOf.get(address);
    spans.set(address, { ...(asset !== undefined && { asset }), address, task: event.task, end: 'open' });
  } else if (known !== undefined && event.event === 'step-finished') {
    known.end = endOf(event.outcome);
    known.credits = event.credits;
    if (event.error !== undefined) known.error = event.error;
  } else if (known !== undefined && isPhase(event.event)) {
    const phase = phases[event.event];
    // Of a create that is sent again the first counts; of what a job left, the last.
    if (known[phase] === undefined || phase === 'saved') known[phase] = Date.parse(event.at);
  }
}

function isPhase(name: RunEvent['event']): name is keyof typeof phases {
  return Object.hasOwn(phases, name);
}

function endOf(outcome: StepOutcome): ReportSpan['end'] {
  switch (outcome) {
    case 'done':
    case 'failed':
    case 'unresolved':
      return outcome;
    case 'lost':
    case 'refused':
      return 'failed';
    default:
      return 'open';
  }
}
