import type { Command } from 'commander';
import { exitCodes } from '../../contract/exit.ts';
import { pageText } from '../../report/manual/page-text.ts';
import { readTopic } from '../read-manual.ts';
import type { Terminal } from '../terminal.ts';

/** A page of the manual, and the command of that name after it, if there is one. */
export async function helpTopic(topic: string, program: Command, terminal: Terminal): Promise<number> {
  const page = await readTopic(topic, program);
  terminal.out(pageText(page, { style: terminal.outStyle, width: terminal.outWidth }));
  const command = program.commands.find((one) => one.name() === topic);
  if (command !== undefined) {
    terminal.out('\n');
    command.outputHelp();
  }
  return exitCodes.done;
}
