import { basename, join, relative, resolve } from 'node:path';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import { call } from '../../ground/advice.ts';
import { bytesText, countOf } from '../../report/numbers.ts';
import { safeText } from '../../report/safe-text.ts';
import type { GalleryOptions } from '../../review/gallery/describe-gallery.ts';
import { type MadeGallery, makeGallery } from '../../review/gallery/make-gallery.ts';
import { open, type StateOptions } from '../open.ts';
import { listenForInterruption } from '../signals.ts';
import { outJson, type Terminal } from '../terminal.ts';

interface ReportOptions extends StateOptions, Pick<GalleryOptions, 'compare' | 'select' | 'exclude'> {
  out?: string;
  copy?: boolean;
  /** Size limit in bytes. */
  maxSize?: number;
  singleFile?: string;
  for?: 'client';
  note?: string;
  json?: boolean;
}

/** Time in ms after which the screen shows how many small pictures are made. */
const quietMs = 1000;
const tellEveryMs = 200;

/**
 * Writes the gallery of a campaign, for any browser. Sends no request and takes no lock; also writes small pictures.
 */
export async function report(file: string, options: ReportOptions, terminal: Terminal): Promise<number> {
  refuseBoth(options);
  const campaign = await open(file, options, terminal);
  const { folder } = campaign.paths;
  const { singleFile, copy, maxSize, compare, select, exclude } = options;
  const client = options.for === undefined ? undefined : (options.note ?? '');
  const path = resolve(singleFile ?? options.out ?? join(folder, folderName(file, options)));
  const counter = countOnScreen(terminal);
  const { signal, secondSignal, stop } = listenForInterruption();
  const making = makeGallery(campaign, {
    ...{ path, single: singleFile !== undefined, copy, client, maxBytes: maxSize, compare, select, exclude, signal },
    paste: terminal.paste,
    onThumb: counter.tell,
  });
  const made = await Promise.race([making, secondSignal]).finally(counter.end);
  stop();
  if (!made) return tellInterrupted(terminal);
  const page = singleFile === undefined ? join(path, 'index.html') : path;
  terminal.err(`${terminal.style.green('saved')}  ${safeText(relative('', page) || page)}\n`);
  terminal.err(terminal.style.dim(`  ${aboutText(made)}\n`));
  if (client !== undefined) {
    terminal.err(`  when picks.json comes back: ${terminal.paste(call('pick', '--from', 'picks.json'))}\n`);
  }
  const { shown, steps, lacking } = countShown(made);
  tellSaved([page], { shown, steps, lacking }, { options, terminal });
  return exitCodes.done;
}

function tellInterrupted({ err, style, paste }: Terminal): number {
  err(
    `${style.yellow('interrupted')}  the page was not written; thumbnails made so far are kept for the next report\n`,
  );
  err(`  to continue: ${paste(call('report'))}\n`);
  return exitCodes.interrupted;
}

/** Name of the gallery's folder. The sandbox has another one, as it has its own lock and outputs. */
function folderName(file: string, { sandbox }: StateOptions): string {
  const name = basename(file).replace(/\.(ya?ml|json)$/i, '');
  return sandbox ? `${name}.sandbox.report` : `${name}.report`;
}

function refuseBoth({ out, copy, maxSize, singleFile, compare, note, ...options }: ReportOptions): void {
  if (options.for === undefined ? note !== undefined : compare !== undefined) {
    throw new CampaignError({
      code: 'MB3000',
      message:
        options.for === undefined ? '--note needs --for client' : '--for client cannot be combined with --compare',
      hint: options.for === undefined ? 'add --for client' : 'remove one of them',
      options: [options.for === undefined ? '--note' : '--compare'],
    });
  }
  if (maxSize !== undefined && copy !== true && (options.for === undefined || singleFile !== undefined)) {
    throw new CampaignError({
      code: 'MB3000',
      message: '--max-size requires --copy',
      hint: 'add --copy, or remove --max-size',
      options: ['--max-size'],
    });
  }
  const other = copy ? '--copy' : '--out';
  if (singleFile === undefined || (copy !== true && out === undefined)) return;
  throw new CampaignError({
    code: 'MB3000',
    message: `--single-file cannot be combined with ${other}: it writes one file, with small pictures only`,
    hint: `remove ${other} to get a file, or --single-file to get a folder`,
    options: ['--single-file', other],
  });
}

function countShown({ data: { assets } }: MadeGallery): { shown: number; steps: number; lacking: number } {
  const shown = assets.filter(({ files }) => files.some(({ problem }) => problem === undefined)).length;
  const lacking = assets.flatMap(({ files }) => files.filter(({ problem }) => problem !== undefined)).length;
  return { shown, steps: assets.length, lacking };
}

/** Prints the result for programs. Paths are relative to the working folder. */
function tellSaved(
  paths: readonly string[],
  counts: { [name: string]: number },
  { options, terminal }: { options: Pick<ReportOptions, 'json'>; terminal: Terminal },
): void {
  if (options.json !== true) return;
  const seen = paths.map((path) => relative('', path) || path);
  outJson(terminal, { mediabatch: 'report', version: 1, paths: seen, ...counts });
}

function aboutText(made: MadeGallery): string {
  const { data, bytes, side } = made;
  const { shown, steps, lacking } = countShown(made);
  const { embedded } = data.report;
  return [
    `${countOf(shown, 'output')} of ${countOf(steps, 'step')}`,
    ...(side === undefined ? [] : [`pictures as JPEGs of ${side} pixels at most`]),
    ...(embedded === undefined
      ? []
      : [
          `${countOf(embedded.thumbs, 'small picture')} in ${bytesText(bytes)}, without their ${countOf(embedded.left, 'original')}`,
        ]),
    ...(lacking === 0
      ? []
      : [`${countOf(lacking, 'file')} missing or damaged: the next apply downloads them for free`]),
  ].join('; ');
}

function countOnScreen({ screen, err, width }: Terminal): { tell(done: number, all: number): void; end(): void } {
  const startedAt = performance.now();
  let shownAt = 0;
  return {
    tell(done, all) {
      const now = performance.now();
      if (!screen || now - startedAt < quietMs || now - shownAt < tellEveryMs) return;
      shownAt = now;
      err(`\r${`making small pictures: ${done} of ${all}`.slice(0, width - 1)}\u001b[K`);
    },
    end() {
      if (shownAt > 0) err('\r\u001b[K');
    },
  };
}
