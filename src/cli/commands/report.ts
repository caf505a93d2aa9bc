import { basename, join, relative, resolve } from 'node:path';
import type { OpenCampaign } from '../../campaign/open-campaign.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import { call } from '../../ground/advice.ts';
import { bytesText, countOf } from '../../report/numbers.ts';
import { safeText } from '../../report/safe-text.ts';
import { type MadeGallery, makeGallery } from '../../review/gallery/make-gallery.ts';
import { type SavedSheets, saveSheets } from '../../review/sheet/save-sheets.ts';
import { screenSide } from '../../review/thumbs/make-thumb.ts';
import { open, type StateOptions } from '../open.ts';
import { openFile } from '../open-file.ts';
import { listenForInterruption } from '../signals.ts';
import { outJson, type Terminal } from '../terminal.ts';

export interface ReportOptions extends StateOptions {
  out?: string;
  copy?: boolean;
  /** Bytes. */
  maxSize?: number;
  singleFile?: string;
  sheet?: string;
  open?: boolean;
  json?: boolean;
  run?: string;
  compare?: string;
  select?: string[];
  exclude?: string[];
}

/** Small pictures that are made at least this long are counted on the screen, in ms. */
const quietMs = 1000;
const tellEveryMs = 200;

/** Writes the gallery of a campaign, for any browser. No network, no lock; writes nothing else but small pictures. */
export async function report(file: string, options: ReportOptions, terminal: Terminal): Promise<number> {
  refuseBoth(options);
  const campaign = await open(file, options, terminal);
  if (options.sheet !== undefined) {
    return reportSheet(campaign, options.sheet, options, { terminal, show: openFile });
  }
  const { folder } = campaign.paths;
  const { singleFile, copy, maxSize, run, compare, select, exclude } = options;
  const path = resolve(singleFile ?? options.out ?? join(folder, folderName(file, options)));
  const counter = countOnScreen(terminal);
  const { signal, secondSignal, stop } = listenForInterruption();
  const making = makeGallery(campaign, {
    ...{ path, single: singleFile !== undefined, copy, maxBytes: maxSize, run, compare, select, exclude, signal },
    paste: terminal.paste,
    onThumb: counter.tell,
  });
  const made = await Promise.race([making, secondSignal]).finally(counter.end);
  stop();
  if (!made) return tellInterrupted(terminal);
  const page = singleFile === undefined ? join(path, 'index.html') : path;
  terminal.err(`${terminal.style.green('saved')}  ${safeText(relative('', page) || page)}\n`);
  terminal.err(terminal.style.dim(`  ${aboutText(made)}\n`));
  const { shown, steps, lacking } = countShown(made);
  tellSaved([page], { shown, steps, lacking }, { options, terminal });
  if (options.open) await openFile(page);
  return exitCodes.done;
}

function tellInterrupted({ err, style, paste }: Terminal): number {
  err(
    `${style.yellow('interrupted')}  the page was not written; small pictures that are made stay for the next time\n`,
  );
  err(`  to go on: ${paste(call('report'))}\n`);
  return exitCodes.interrupted;
}

/** Name of the folder. Play money has one of its own, as it has a lock and outputs. */
function folderName(file: string, { sandbox }: StateOptions): string {
  const name = basename(file).replace(/\.(ya?ml|json)$/i, '');
  return sandbox ? `${name}.sandbox.report` : `${name}.report`;
}

function refuseBoth({ out, copy, maxSize, singleFile, sheet }: ReportOptions): void {
  if (maxSize !== undefined && copy !== true) {
    throw new CampaignError({
      code: 'MB3001',
      message: '--max-size is about what --copy puts into the folder',
      hint: 'add --copy, or leave it out',
      options: ['--max-size'],
    });
  }
  const gallery = copy
    ? '--copy'
    : out !== undefined
      ? '--out'
      : singleFile !== undefined
        ? '--single-file'
        : undefined;
  if (sheet !== undefined && gallery !== undefined) {
    throw new CampaignError({
      code: 'MB3001',
      message: `--sheet does not go with ${gallery}: it writes pictures, and no gallery`,
      hint: `call report twice, once with --sheet and once with ${gallery}`,
      options: ['--sheet', gallery],
    });
  }
  const other = copy ? '--copy' : '--out';
  if (singleFile === undefined || (copy !== true && out === undefined)) return;
  throw new CampaignError({
    code: 'MB3001',
    message: `--single-file does not go with ${other}: it is one file, with small pictures only`,
    hint: `leave ${other} out for a file, or --single-file for a folder`,
    options: ['--single-file', other],
  });
}

