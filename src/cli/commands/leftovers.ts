import { dirname, relative } from 'node:path';
import {
  deleteLeftover,
  findLeftovers,
  findNeeded,
  findRemoteRecords,
  findReplaced,
  type LeftoverFile,
  type Leftovers,
  type OtherLock,
  type RemoteRecords,
} from '../../campaign/find-leftovers.ts';
import { requireOtherLocks } from '../../campaign/find-locks.ts';
import type { OpenCampaign } from '../../campaign/open-campaign.ts';
import type { CampaignPaths } from '../../campaign/paths.ts';
import { holdGuard, type MoveQuestion } from '../../campaign/read-lock.ts';
import { chooseRecorded } from '../../campaign/select-steps.ts';
import { Session } from '../../campaign/session.ts';
import { withLibraryOf } from '../../campaign/with-library.ts';
import { systemClock } from '../../contract/clock.ts';
import { exitCodes } from '../../contract/exit.ts';
import type { Leftover, RemoteRecord, Removal } from '../../contract/leftovers.ts';
import { checkOutputs } from '../../disk/outputs/check-outputs.ts';
import { KeptFiles } from '../../disk/outputs/kept-files.ts';
import { SavedFiles } from '../../disk/outputs/saved-files.ts';
import { defined } from '../../ground/values.ts';
import { findOrphans } from '../../plan/rows/orphans.ts';
import { jsonOf } from '../../report/document.ts';
import { bytesText, countOf } from '../../report/numbers.ts';
import { safeText } from '../../report/safe-text.ts';
import { chargesText, destroyJson, leftoversView, recordsView } from '../../report/tables/local-state.ts';
import type { Library } from '../../service/library.ts';
import { askAboutMove, askPerson, type Consent, consentIn, declined, withConsent } from '../consent.ts';
import { type Flags, open, type StateOptions } from '../open.ts';
import { exitOfItems, outJson, print, type Terminal } from '../terminal.ts';
import { treatEach } from './list.ts';

type SharedOptions = StateOptions & Flags<'yes' | 'json'> & { lockTimeout: number };
type GcOptions = SharedOptions & Flags<'kept' | 'dryRun'>;
type DestroyOptions = SharedOptions & Flags<'orphans' | 'serviceMoved'>;

export async function gc(file: string, options: GcOptions, terminal: Terminal): Promise<number> {
  const campaign = await open(file, options, terminal);
  const guard = await holdGuard(campaign.paths.lock, options.lockTimeout, campaign.notify);
  try {
    const findings = options.kept ? await findKept(campaign, options) : await findOutputs(campaign, options);
    return await deleteAll(findings, options, terminal);
  } finally {
    await guard.release();
  }
}

/** Files to delete. `remove` returns false if the file has changed since it was found. */
interface Findings {
  found: Leftovers;
  remove(file: LeftoverFile): Promise<boolean>;
}

async function findOutputs(campaign: OpenCampaign, options: GcOptions): Promise<Findings> {
  const { paths } = campaign;
  const { situation } = await Session.open(campaign);
  const found = await findLeftovers(paths.outputs, {
    situation,
    // The sandbox outputs of a campaign have a folder of their own.
    others: options.sandbox === true ? [] : await otherLocks(paths, false),
    saved: new SavedFiles(paths.state, paths.outputs),
    now: systemClock.now(),
  });
  return { found, remove: (file) => deleteLeftover(paths.outputs, file) };
}

async function findKept(campaign: OpenCampaign, { sandbox = false }: GcOptions): Promise<Findings> {
  const { paths } = campaign;
  const files = new KeptFiles(paths.state, paths.kept);
  const { lock, situation } = await Session.open(campaign);
  const others = (await otherLocks(paths, sandbox)).map((other) => other.lock);
  const wanted = await findNeeded(situation, paths.outputs);
  const found = await findReplaced(files, { lock, others, wanted, now: systemClock.now() });
  return { found, remove: async (file) => files.exists() && (await deleteLeftover(files.folder, file)) };
}

async function otherLocks(paths: CampaignPaths, sandbox: boolean): Promise<OtherLock[]> {
  const locks = await requireOtherLocks(paths, { sandbox, mayHave: 'files here', done: 'deleted' });
  return locks.map(({ path, lock }) => {
    const folder = relative(paths.folder, dirname(path)).replaceAll('\\', '/');
    return { lock, prefix: folder === '' ? '' : `${folder}/` };
  });
}

