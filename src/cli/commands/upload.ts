import { realpath } from 'node:fs/promises';
import { basename } from 'node:path';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError, type Failure, failures, serviceFailure } from '../../contract/failure.ts';
import { findWayOut } from '../../disk/fs/own-tree.ts';
import { hashFile } from '../../disk/outputs/hash-file.ts';
import { messageOf } from '../../ground/values.ts';
import { safeText } from '../../report/safe-text.ts';
import { type UploadRow, uploadsJson, uploadsView } from '../../report/tables/jobs-text.ts';
import { type Library, ServiceError } from '../../service/library.ts';
import { listenForInterruption } from '../signals.ts';
import { outAs, sayFailure, type Terminal } from '../terminal.ts';
import { type ServiceOptions, tellLinksEnd, withService } from './list.ts';

interface LocalFile {
  given: string;
  path: string;
  sha256: string;
  bytes: number;
}

interface Results {
  rows: UploadRow[];
  failed: { name: string; error: string }[];
  /** Why the remaining files were not tried. */
  ended?: Failure | 'interrupted';
}

/** Uploads files to the media library. Files with equal bytes are uploaded once per call. Costs no credits. */
export async function upload(files: string[], options: ServiceOptions, terminal: Terminal): Promise<number> {
  const local: LocalFile[] = [];
  for (const file of files) local.push(await readLocalFile(file));
  const interruption = listenForInterruption(() => terminal.err('\n'));
  const { signal } = interruption;
  const { rows, failed, ended } = await withService({ ...options, keeps: true }, ({ library }) =>
    uploadAll(library, local, { signal, terminal }),
  ).finally(interruption.stop);
  await outAs(terminal, options, { text: () => uploadsView(rows), json: () => uploadsJson(rows, failed) });
  if (rows.length > 0) tellLinksEnd(options, terminal);
  if (ended === 'interrupted') return exitCodes.interrupted;
  if (ended !== undefined) {
    sayFailure(terminal, ended);
    return failures[ended.code].exit;
  }
  return failed.length > 0 ? exitCodes.someFailed : exitCodes.done;
}

async function readLocalFile(given: string): Promise<LocalFile> {
  const wrong = (why: string) =>
    new CampaignError({
      code: 'MB3104',
      message: `${given} cannot be uploaded: ${why}`,
      hint: 'nothing was uploaded',
      file: given,
    });
  // The file becomes public, so a link in a branch must not decide which file is uploaded.
  const wayOut = findWayOut(given);
  if (wayOut !== undefined) throw wrong(wayOut);
  const path = await realpath(given).catch(({ code, message }: NodeJS.ErrnoException) => {
    throw wrong(code === 'ENOENT' || code === 'ENOTDIR' ? 'there is no such file' : message);
  });
  const digest = await hashFile(path).catch((error: unknown) => {
    throw wrong(messageOf(error));
  });
  if (digest === undefined) throw wrong('there is no such file');
  if (digest.bytes === 0) throw wrong('it is empty');
  return { given, path, ...digest };
}

async function uploadAll(
  library: Library,
  files: readonly LocalFile[],
  { signal, terminal }: { signal: AbortSignal; terminal: Terminal },
): Promise<Results> {
  const { err, style } = terminal;
  const results: Results = { rows: [], failed: [] };
  const done = new Map<string, UploadRow>();
  for (const [index, { given, path, sha256, bytes }] of files.entries()) {
    const name = basename(given);
    const known = done.get(sha256);
    if (known !== undefined) {
      results.rows.push({ ...known, name });
      err(`${safeText(given)} has the same bytes as ${safeText(known.name)}: it is not uploaded again\n`);
      continue;
    }
    if (terminal.screen) err(style.dim(`uploading ${safeText(given)} (${index + 1} of ${files.length})\n`));
    try {
      const { id, url } = await library.upload({ path, fileName: name, bytes, sha256 }, signal);
      const row = { name, url, id, bytes };
      done.set(sha256, row);
      results.rows.push(row);
    } catch (error) {
      if (signal.aborted) return { ...results, ended: 'interrupted' };
      if (!(error instanceof ServiceError)) throw error;
      // With a wrong API key or an unreachable service, the other files would fail, too.
      if (error.why === 'auth' || error.why === 'unreachable') return { ...results, ended: serviceFailure(error) };
      results.failed.push({ name: given, error: error.message });
      err(`${style.red('failed')} ${safeText(given)}: ${safeText(error.message)}\n`);
    }
  }
  return results;
}
