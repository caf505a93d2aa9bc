import { manifestProblem } from '../../campaign/load-manifest.ts';
import { refuseOwnFile } from '../../campaign/own-file.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import { replaceFile } from '../../disk/fs/replace.ts';
import { readManifestText } from '../../disk/inputs.ts';
import { call } from '../../ground/advice.ts';
import { formatManifest } from '../../manifest/format/format.ts';
import { maxManifestBytes } from '../../manifest/yaml/source.ts';
import { countOf } from '../../report/numbers.ts';
import { safeText } from '../../report/safe-text.ts';
import { type Terminal, tellOn } from '../terminal.ts';

export interface FmtOptions {
  /** Change nothing; end with 65 when something would be changed. */
  check?: boolean;
}

/** Formats manifests in place, or standard input to standard output for `-`. */
export async function fmt(files: string[], options: FmtOptions, terminal: Terminal): Promise<number> {
  if (files.includes('-') && files.length > 1) {
    throw new CampaignError({ code: 'MB3001', message: '- stands for standard input, and goes alone', options: ['-'] });
  }
  let wrong = false;
  const changed: string[] = [];
  for (const file of files) {
    const text = await readText(file);
    const result = formatManifest(file === '-' ? '<stdin>' : file, text);
    if ('diagnostics' in result) {
      const sources = new Map([[file === '-' ? '<stdin>' : file, text]]);
      tellOn(terminal)({ is: 'diagnostics', diagnostics: result.diagnostics, sources });
      wrong = true;
      continue;
    }
    if (file === '-' && !options.check) terminal.out(result.text);
    if (result.text === text) continue;
    changed.push(file);
    if (file !== '-' && !options.check) {
      await replaceFile(file, result.text);
      terminal.err(`${terminal.style.green('formatted')} ${safeText(file)}\n`);
    }
  }
  if (!options.check) return wrong ? exitCodes.wrongInput : exitCodes.done;
  for (const file of changed) terminal.out(`${safeText(file)}\n`);
  if (changed.length > 0) {
    const what = changed.length === 1 ? '1 file is' : `${countOf(changed.length, 'file')} are`;
    terminal.err(
      `${what} not formatted; format ${changed.length === 1 ? 'it' : 'them'}: ${terminal.paste(call('fmt', ...changed))}\n`,
    );
  }
  return wrong || changed.length > 0 ? exitCodes.wrongInput : exitCodes.done;
}

async function readText(file: string): Promise<string> {
  if (file === '-') return readStandardInput();
  await refuseOwnFile(file);
  const read = await readManifestText(file);
  if ('problem' in read) throw manifestProblem(file, read);
  return read.text;
}

async function readStandardInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    const part = Buffer.from(chunk as Uint8Array);
    bytes += part.length;
    if (bytes > maxManifestBytes)
      throw new CampaignError({
        code: 'MB3104',
        message: 'standard input is too large for a manifest',
        file: '<stdin>',
      });
    chunks.push(part);
  }
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/^\ufeff/, '');
}
