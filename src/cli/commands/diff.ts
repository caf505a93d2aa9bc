import { diffCommits } from '../../campaign/compare-with-commit.ts';
import { exitCodes } from '../../contract/exit.ts';
import { diffJson, diffText } from '../../report/diff-text.ts';
import { open } from '../open.ts';
import { outAs, type Terminal, tableOptions } from '../terminal.ts';

export interface DiffOptions {
  sandbox?: boolean;
  lock?: string;
  all?: boolean;
  json?: boolean;
}

/** Shows purchases and decisions between two commits, or since one. Needs no manifest, no network; writes nothing. */
export async function diff(
  file: string,
  [from = 'HEAD', to]: readonly (string | undefined)[],
  { options, terminal }: { options: DiffOptions; terminal: Terminal },
): Promise<number> {
  const campaign = await open(file, options, terminal);
  const view = await diffCommits(campaign, from, to);
  await outAs(terminal, options, {
    text: () => diffText(view, { ...tableOptions(terminal), all: options.all === true }),
    json: () => diffJson(view),
  });
  return exitCodes.done;
}
