import { extname } from 'node:path';
import {
  type FoundOutputs,
  findOutputs,
  folderFrom,
  type OutputsOptions,
  saveOutputsList,
} from '../../campaign/save-outputs-list.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import { call } from '../../ground/advice.ts';
import {
  type ListFormat,
  listFormatOf,
  outputsFooter,
  outputsList,
  outputsView,
} from '../../report/outputs/outputs-list.ts';
import { safeText } from '../../report/safe-text.ts';
import { open, type StateOptions } from '../open.ts';
import { show, type Terminal } from '../terminal.ts';

interface OutputsCommandOptions extends StateOptions, OutputsOptions {
  format?: 'text' | ListFormat;
  json?: boolean;
  out?: string;
}

/** Lists every file with all known facts. Sends no request; writes only `--out`. */
export async function outputs(file: string, options: OutputsCommandOptions, terminal: Terminal): Promise<number> {
  const format = formatOf(options);
  const campaign = await open(file, options, terminal);
  const found = await findOutputs(campaign, options);
  const { paths } = campaign;
  const { out } = options;
  if (out !== undefined && format !== 'text') {
    await saveOutputsList(out, found, { format, paths });
    terminal.err(`${terminal.style.green('saved')}  ${safeText(out)}\n`);
  } else {
    const view = { ...found, folder: folderFrom('', paths.outputs) };
    if (format === 'text') show(terminal, outputsView(view));
    else if (format === 'xlsx') throw noStream();
    else terminal.out(outputsList(view, format, 'stream'));
  }
  tellWhole(found, terminal);
  return exitCodes.done;
}

function formatOf({ format, json, out }: OutputsCommandOptions): 'text' | ListFormat {
  const given = json === true ? 'json' : format;
  if (out === undefined) return given ?? 'text';
  const byEnding = listFormatOf(extname(out));
  if (byEnding === undefined) {
    throw new CampaignError({
      code: 'MB3000',
      message: `--out: ${out} has an unknown extension`,
      hint: 'use .csv, .xlsx, .json or .jsonl',
      options: ['--out'],
    });
  }
  if (given === undefined || given === byEnding) return byEnding;
  if (given === 'csv-semicolon' && byEnding === 'csv') return given;
  throw new CampaignError({
    code: 'MB3000',
    message: `--format ${given} does not match --out ${out}`,
    hint: 'remove --format: the extension of the file sets the format',
    options: ['--format', '--out'],
  });
}

function noStream(): CampaignError {
  return new CampaignError({
    code: 'MB3000',
    message: '--format xlsx requires --out: a workbook cannot be printed',
    hint: 'name the file: --out outputs.xlsx',
    options: ['--format', '--out'],
  });
}

function tellWhole(found: FoundOutputs, terminal: Terminal): void {
  terminal.err(outputsFooter(found));
  if (found.files.some(({ fileState }) => fileState === 'missing')) {
    terminal.err(`to download missing files for free: ${terminal.paste(call('apply'))}\n`);
  }
}
