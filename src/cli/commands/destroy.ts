import { findRemoteRecords, type RemoteRecords } from '../../campaign/find-leftovers.ts';
import type { MoveQuestion } from '../../campaign/read-lock.ts';
import { chooseRecorded } from '../../campaign/select-steps.ts';
import { Session } from '../../campaign/session.ts';
import { withLibraryOf } from '../../campaign/with-library.ts';
import { exitCodes } from '../../contract/exit.ts';
import { type Failure, failures, serviceFailure } from '../../contract/failure.ts';
import type { RemoteRecord, Removal } from '../../contract/leftovers.ts';
import { checkOutputs } from '../../disk/outputs/outputs.ts';
import { defined } from '../../ground/values.ts';
import type { Lock } from '../../lock/record.ts';
import { findOrphans } from '../../plan/rows/orphans.ts';
import { countOf } from '../../report/numbers.ts';
import { safeText } from '../../report/safe-text.ts';
import { destroyJson, recordsView } from '../../report/tables/leftovers-text.ts';
import { type Library, ServiceError } from '../../service/library.ts';
import { askAboutMove, askPerson, declined } from '../ask-person.ts';
import { type Consent, consentIn, withConsent } from '../consent.ts';
import { open, type StateOptions } from '../open.ts';
import { listenForInterruption } from '../signals.ts';
import { outJson, sayFailure, type Terminal, tell } from '../terminal.ts';

interface DestroyOptions extends StateOptions {
  orphans?: boolean;
  yes?: boolean;
  json?: boolean;
  /** How long to wait for another run on the lock, in ms. */
  lockTimeout: number;
  serviceMoved?: boolean;
}

/**
 * Removes records at the service permanently. The lock does not change: purchases stay recorded, and later plans keep
 * local files.
 */
export async function destroy(
  file: string,
  addresses: string[],
  { options: typed, terminal }: { options: DestroyOptions; terminal: Terminal },
): Promise<number> {
  const consent = consentIn(process.env, { sandbox: typed.sandbox === true });
  const options = withConsent(typed, consent);
  const campaign = await open(file, options, terminal);
  const { paths, service } = campaign;
  const { serviceMoved, yes, lockTimeout: lockTimeoutMs } = options;
  const ask = (question: MoveQuestion) => askAboutMove(question, { yes, terminal, consent });
  const terms = { lockTimeoutMs, service, askAboutMove: serviceMoved === true ? ask : undefined };
  return Session.hold(campaign, terms, async ({ graph, lock, situation }) => {
    const orphans = options.orphans === true ? findOrphans(situation) : undefined;
    const chosen = chooseRecorded(addresses, { graph, lock, orphans });
    const present = await checkOutputs(paths.outputs, outputsOf(lock, chosen));
    const found = findRemoteRecords(situation, present, chosen);
    for (const { address, why } of found.skipped) {
      terminal.err(`${terminal.style.yellow('left alone')} ${safeText(`${address}: ${why}`)}\n`);
    }
    if (found.records.length === 0) {
      if (options.json) outJson(terminal, destroyJson([], found.skipped));
      terminal.err('nothing to remove: only music, thumbnails and clippings have records that can be removed\n');
      return exitCodes.done;
    }
    return withLibraryOf(campaign, ({ library }) => removeAll(library, found, { options, terminal, consent }));
  });
}

function* outputsOf(lock: Lock, addresses: ReadonlySet<string>) {
  for (const address of addresses) {
    for (const { outputs } of lock.steps.get(address)?.purchases ?? []) yield* outputs ?? [];
  }
}

async function removeAll(
  library: Library,
  { records, skipped }: RemoteRecords,
  { options, terminal, consent }: { options: DestroyOptions; terminal: Terminal; consent: Consent },
): Promise<number> {
  const { style } = terminal;
  tell(terminal, ...recordsView(records));
  terminal.err('Their credits are not refunded. Local files and the lock do not change.\n');
  terminal.err(
    `${style.yellow('A file that is lost later cannot be downloaded again')}: keep copies of important files.\n`,
  );
  const question = `Remove ${countOf(records.length, 'record')} at the service permanently?`;
  const agreed = await askPerson(question, { yes: options.yes, terminal, consent });
  if (agreed !== 'yes') return declined(agreed, 'removed', terminal);
  const { removals, ended } = await removeEach(library, records, terminal);
  if (options.json) outJson(terminal, destroyJson(removals, skipped));
  const count = (result: Removal['result']) => removals.filter((removal) => removal.result === result).length;
  const gone = count('gone') > 0 ? `, ${count('gone')} had been removed before` : '';
  const failed = count('failed') + count('left');
  terminal.err(`removed ${countOf(count('removed'), 'record')}${gone}${failed > 0 ? `, ${failed} not removed` : ''}\n`);
  if (ended === 'interrupted') return exitCodes.interrupted;
  if (ended !== undefined) {
    sayFailure(terminal, ended);
    return failures[ended.code].exit;
  }
  return failed > 0 ? exitCodes.someFailed : exitCodes.done;
}

async function removeEach(
  library: Library,
  records: readonly RemoteRecord[],
  terminal: Terminal,
): Promise<{ removals: Removal[]; ended?: Failure | 'interrupted' }> {
  const { style } = terminal;
  const removals: Removal[] = [];
  const interruption = listenForInterruption(() => terminal.err('\n'));
  const leave = (from: number) => records.slice(from).map((record): Removal => ({ record, result: 'left' }));
  try {
    for (const [index, record] of records.entries()) {
      if (interruption.signal.aborted) return { removals: [...removals, ...leave(index)], ended: 'interrupted' };
      const { kind, jobId, recordId, address } = record;
      const shown = safeText(`${address} ${jobId}`);
      try {
        const result = await library.removeJob(kind, { jobId, ...defined({ recordId }) });
        removals.push({ record, result });
        terminal.err(`${style.green(result === 'removed' ? 'removed' : 'gone   ')} ${shown}\n`);
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        if (error.why === 'auth' || error.why === 'unreachable') {
          return { removals: [...removals, ...leave(index)], ended: serviceFailure(error) };
        }
        removals.push({ record, result: 'failed', error: error.message });
        terminal.err(`${style.red('failed ')} ${shown}: ${safeText(error.message)}\n`);
      }
    }
  } finally {
    interruption.stop();
  }
  return { removals };
}
