import { basename, join, resolve } from 'node:path';
import { shownPath } from '../../campaign/paths.ts';
import { exitCodes } from '../../contract/exit.ts';
import { call } from '../../ground/advice.ts';
import { jsonOf } from '../../report/document.ts';
import { bytesText, countOf } from '../../report/numbers.ts';
import { safeText } from '../../report/safe-text.ts';
import { type MadeGallery, makeGallery } from '../../review/gallery/make-gallery.ts';
import { type Flags, open, type SelectionOptions, type StateOptions, type Texts } from '../open.ts';
import { listenForInterruption } from '../signals.ts';
import { outJson, type Terminal } from '../terminal.ts';

type ReportOptions = StateOptions &
  SelectionOptions &
  Texts<'compare' | 'out' | 'singleFile' | 'note'> &
  Flags<'copy' | 'json'> & { maxSize?: number; for?: 'client' };

/** Minimum number of thumbnails for which the command prints a message before it creates them. */
const many = 50;

export async function report(file: string, options: ReportOptions, terminal: Terminal): Promise<number> {
  const { err, style, paste } = terminal;
  const campaign = await open(file, options, terminal);
  const { singleFile, maxSize, compare, select, exclude } = options;
  const client = options.for === undefined ? undefined : (options.note ?? '');
  // The sandbox has its own gallery, lock and outputs.
  const name = `${basename(file).replace(/\.(ya?ml|json)$/i, '')}${options.sandbox ? '.sandbox' : ''}.report`;
  const path = resolve(singleFile ?? options.out ?? join(campaign.paths.folder, name));
  const { signal, secondSignal, stop } = listenForInterruption();
  const making = makeGallery(campaign, {
    ...{ path, single: singleFile !== undefined, client, maxBytes: maxSize, compare, select, exclude, signal, paste },
    copy: options.copy === true || maxSize !== undefined,
    onThumb(done, all) {
      if (terminal.screen && done === 1 && all >= many) err(style.dim(`creating ${all} thumbnails …\n`));
    },
  });
  const made = await Promise.race([making, secondSignal]).finally(stop);
  if (!made) {
    err(
      `${style.yellow('interrupted')}  the gallery was not written; the next report uses the thumbnails made so far\n`,
    );
    err(`  to continue: ${paste(call('report'))}\n`);
    return exitCodes.interrupted;
  }
  const page = singleFile === undefined ? join(path, 'index.html') : path;
  const saved = shownPath(page);
  const { assets } = made.data;
  const counts = {
    shown: assets.filter(({ files }) => files.some(({ problem }) => problem === undefined)).length,
    steps: assets.length,
    lacking: assets.flatMap(({ files }) => files.filter(({ problem }) => problem !== undefined)).length,
  };
  err(`${style.green('saved')}  ${safeText(saved)}\n`);
  err(style.dim(`  ${aboutText(made, counts)}\n`));
  if (client !== undefined && made.data.groups.some(({ gate }) => gate !== undefined))
    err(`  when the reviewer returns picks.json: ${paste(call('pick', '--from', 'picks.json'))}\n`);
  if (options.json === true) outJson(terminal, jsonOf('report', { paths: [saved], ...counts }));
  return exitCodes.done;
}

function aboutText(
  { data, bytes, side }: MadeGallery,
  { shown, steps, lacking }: { shown: number; steps: number; lacking: number },
): string {
  const { embedded } = data.report;
  return [
    `${countOf(shown, 'output')} of ${countOf(steps, 'step')}`,
    ...(side === undefined ? [] : [`pictures as JPEGs of ${side} pixels at most`]),
    ...(embedded === undefined
      ? []
      : [
          `${countOf(embedded.thumbs, 'small picture')} in ${bytesText(bytes)}, without the ${countOf(embedded.left, 'original')}`,
        ]),
    ...(lacking === 0
      ? []
      : [`${countOf(lacking, 'file')} missing or damaged: the next apply downloads them for free`]),
  ].join('; ');
}