/** How many steps show an output, and how many files are missing or damaged. */
function countShown({ data: { assets } }: MadeGallery): { shown: number; steps: number; lacking: number } {
  const shown = assets.filter(({ files }) => files.some(({ problem }) => problem === undefined)).length;
  const lacking = assets.flatMap(({ files }) => files.filter(({ problem }) => problem !== undefined)).length;
  return { shown, steps: assets.length, lacking };
}

/** The same for programs. Paths are seen from the working folder. */
function tellSaved(
  paths: readonly string[],
  counts: { [name: string]: number },
  { options, terminal }: { options: Pick<ReportOptions, 'json'>; terminal: Terminal },
): void {
  if (options.json !== true) return;
  const seen = paths.map((path) => relative('', path) || path);
  outJson(terminal, { mediabatch: 'report', version: 1, paths: seen, ...counts });
}

/** `48 outputs of 52 steps, 31 small pictures; 3 files are not here`. */
function aboutText(made: MadeGallery): string {
  const { data, bytes, isReduced } = made;
  const { shown, steps, lacking } = countShown(made);
  const { embedded } = data.report;
  return [
    `${countOf(shown, 'output')} of ${countOf(steps, 'step')}`,
    ...(isReduced ? [`pictures as JPEGs of ${screenSide} pixels at most`] : []),
    ...(embedded === undefined
      ? []
      : [
          `${countOf(embedded.thumbs, 'small picture')} in ${bytesText(bytes)}, without their ${countOf(embedded.left, 'original')}`,
        ]),
    ...(lacking === 0
      ? []
      : [`${countOf(lacking, 'file')} missing or damaged: the next apply fetches what is lacking for free`]),
  ].join('; ');
}

/** Counts small pictures on a screen: the first time many of them take minutes. */
function countOnScreen({ screen, err, width }: Terminal): { tell(done: number, all: number): void; end(): void } {
  const startedAt = performance.now();
  let toldAt = 0;
  return {
    tell(done, all) {
      const now = performance.now();
      if (!screen || now - startedAt < quietMs || now - toldAt < tellEveryMs) return;
      toldAt = now;
      err(`\r${`making small pictures: ${done} of ${all}`.slice(0, width - 1)}\u001b[K`);
    },
    end() {
      if (toldAt > 0) err('\r\u001b[K');
    },
  };
}

interface SheetOptions {
  open?: boolean;
  json?: boolean;
  compare?: string;
  select?: string[];
  exclude?: string[];
}

/** Captions of other scripts that are told. */
const mostTold = 5;

/** Writes contact sheets: pictures for where no page can go. */
async function reportSheet(
  campaign: OpenCampaign,
  path: string,
  options: SheetOptions,
  { terminal, show }: { terminal: Terminal; show: (path: string) => Promise<unknown> },
): Promise<number> {
  const { err, style, paste } = terminal;
  const { compare, select, exclude, open } = options;
  const saved = await saveSheets(campaign, path, { compare, select, exclude, paste });
  for (const name of saved.paths) err(`${style.green('saved')}  ${safeText(name)}\n`);
  err(style.dim(`  ${countOf(saved.tiles, compare === undefined ? 'asset' : 'pair')}${leftText(saved)}\n`));
  err(otherScriptsText(saved));
  tellSaved(saved.paths, { shown: saved.tiles, steps: saved.tiles + saved.left, lacking: 0 }, { options, terminal });
  if (open) await show(path);
  return exitCodes.done;
}

function leftText({ left }: SavedSheets): string {
  return left === 0 ? '' : `; ${left} more are on none: choose fewer with --select`;
}

/** Who looks at the sheet may see boxes; who made it can say what they stand for, or add a font. */
function otherScriptsText({ otherScripts }: SavedSheets): string {
  if (otherScripts.length === 0) return '';
  const told = otherScripts.slice(0, mostTold).map((text) => `    ${safeText(text)}\n`);
  const more = otherScripts.length > mostTold ? `    and ${otherScripts.length - mostTold} more\n` : '';
  const what = `${countOf(otherScripts.length, 'line')} ${otherScripts.length === 1 ? 'has' : 'have'}`;
  return `  ${what} signs that fonts of this system must have, or boxes stand in their place; those of the Noto family bring them:\n${told.join('')}${more}`;
}
