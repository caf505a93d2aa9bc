import { basename, dirname, relative } from 'node:path';
import { deleteLeftover } from '../../campaign/delete-leftover.ts';
import { findLeftovers, type LeftoverFile, type OtherLock } from '../../campaign/find-leftovers.ts';
import { findLocks } from '../../campaign/find-locks.ts';
import { holdGuard } from '../../campaign/hold-guard.ts';
import { requireGraph } from '../../campaign/load-manifest.ts';
import type { CampaignPaths } from '../../campaign/paths.ts';
import { requireLock } from '../../campaign/read-lock.ts';
import { systemClock } from '../../contract/clock.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import type { Leftover } from '../../contract/leftover.ts';
import { SavedFiles } from '../../disk/outputs/saved-files.ts';
import { hasErrors } from '../../ground/diagnostic.ts';
import { bytesText, countOf } from '../../report/numbers.ts';
import { safeJson, safeText } from '../../report/safe-text.ts';
import { gcJson, leftoversText } from '../../report/tables/gc-text.ts';
import { askPerson } from '../ask-person.ts';
import { open } from '../open.ts';
import type { Terminal } from '../terminal.ts';

export interface GcOptions {
  yes?: boolean;
  json?: boolean;
  sandbox?: boolean;
  lock?: string;
  lockTimeout: number;
  var?: Record<string, string>;
  varFile?: string[];
}

/** Deletes local files that were bought and that no step owns any more. The lock and the service stay as they are. */
export async function gc(file: string, options: GcOptions, terminal: Terminal): Promise<number> {
  const campaign = await open(file, options, terminal);
  const { paths, tell } = campaign;
  const graph = await requireGraph(campaign);
  const guard = await holdGuard(paths.lock, options.lockTimeout * 1000, tell);
  try {
    const { lock } = await requireLock(campaign, undefined);
    const others = await otherLocks(paths, options.sandbox === true);
    const { files, kept } = await findLeftovers(paths.outputs, {
      graph,
      lock,
      others,
      saved: new SavedFiles(paths.state, paths.outputs),
      now: systemClock.now(),
    });
    for (const { path, why } of kept) {
      terminal.err(`${terminal.style.yellow('left alone')} ${safeText(`${path}: ${why}`)}\n`);
    }
    if (files.length === 0) {
      if (options.json) terminal.out(`${safeJson(gcJson([], kept), 2)}\n`);
      const all = kept.length === 0 ? ': every file on record belongs to a step' : '';
      terminal.err(`nothing to delete${all}\n`);
      return exitCodes.done;
    }
    return await deleteAll(files, { root: paths.outputs, kept, options, terminal });
  } finally {
    await guard.release();
  }
}

/** Campaigns of the same folder may share files with this one. What cannot be read might own anything. */
async function otherLocks(paths: CampaignPaths, sandbox: boolean): Promise<OtherLock[]> {
  // A sandbox campaign has a folder of its own.
  if (sandbox) return [];
  const locks = await findLocks(paths.folder, { sandbox: false });
  return locks
    .filter(({ path }) => path !== paths.lock)
    .map(({ path, shown, problem, reading }) => {
      if (reading === undefined || hasErrors(reading.diagnostics)) {
        throw new CampaignError({
          code: 'MB3407',
          message: `${shown} cannot be read${problem === undefined ? '' : ` (${problem})`}, and it may own files here`,
          hint: `repair it, or move ${basename(shown)} away; nothing was deleted`,
          lock: shown,
        });
      }
      const folder = relative(paths.folder, dirname(path)).replaceAll('\\', '/');
      return { lock: reading.lock, prefix: folder === '' ? '' : `${folder}/` };
    });
}

async function deleteAll(
  files: readonly LeftoverFile[],
  context: { root: string; kept: { path: string; why: string }[]; options: GcOptions; terminal: Terminal },
): Promise<number> {
  const { root, kept, options, terminal } = context;
  const { style } = terminal;
  const width = process.stderr.isTTY === true ? { width: terminal.width } : {};
  terminal.err(leftoversText(files, { style, ...width }));
  if (files.some((file) => file.is === 'output')) {
    terminal.err(
      'They were paid for. Should a step want one again, apply fetches it for free while the service has it.\n',
    );
  }
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const question = `Delete ${countOf(files.length, 'file')} (${bytesText(total)})?`;
  const agreed = await askPerson(question, { yes: options.yes, terminal });
  if (agreed !== 'yes') {
    terminal.err('nothing was deleted\n');
    return agreed === 'no' ? exitCodes.done : exitCodes.interrupted;
  }
  const results: (Leftover & { deleted: boolean })[] = [];
  for (const file of files) {
    const { digests: _digests, ...row } = file;
    const deleted = await deleteLeftover(root, file);
    results.push({ ...row, deleted });
    if (!deleted) terminal.err(`${style.yellow('left alone')} ${safeText(file.path)}: it was changed meanwhile\n`);
  }
  if (options.json) terminal.out(`${safeJson(gcJson(results, kept), 2)}\n`);
  const gone = results.filter(({ deleted }) => deleted);
  const freed = gone.reduce((sum, { bytes }) => sum + bytes, 0);
  terminal.err(`deleted ${countOf(gone.length, 'file')}, ${bytesText(freed)} freed\n`);
  return exitCodes.done;
}
