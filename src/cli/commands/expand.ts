import { requireStep } from '../../campaign/choose-steps.ts';
import { mistakesOf } from '../../campaign/load-manifest.ts';
import { exitCodes } from '../../contract/exit.ts';
import { hasErrors } from '../../ground/diagnostic.ts';
import { expandJson, expandText, makeExpansion } from '../../report/plan/expansion.ts';
import { loadLocally } from '../load-locally.ts';
import type { StateOptions } from '../open.ts';
import { outAs, type Terminal, tellOn } from '../terminal.ts';

export interface ExpandOptions extends Pick<StateOptions, 'var' | 'varFile'> {
  json?: boolean;
  /** Only this step. */
  step?: string;
}

/** The manifest with everything resolved: one entry for each step. Needs no network and writes nothing. */
export async function expand(file: string, options: ExpandOptions, terminal: Terminal): Promise<number> {
  const { graph, manifest, diagnostics, sources } = await loadLocally(file, options, terminal);
  if (graph === undefined || manifest === undefined || hasErrors(diagnostics)) {
    throw mistakesOf(file, { diagnostics, sources });
  }
  tellOn(terminal)({ is: 'diagnostics', diagnostics, sources });
  const whole = makeExpansion(graph, manifest);
  const only = options.step === undefined ? undefined : requireStep(options.step, graph).address;
  const expansion =
    only === undefined ? whole : { ...whole, steps: whole.steps.filter(({ address }) => address === only) };
  await outAs(terminal, options, { text: () => expandText(expansion), json: () => expandJson(expansion) });
  return exitCodes.done;
}
