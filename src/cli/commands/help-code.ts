import { readFile } from 'node:fs/promises';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError, titles } from '../../contract/failure.ts';
import { readCodePage } from '../../report/diagnostics/code-page.ts';
import { codePageText } from '../../report/diagnostics/code-page-text.ts';
import type { Terminal } from '../terminal.ts';

const pages = new URL('../../report/diagnostics/code-pages/', import.meta.url);

/** The page of a code. */
export async function helpCode(code: string, terminal: Terminal): Promise<number> {
  if (!Object.hasOwn(titles, code)) throw unknownCode(code);
  const page = readCodePage(await readFile(new URL(`${code}.md`, pages), 'utf8'));
  terminal.out(codePageText(page, { style: terminal.outStyle, width: terminal.outWidth }));
  return exitCodes.done;
}

function unknownCode(code: string): CampaignError {
  const near = nearCodes(code.replace(/\D/g, '')).map((one) => `${one} (${titles[one]})`);
  return new CampaignError({
    code: 'MB3003',
    message: `there is no code ${code}`,
    hint: `near it: ${near.join(', ')}`,
    value: code,
  });
}

/** Those that begin alike, else those that come next to it. */
function nearCodes(digits: string): string[] {
  const all = Object.keys(titles);
  const exact = all.filter((code) => code.endsWith(digits.padStart(4, '0')));
  if (exact.length > 0) return exact;
  const distance = (code: string) => Math.abs(Number(code.slice(2)) - Number(digits.slice(0, 9)));
  return all.toSorted((a, b) => distance(a) - distance(b)).slice(0, 3);
}
