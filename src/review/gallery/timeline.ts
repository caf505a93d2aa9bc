import type { ReportSpan, ReportTimeline } from '../../contract/report.ts';
import { taskOfAddress } from '../../graph/address.ts';
import type { Json } from '../../ground/json.ts';
import { isMap } from '../../ground/values.ts';
import { tellRun } from '../../report/history/run-story.ts';

/** Of a run that a branch brought, or that was damaged, no more is shown. */
const mostSpans = 20_000;
/** When something happened, by the event that tells it. */
const phases = {
  'create-intended': 'sent',
  'job-created': 'job',
  'job-found': 'job',
  'job-completed': 'finished',
  'output-saved': 'saved',
} as const;

/** The jobs of a run over time, from the lines of its history. Those may be anybody's: what has no sense is left out. */
export function makeTimeline(
  id: string,
  lines: readonly Json[],
  assetOf: ReadonlyMap<string, number>,
): ReportTimeline | undefined {
  const { at, exit, elapsedMs, how } = tellRun(id, lines);
  const started = timeOf(at);
  if (started === undefined) return undefined;
  const spans = new Map<string, ReportSpan>();
  for (const line of lines) if (isMap(line)) addLine(spans, line, assetOf);
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

function addLine(
  spans: Map<string, ReportSpan>,
  line: { [name: string]: Json },
  assetOf: ReadonlyMap<string, number>,
): void {
  const { event, address } = line;
  if (typeof address !== 'string') return;
  const time = timeOf(line.at);
  const known = spans.get(address);
  if (event === 'step-started') {
    if (known !== undefined || spans.size >= mostSpans) return;
    const asset = assetOf.get(address);
    const task = typeof line.task === 'string' ? line.task : taskOfAddress(address);
    spans.set(address, { ...(asset !== undefined && { asset }), address, task, end: 'open' });
  } else if (known !== undefined && event === 'step-finished') {
    const { outcome, credits, error } = line;
    known.end = endOf(outcome);
    if (credits === null || typeof credits === 'number') known.credits = credits;
    if (typeof error === 'string') known.error = error;
  } else if (known !== undefined && time !== undefined && typeof event === 'string' && Object.hasOwn(phases, event)) {
    const phase = phases[event as keyof typeof phases];
    // Of a create that is sent again the first counts; of what a job left, the last.
    if (known[phase] === undefined || phase === 'saved') known[phase] = time;
  }
}

function endOf(outcome: Json | undefined): ReportSpan['end'] {
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

function timeOf(at: Json | undefined): number | undefined {
  const time = typeof at === 'string' ? Date.parse(at) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}
