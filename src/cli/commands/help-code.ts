import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError, titles } from '../../contract/failure.ts';
import { advise, call } from '../../plan/advice.ts';
import { readCodePage } from '../../report/diagnostics/code-page.ts';
import { codePageText } from '../../report/diagnostics/code-page-text.ts';
import { nearestCommand } from '../program/unknown-command.ts';
import type { Terminal } from '../terminal.ts';

const pages = new URL('../../report/diagnostics/code-pages/', import.meta.url);

/** The page of a code, in whatever case it is written. */
export async function helpCode(topic: string, program: Command, terminal: Terminal): Promise<number> {
  const code = topic.toUpperCase();
  if (!Object.hasOwn(titles, code)) throw unknownTopic(topic, program);
  const page = readCodePage(await readFile(new URL(`${code}.md`, pages), 'utf8'));
  terminal.out(codePageText(page, { style: terminal.outStyle, width: terminal.outWidth }));
  return exitCodes.done;
}

function unknownTopic(topic: string, program: Command): CampaignError {
  const isCode = /^m?b?\d+$/i.test(topic);
  if (!isCode) {
    const near = nearestCommand(program, topic);
    const hint = near === undefined ? advise`${call('help')} lists the commands` : `did you mean ${near}?`;
    return new CampaignError({
      code: 'MB3003',
      message: `there is no command ${topic}, and no such code`,
      hint,
      value: topic,
    });
  }
  const digits = topic.replace(/\D/g, '');
  const near = nearCodes(digits).map((code) => `${code} (${titles[code]})`);
  return new CampaignError({
    code: 'MB3003',
    message: `there is no code ${topic}`,
    hint: `near it: ${near.join(', ')}`,
    value: topic,
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
