import type { Json } from '../../json.ts';
import { diagnosticsJson } from '../../report/diagnostics-json.ts';
import { countOf } from '../../report/numbers.ts';
import { safeJson } from '../../report/safe-text.ts';
import { type LoadedManifest, loadManifest, showDiagnostics } from '../campaign.ts';
import { CommandError, exitCodes } from '../exit.ts';
import type { Terminal } from '../terminal.ts';
import { collectVars } from '../vars.ts';

export interface ValidateOptions {
  json?: boolean;
  var?: Record<string, string>;
}

export async function validate(files: string[], options: ValidateOptions, terminal: Terminal): Promise<number> {
  const { outStyle: style } = terminal;
  const reports: Json[] = [];
  let valid = true;
  for (const file of files) {
    const { graph, diagnostics, sources } = await tryToLoad(file, options);
    const wrong = graph === undefined || diagnostics.some(({ severity }) => severity === 'error');
    valid &&= !wrong;
    const counts = wrong ? {} : { steps: graph.steps.length, tasks: graph.tasks.length };
    reports.push(diagnosticsJson(diagnostics, { file, ...counts }));
    if (options.json) continue;
    showDiagnostics(diagnostics, sources, terminal);
    if (wrong) continue;
    const { tasks, steps } = graph;
    terminal.out(`${style.green('ok')} ${file}: ${countOf(tasks.length, 'task')}, ${countOf(steps.length, 'step')}\n`);
  }
  if (options.json) {
    const [only = null] = reports;
    const all = { mediabatch: 'diagnostics', version: 1, valid, files: reports };
    terminal.out(`${safeJson(reports.length === 1 ? only : all, 2)}\n`);
  }
  return valid ? exitCodes.done : exitCodes.wrongInput;
}

/** A file that cannot be read is one more mistake here: the other files are still looked at. */
async function tryToLoad(file: string, options: ValidateOptions): Promise<LoadedManifest> {
  try {
    return await loadManifest(file, collectVars(options.var));
  } catch (error) {
    if (!(error instanceof CommandError) || error.exitCode !== exitCodes.wrongInput) throw error;
    const { message, hint } = error;
    const diagnostic = { code: 'MB1001', severity: 'error', message, ...(hint !== undefined && { hint }) } as const;
    return { diagnostics: [diagnostic], sources: new Map() };
  }
}