async function deleteAll({ found, remove }: Findings, options: GcOptions, terminal: Terminal): Promise<number> {
  const { files, kept } = found;
  const { err, style } = terminal;
  const rows = files.map((file) => ({ ...file, deleted: false }));
  const leave = (path: string, why: string) => err(`${style.yellow('left alone')} ${safeText(`${path}: ${why}`)}\n`);
  const end = (text: string) => {
    const bytesFreed = sumBytes(rows.filter(({ deleted }) => deleted));
    const shown = rows.map(({ digests: _digests, ...row }) => row);
    if (options.json) outJson(terminal, jsonOf('gc', { files: shown, kept, bytesFreed }));
    err(`${text}\n`);
    return exitCodes.done;
  };
  for (const { path, why } of kept) leave(path, why);
  if (files.length === 0) return end('nothing to delete');
  print(terminal, ...leftoversView(files, systemClock.now()));
  if (files.some(({ is }) => is !== 'partial')) {
    err(
      `These files were paid for (${chargesText(files)}). If a file is needed again, apply downloads it for free while the service stores it.\n`,
    );
  }
  const all = sumText(rows);
  if (options.dryRun) return end(`would delete ${all}`);
  const agreed = await askPerson(`Delete ${all}?`, { yes: options.yes, terminal });
  if (agreed !== 'yes') return declined(agreed, 'deleted', terminal);
  for (const row of rows) {
    row.deleted = await remove(row);
    if (!row.deleted) leave(row.path, 'the file has changed since it was listed');
  }
  return end(`deleted ${sumText(rows.filter(({ deleted }) => deleted))}`);
}

function sumText(rows: readonly Leftover[]): string {
  return `${countOf(rows.length, 'file')} (${bytesText(sumBytes(rows))})`;
}

function sumBytes(rows: readonly Leftover[]): number {
  return rows.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Permanently deletes records at the service. The lock and local files stay unchanged. */
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
  return Session.withLock(campaign, terms, async ({ graph, lock, situation }) => {
    const orphans = options.orphans === true ? findOrphans(situation) : undefined;
    const chosen = chooseRecorded(addresses, { graph, lock, orphans });
    const records = [...chosen].flatMap((address) => lock.steps.get(address)?.purchases ?? []);
    const present = await checkOutputs(
      paths.outputs,
      records.flatMap(({ outputs }) => outputs ?? []),
    );
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

async function removeAll(
  library: Library,
  { records, skipped }: RemoteRecords,
  { options, terminal, consent }: { options: DestroyOptions; terminal: Terminal; consent: Consent },
): Promise<number> {
  const { err, style } = terminal;
  print(terminal, ...recordsView(records));
  err('The credits of these records are not refunded. Local files and the lock do not change.\n');
  err(`${style.yellow('A file that is lost later cannot be downloaded again')}: keep copies of important files.\n`);
  const question = `Remove ${countOf(records.length, 'record')} at the service permanently?`;
  const agreed = await askPerson(question, { yes: options.yes, terminal, consent });
  if (agreed !== 'yes') return declined(agreed, 'removed', terminal);
  const removals: Removal[] = [];
  const shownOf = ({ address, jobId }: RemoteRecord) => safeText(`${address} ${jobId}`);
  const ended = await treatEach(records, terminal, {
    async treat(record) {
      const { kind, jobId, recordId } = record;
      const result = await library.removeJob(kind, { jobId, ...defined({ recordId }) });
      removals.push({ record, result });
      err(`${style.green(result === 'removed' ? 'removed' : 'gone   ')} ${shownOf(record)}\n`);
    },
    onFailed(record, error) {
      removals.push({ record, result: 'failed', error });
      err(`${style.red('failed ')} ${shownOf(record)}: ${safeText(error)}\n`);
    },
  });
  for (const record of records.slice(removals.length)) removals.push({ record, result: 'left' });
  if (options.json) outJson(terminal, destroyJson(removals, skipped));
  const count = (result: Removal['result']) => removals.filter((removal) => removal.result === result).length;
  const gone = count('gone') > 0 ? `, ${count('gone')} had already been removed` : '';
  const failed = count('failed') + count('left');
  err(`removed ${countOf(count('removed'), 'record')}${gone}${failed > 0 ? `, ${failed} not removed` : ''}\n`);
  return exitOfItems(terminal, { failed, ended });
}
