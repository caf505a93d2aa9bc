import { mistakesOf } from '../../campaign/load-manifest.ts';
import { exitCodes } from '../../contract/exit.ts';
import { hasErrors } from '../../ground/diagnostic.ts';
import { expandJson, expandText } from '../../report/plan/expand-text.ts';
import { makeExpansion } from '../../report/plan/expansion.ts';
import { safeJson } from '../../report/safe-text.ts';
import { loadLocally } from '../load-locally.ts';
import { tellOn } from '../tell.ts';
import type { Terminal } from '../terminal.ts';

export interface ExpandOptions {
  json?: boolean;
  var?: Record<string, string>;
  varFile?: string[];
}

/** The manifest with everything resolved: one entry for each step. Needs no network and writes nothing. */
export async function expand(file: string, options: ExpandOptions, terminal: Terminal): Promise<number> {
  const { graph, manifest, diagnostics, sources } = await loadLocally(file, options, terminal);
  if (graph === undefined || manifest === undefined || hasErrors(diagnostics)) {
    throw mistakesOf(file, { diagnostics, sources });
  }
  tellOn(terminal)({ is: 'diagnostics', diagnostics, sources });
  const expansion = makeExpansion(graph, manifest);
  terminal.out(options.json ? `${safeJson(expandJson(expansion), 2)}\n` : expandText(expansion));
  return exitCodes.done;
}
