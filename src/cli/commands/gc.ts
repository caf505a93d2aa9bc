import { dirname, relative } from 'node:path';
import {
  deleteLeftover,
  findLeftovers,
  findReplaced,
  findUnpicked,
  findWanted,
  type LeftoverFile,
  type Leftovers,
  type OtherLock,
} from '../../campaign/find-leftovers.ts';
import { requireOtherLocks } from '../../campaign/find-locks.ts';
import { holdGuard } from '../../campaign/hold-guard.ts';
import type { OpenCampaign } from '../../campaign/open-campaign.ts';
import type { CampaignPaths } from '../../campaign/paths.ts';
import { Session } from '../../campaign/session.ts';
import { systemClock } from '../../contract/clock.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import type { Leftover } from '../../contract/leftovers.ts';
import { KeptFiles } from '../../disk/outputs/kept-files.ts';
import { SavedFiles } from '../../disk/outputs/saved-files.ts';
import { bytesText, countOf } from '../../report/numbers.ts';
import { safeText } from '../../report/safe-text.ts';
import { chargesText, gcJson, leftoversView } from '../../report/tables/leftovers-text.ts';
import { askPerson, declined } from '../ask-person.ts';
import { open, type StateOptions } from '../open.ts';
import { outJson, type Terminal, tell } from '../terminal.ts';

interface GcOptions extends StateOptions {
  /** Whether to delete files that newer outputs replaced, instead of files that no step owns. */
  kept?: boolean;
  /** Whether to delete files of outputs that people rejected or did not pick, instead. */
  unpicked?: boolean;
  dryRun?: boolean;
  yes?: boolean;
  json?: boolean;
  /** How long to wait for another run on the lock, in ms. */
  lockTimeout: number;
}

/** Deletes downloaded files that no step refers to. The lock and the records at the service do not change. */
export async function gc(file: string, options: GcOptions, terminal: Terminal): Promise<number> {
  if (options.kept === true && options.unpicked === true) {
    throw new CampaignError({
      code: 'MB3000',
      message: '--kept and --unpicked exclude each other',
      hint: 'run gc once with each; nothing was deleted',
      options: ['--kept', '--unpicked'],
    });
  }
  const campaign = await open(file, options, terminal);
  const { paths } = campaign;
  const guard = await holdGuard(paths.lock, options.lockTimeout, campaign.tell);
  try {
    const { found, remove } = options.kept
      ? await lookAtKept(campaign, options)
      : await lookAtOutputs(campaign, options);
    const { files, kept } = found;
    for (const { path, why } of kept) {
      terminal.err(`${terminal.style.yellow('left alone')} ${safeText(`${path}: ${why}`)}\n`);
    }
    if (files.length === 0) {
      if (options.json) outJson(terminal, gcJson([], kept));
      const nothing = options.kept ? '' : options.unpicked ? noneUnpicked : ': every file on record belongs to a step';
      terminal.err(`nothing to delete${kept.length === 0 ? nothing : ''}\n`);
      return exitCodes.done;
    }
    return await deleteAll(files, { remove, kept, options, terminal });
  } finally {
    await guard.release();
  }
}

const noneUnpicked = ': no file belongs to a rejected output, or to an output that a decided gate did not pick';

/**
 * Deletable files, and the function that deletes one of them. It returns false if the file has changed since it was
 * found.
 */
interface Findings {
  found: Leftovers;
  remove(file: LeftoverFile): Promise<boolean>;
}

async function lookAtOutputs(campaign: OpenCampaign, options: GcOptions): Promise<Findings> {
  const { paths } = campaign;
  const { situation } = await Session.open(campaign);
  const find = options.unpicked === true ? findUnpicked : findLeftovers;
  const found = await find(paths.outputs, {
    situation,
    // A sandbox campaign has its own folder.
    others: options.sandbox === true ? [] : await otherLocks(paths, false),
    saved: new SavedFiles(paths.state, paths.outputs),
    now: systemClock.now(),
  });
  return { found, remove: (file) => deleteLeftover(paths.outputs, file) };
}

async function lookAtKept(campaign: OpenCampaign, { sandbox = false }: GcOptions): Promise<Findings> {
  const { paths } = campaign;
  const files = new KeptFiles(paths.state, paths.kept);
  const { lock, situation } = await Session.open(campaign);
  const others = (await otherLocks(paths, sandbox)).map((other) => other.lock);
  const wanted = await findWanted(situation, paths.outputs);
  const found = await findReplaced(files, { lock, others, wanted, now: systemClock.now() });
  return { found, remove: async (file) => files.isThere() && (await deleteLeftover(files.folder, file)) };
}

/** Returns the locks of other campaigns in the folder, because they may share files with this one. */
async function otherLocks(paths: CampaignPaths, sandbox: boolean): Promise<OtherLock[]> {
  const locks = await requireOtherLocks(paths, { sandbox, mayHave: 'files here', done: 'deleted' });
  return locks.map(({ path, lock }) => {
    const folder = relative(paths.folder, dirname(path)).replaceAll('\\', '/');
    return { lock, prefix: folder === '' ? '' : `${folder}/` };
  });
}

async function deleteAll(
  files: readonly LeftoverFile[],
  context: Pick<Findings, 'remove'> & Pick<Leftovers, 'kept'> & { options: GcOptions; terminal: Terminal },
): Promise<number> {
  const { remove, kept, options, terminal } = context;
  const { style } = terminal;
  tell(terminal, ...leftoversView(files, systemClock.now()));
  if (files.some(({ is }) => is !== 'partial')) {
    terminal.err(
      `They were paid for (${chargesText(files)}). If ${options.unpicked ? 'one is picked later' : 'a step needs one again'}, apply downloads it for free while the service has it.\n`,
    );
  }
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  if (options.dryRun) {
    if (options.json) outJson(terminal, gcJson(files.map(plain), kept));
    terminal.err(`would delete ${countOf(files.length, 'file')} (${bytesText(total)})\n`);
    return exitCodes.done;
  }
  const question = `Delete ${countOf(files.length, 'file')} (${bytesText(total)})?`;
  const agreed = await askPerson(question, { yes: options.yes, terminal });
  if (agreed !== 'yes') return declined(agreed, 'deleted', terminal);
  const results: (Leftover & { deleted: boolean })[] = [];
  for (const file of files) {
    const deleted = await remove(file);
    results.push({ ...plain(file), deleted });
    if (!deleted) terminal.err(`${style.yellow('left alone')} ${safeText(file.path)}: it was changed meanwhile\n`);
  }
  if (options.json) outJson(terminal, gcJson(results, kept));
  const gone = results.filter(({ deleted }) => deleted);
  const freed = gone.reduce((sum, { bytes }) => sum + bytes, 0);
  terminal.err(`deleted ${countOf(gone.length, 'file')}, ${bytesText(freed)} freed\n`);
  return exitCodes.done;
}

function plain({ digests: _digests, ...row }: LeftoverFile): Leftover & { deleted: boolean } {
  return { ...row, deleted: false };
}
