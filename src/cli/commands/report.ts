import { basename, join, relative, resolve } from 'node:path';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import { bytesText, countOf } from '../../report/numbers.ts';
import { safeText } from '../../report/safe-text.ts';
import { type MadeGallery, makeGallery } from '../../review/gallery/make-gallery.ts';
import { open, type StateOptions } from '../open.ts';
import { openFile } from '../open-file.ts';
import type { Terminal } from '../terminal.ts';
import { reportSheet } from './report-sheet.ts';

export interface ReportOptions extends StateOptions {
  out?: string;
  copy?: boolean;
  singleFile?: string;
  sheet?: string;
  open?: boolean;
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
  const { singleFile, copy, run, compare, select, exclude } = options;
  const path = resolve(singleFile ?? options.out ?? join(folder, folderName(file, options)));
  const counter = countOnScreen(terminal);
  const made = await makeGallery(campaign, {
    ...{ path, single: singleFile !== undefined, copy, run, compare, select, exclude },
    paste: terminal.paste,
    onThumb: counter.tell,
  }).finally(counter.end);
  const page = singleFile === undefined ? join(path, 'index.html') : path;
  terminal.err(`${terminal.style.green('saved')}  ${safeText(relative('', page) || page)}\n`);
  terminal.err(terminal.style.dim(`  ${aboutText(made)}\n`));
  if (options.open) await openFile(page);
  return exitCodes.done;
}

/** Name of the folder. Play money has one of its own, as it has a lock and outputs. */
function folderName(file: string, { sandbox }: StateOptions): string {
  const name = basename(file).replace(/\.(ya?ml|json)$/i, '');
  return sandbox ? `${name}.sandbox.report` : `${name}.report`;
}

function refuseBoth({ out, copy, singleFile, sheet }: ReportOptions): void {
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

/** `48 outputs of 52 steps, 31 small pictures; 3 files are not here`. */
function aboutText({ data, bytes }: MadeGallery): string {
  const { assets, report } = data;
  const shown = assets.filter(({ files }) => files.some(({ problem }) => problem === undefined)).length;
  const lacking = assets.flatMap(({ files }) => files.filter(({ problem }) => problem !== undefined)).length;
  const { embedded } = report;
  return [
    `${countOf(shown, 'output')} of ${countOf(assets.length, 'step')}`,
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
