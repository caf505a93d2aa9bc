import type { Applied } from '../campaign/apply-options.ts';
import { readNotifyAddress } from '../campaign/environment.ts';
import { systemClock } from '../contract/clock.ts';
import { type ExitCode, exitCodes } from '../contract/exit.ts';
import { CampaignError, failureOf, failures } from '../contract/failure.ts';
import type { NotifyReason } from '../contract/ports.ts';
import { isWork } from '../plan/actions.ts';
import { type EndedRun, notificationJson, reasonToNotify } from '../report/run/notification.ts';
import type { ApplyOptions } from './open.ts';
import { type Terminal, tellNotice } from './terminal.ts';

/** Says elsewhere how a run ended. Never fails, and changes no exit code. */
export interface Notification {
  ended(applied: Applied): Promise<void>;
  /** An error ended the run. */
  broke(campaign: string, error: unknown): Promise<void>;
}

/**
 * Who is told, if anybody. Reads the environment before anything is spent, so that a wrong address ends the command. A
 * rehearsal is told of only where `--notify` asks for it.
 */
export function openNotification(
  options: Pick<ApplyOptions, 'notify' | 'notifyDetails' | 'sandbox'>,
  terminal: Terminal,
): Notification | undefined {
  const address = readNotifyAddress(process.env);
  const given =
    options.notify !== undefined ? '--notify' : options.notifyDetails === true ? '--notify-details' : undefined;
  if (address === undefined) {
    if (given === undefined) return undefined;
    throw new CampaignError({
      code: 'MB3001',
      message: `${given} has nobody to tell: MEDIABATCH_NOTIFY_URL is not set`,
      hint: 'set it to the address of an incoming webhook, in the environment (.env is not read for it)',
      options: [given],
    });
  }
  const sandbox = options.sandbox === true;
  if (sandbox && given === undefined) return undefined;
  const tell = async (run: Omit<EndedRun, 'sandbox'>) => {
    const reason = reasonToNotify(run.exit);
    if (reason === undefined || !wants(options.notify, reason)) return;
    const { createNotifier } = await import('../service/notifier.ts');
    const notifier = createNotifier({ address, clock: systemClock });
    const sent = await notifier.send(JSON.stringify(notificationJson({ ...run, sandbox }, reason)));
    if (sent.is === 'sent') return;
    const text = `the notification was not sent to MEDIABATCH_NOTIFY_URL: ${sent.why}`;
    tellNotice(terminal, `${text}; the run itself is as told above`);
  };
  return {
    async ended(applied) {
      if (applied.is !== 'ran') return;
      const { made, carriedOut, result } = applied;
      // Whoever runs the same again and again, as CI does, is told of nothing as often.
      if (result.exit === exitCodes.done && !made.rows.some(isWork)) return;
      const details = options.notifyDetails === true ? { details: detailsOf(carriedOut, result.outcomes) } : {};
      await tell({ campaign: made.campaign, exit: result.exit, end: result.end, ...details });
    },
    broke: (campaign, error) => tell({ campaign, exit: exitOf(error) }),
  };
}

function wants(reasons: readonly NotifyReason[] | undefined, reason: NotifyReason): boolean {
  return reasons === undefined || reasons.includes(reason);
}

type Ran = Extract<Applied, { is: 'ran' }>;

function detailsOf({ gates = [] }: Ran['carriedOut'], outcomes: Ran['result']['outcomes']): EndedRun['details'] {
  const failed = [...outcomes].filter(
    ([, outcome]) => outcome === 'failed' || outcome === 'refused' || outcome === 'lost',
  );
  return {
    failed: failed.map(([address]) => address),
    gates: gates.filter(({ waiting }) => waiting > 0).map(({ name }) => name),
  };
}

function exitOf(error: unknown): ExitCode {
  const failure = failureOf(error);
  return failure === undefined ? exitCodes.internalError : failures[failure.code].exit;
}
