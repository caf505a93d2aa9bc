import { extname } from 'node:path';
import { findOutputs, folderFrom, type OutputsOptions, saveOutputsList } from '../../campaign/outputs-list.ts';
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
import { type Flags, open, type StateOptions, type Texts } from '../open.ts';
import { show, type Terminal } from '../terminal.ts';

type ListOptions = StateOptions & OutputsOptions & Flags<'json'> & Texts<'out'> & { format?: 'text' | ListFormat };

export async function outputs(file: string, options: ListOptions, terminal: Terminal): Promise<void> {
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
    else if (format !== 'xlsx') terminal.out(outputsList(view, format, 'stream'));
  }
  terminal.err(outputsFooter(found));
  if (found.files.some(({ fileState }) => fileState === 'missing')) {
    terminal.err(`to download missing files for free: ${terminal.paste(call('apply'))}\n`);
  }
}

function formatOf({ format, json, out }: ListOptions): 'text' | ListFormat {
  const given = json === true ? 'json' : format;
  const refuse = (message: string, hint: string) =>
    new CampaignError({ code: 'MB3000', message, hint, options: ['--format', '--out'] });
  if (out === undefined) {
    if (given !== 'xlsx') return given ?? 'text';
    throw refuse('--format xlsx requires --out: a workbook cannot be printed', 'add --out, as in --out outputs.xlsx');
  }
  const byEnding = listFormatOf(extname(out));
  if (byEnding === undefined)
    throw refuse(`--out: ${out} has an unknown extension`, 'use .csv, .xlsx, .json or .jsonl');
  if (given === undefined || given === byEnding) return byEnding;
  if (given === 'csv-semicolon' && byEnding === 'csv') return given;
  throw refuse(`--format ${given} does not match --out ${out}`, 'remove --format: the extension sets the format');
}
