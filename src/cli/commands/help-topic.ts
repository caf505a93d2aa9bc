import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { readEnvironment } from '../../campaign/environment.ts';
import { campaignPaths, knownService } from '../../campaign/paths.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError, titles } from '../../contract/failure.ts';
import type { Kind } from '../../kinds/kind.ts';
import type { ServiceDocument } from '../../kinds/service-document.ts';
import { pageText } from '../../report/manual/page-text.ts';
import { kindSection } from '../../report/manual/references.ts';
import { readTopic } from '../read-manual.ts';
import type { Terminal } from '../terminal.ts';

export async function helpTopic(topic: string, program: Command, terminal: Terminal): Promise<number> {
  const document = topic === 'kinds' ? await keptHere() : undefined;
  const page = await readTopic(topic, program, { document });
  terminal.out(pageText(page, { style: terminal.outStyle, width: terminal.outWidth }));
  const command = program.commands.find((one) => one.name() === topic);
  if (command !== undefined) {
    terminal.out('\n');
    command.outputHelp();
  }
  return exitCodes.done;
}

export async function helpKind(kind: Kind, terminal: Terminal): Promise<number> {
  const page = `${kindSection(kind, await keptHere())}\n\nThe manual about all of them: mediabatch help kinds\n`;
  terminal.out(pageText(page, { style: terminal.outStyle, width: terminal.outWidth }));
  return exitCodes.done;
}

/** The service's OpenAPI document, as stored by a campaign of the working folder. */
async function keptHere(): Promise<ServiceDocument | undefined> {
  const service = knownService(false, readEnvironment(process.env, process.cwd()));
  if (service === undefined) return undefined;
  const { readKeptServiceDocument } = await import('../../campaign/service-facts.ts');
  return readKeptServiceDocument(campaignPaths('campaign.yaml', {}), service);
}

const pages = new URL('../../report/diagnostics/code-pages/', import.meta.url);

export async function helpCode(code: string, terminal: Terminal): Promise<number> {
  if (!Object.hasOwn(titles, code)) throw unknownCode(code);
  const page = await readFile(new URL(`${code}.md`, pages), 'utf8');
  terminal.out(pageText(page, { style: terminal.outStyle, width: terminal.outWidth }));
  return exitCodes.done;
}

function unknownCode(code: string): CampaignError {
  const near = nearCodes(code.replace(/\D/g, '')).map((one) => `${one} (${titles[one]})`);
  return new CampaignError({
    code: 'MB3000',
    message: `there is no code ${code}`,
    hint: `near it: ${near.join(', ')}`,
    value: code,
  });
}

/** Diagnostic codes with the same first digits, or else the numerically nearest ones. */
function nearCodes(digits: string): string[] {
  const all = Object.keys(titles);
  const exact = all.filter((code) => code.endsWith(digits.padStart(4, '0')));
  if (exact.length > 0) return exact;
  const distance = (code: string) => Math.abs(Number(code.slice(2)) - Number(digits.slice(0, 9)));
  return all.toSorted((a, b) => distance(a) - distance(b)).slice(0, 3);
}
