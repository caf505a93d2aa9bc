import { findStepFiles } from '../../campaign/find-step-files.ts';
import { requireGraph } from '../../campaign/load-manifest.ts';
import { requireLock } from '../../campaign/read-lock.ts';
import { exitCodes } from '../../contract/exit.ts';
import { situate } from '../../plan/situation/situation.ts';
import { safeText } from '../../report/safe-text.ts';
import { open, type StateOptions } from '../open.ts';
import { openFile } from '../open-file.ts';
import type { Terminal } from '../terminal.ts';

/** Shows the output of a step in the system's own viewer, or prints where it is. Needs no network and writes nothing. */
export async function openOutput(
  file: string,
  name: string,
  { options, terminal }: { options: StateOptions & { print?: boolean }; terminal: Terminal },
): Promise<number> {
  const campaign = await open(file, options, terminal);
  const graph = await requireGraph(campaign);
  const { lock } = await requireLock(campaign, undefined);
  const { address, paths, isEarlier } = findStepFiles(name, situate(graph, lock), campaign.paths);
  if (isEarlier) {
    terminal.err(`${terminal.style.yellow('note')} ${safeText(address)} was bought before its input changed\n`);
  }
  if (options.print) for (const path of paths) terminal.out(`${path}\n`);
  else for (const path of paths) await openFile(path);
  return exitCodes.done;
}
