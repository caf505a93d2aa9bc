import type { RunEvent, StepOutcome } from '../../contract/event.ts';
import { type ExitCode, exitCodes } from '../../contract/exit.ts';
import type { NotifyReason } from '../../contract/ports.ts';
import type { Json } from '../../ground/json.ts';
import { countOf, creditsText, elapsedText } from '../numbers.ts';
import { safeText } from '../safe-text.ts';

export interface EndedRun {
  campaign: string;
  sandbox: boolean;
  exit: ExitCode;
  /** Absent when the run was broken off by an error. */
  end?: Extract<RunEvent, { event: 'run-ended' }> | undefined;
  /** Names, which may tell of what is not public yet: only where somebody asks for them. */
  details?: { failed: readonly string[]; gates: readonly string[] } | undefined;
}

/** Limit of names of one sort. */
const mostNames = 20;
const mostInText = 5;

/** Returns the reason for telling that a run has ended. Undefined: a person ended it, and knows. */
export function reasonToNotify(exit: ExitCode): NotifyReason | undefined {
  switch (exit) {
    case exitCodes.done:
      return 'done';
    case exitCodes.outOfCredits:
      return 'budget';
    case exitCodes.waitsForPerson:
      return 'gate';
    case exitCodes.interrupted:
      return undefined;
    default:
      return 'failed';
  }
}

/** The document that is sent: `text` for chat services, the fields of `run-ended` for programs. No prompts, no links. */
export function notificationJson(run: EndedRun, reason: NotifyReason): Json {
  const { campaign, sandbox, exit, end, details } = run;
  const { event: _event, ...fields } = end ?? {};
  return {
    mediabatch: 'notification',
    version: 1,
    text: notificationText(run, reason),
    reason,
    campaign,
    ...(sandbox && { sandbox }),
    exit,
    ...JSON.parse(JSON.stringify(fields)),
    ...(details !== undefined && {
      details: { failed: details.failed.slice(0, mostNames), gates: details.gates.slice(0, mostNames) },
    }),
  };
}

const headlines: { [reason in NotifyReason]: string } = {
  done: 'done',
  failed: 'failed',
  budget: 'out of credits',
  gate: 'waits for a person',
};

function notificationText({ campaign, sandbox, exit, end, details }: EndedRun, reason: NotifyReason): string {
  const code = exit === exitCodes.done ? '' : ` (exit ${exit})`;
  const lines = [`${campaign}${sandbox ? ' (sandbox)' : ''}: ${headlines[reason]}${code}`];
  if (end === undefined) lines.push('an error ended the run; what was bought is on record');
  else {
    const { outcomes, kept, spentNow, spentEver, elapsedMs } = end;
    const counts = [...wordsOf(outcomes), ...(kept > 0 ? [`${creditsText(kept)} from before`] : [])];
    lines.push(counts.length === 0 ? 'no step was begun' : counts.join(', '));
    const ever = spentEver > spentNow ? `, ${creditsText(spentEver)} in all` : '';
    lines.push(`${countOf(spentNow, 'credit')} spent${ever}, in ${elapsedText(elapsedMs)}`);
  }
  lines.push(...nameLine('failed', details?.failed), ...nameLine('to decide', details?.gates));
  return plain(lines.join('\n'));
}

const outcomeWords: { [outcome in StepOutcome]: string } = {
  done: 'done',
  failed: 'failed',
  refused: 'refused',
  unresolved: 'unresolved',
  lost: 'lost',
  running: 'still running',
  blocked: 'blocked',
  left: 'not begun',
  unneeded: 'not needed',
};

function wordsOf(outcomes: { [outcome in StepOutcome]?: number }): string[] {
  return Object.entries(outcomeWords).flatMap(([outcome, word]) => {
    const count = outcomes[outcome as StepOutcome] ?? 0;
    return count === 0 ? [] : [`${creditsText(count)} ${word}`];
  });
}

function nameLine(what: string, names: readonly string[] = []): string[] {
  if (names.length === 0) return [];
  const more = names.length > mostInText ? ` and ${names.length - mostInText} more` : '';
  const shown = names.slice(0, mostInText).map((name) => safeText(name, 200));
  return [`${what}: ${shown.join(', ')}${more}`];
}

/** Chat services read these signs as links and calls to everybody. */
function plain(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
