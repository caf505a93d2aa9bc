import { diffCommits } from '../../campaign/diff-commits.ts';
import { exitCodes } from '../../contract/exit.ts';
import { diffJson, diffMarkdown, diffText } from '../../report/diff-text.ts';
import { safeJson } from '../../report/safe-text.ts';
import { open } from '../open.ts';
import { tableOptions } from '../table-options.ts';
import type { Terminal } from '../terminal.ts';

export interface DiffOptions {
  sandbox?: boolean;
  lock?: string;
  all?: boolean;
  json?: boolean;
  format?: 'text' | 'json' | 'markdown';
}

interface Context {
  options: DiffOptions;
  terminal: Terminal;
}

/** Shows purchases and decisions between two commits, or since one. Needs no manifest, no network; writes nothing. */
export async function diff(
  file: string,
  [from = 'HEAD', to]: readonly (string | undefined)[],
  { options, terminal }: Context,
): Promise<number> {
  const campaign = await open(file, options, terminal);
  const view = await diffCommits(campaign, from, to);
  const format = options.json ? 'json' : (options.format ?? 'text');
  switch (format) {
    case 'json':
      terminal.out(`${safeJson(diffJson(view), 2)}\n`);
      break;
    case 'markdown':
      terminal.out(diffMarkdown(view));
      break;
    case 'text':
      terminal.out(diffText(view, { ...tableOptions(terminal), all: options.all === true }));
      break;
    default:
      format satisfies never;
  }
  return exitCodes.done;
}
