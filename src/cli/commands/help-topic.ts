import type { Command } from 'commander';
import { readEnvironment } from '../../campaign/environment.ts';
import { campaignPaths, knownService } from '../../campaign/paths.ts';
import { exitCodes } from '../../contract/exit.ts';
import type { ServiceDocument } from '../../kinds/service-document.ts';
import { pageText } from '../../report/manual/page-text.ts';
import { readTopic } from '../read-manual.ts';
import type { Terminal } from '../terminal.ts';

/** A page of the manual, and the command of that name after it, if there is one. */
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

/** The description that the service at hand has of itself, as a campaign of the working folder has kept it. */
async function keptHere(): Promise<ServiceDocument | undefined> {
  const service = knownService(false, readEnvironment(process.env, process.cwd()));
  if (service === undefined) return undefined;
  const { readKeptServiceDocument } = await import('../../campaign/service-facts.ts');
  return readKeptServiceDocument(campaignPaths('campaign.yaml', {}), service);
}
