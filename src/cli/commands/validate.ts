import type { Json } from '../../json.ts';
import { diagnosticsJson } from '../../report/diagnostics-json.ts';
import { safeJson } from '../../report/safe-text.ts';
import { loadManifest, showDiagnostics } from '../campaign.ts';
import { exitCodes } from '../exit.ts';
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
    const { graph, diagnostics, sources } = await loadManifest(file, collectVars(options.var));
    const wrong = graph === undefined || diagnostics.some(({ severity }) => severity === 'error');
    valid &&= !wrong;
    const counts = wrong ? {} : { steps: graph.steps.length, tasks: graph.tasks.length };
    reports.push(diagnosticsJson(diagnostics, { file, ...counts }));
    if (options.json) continue;
    showDiagnostics(diagnostics, sources, terminal);
    if (!wrong) {
      const tasks = graph.tasks.length === 1 ? '1 task' : `${graph.tasks.length} tasks`;
      const steps = graph.steps.length === 1 ? '1 step' : `${graph.steps.length} steps`;
      terminal.out(`${style.green('ok')} ${file}: ${tasks}, ${steps}\n`);
    }
  }
  if (options.json) terminal.out(`${safeJson(reports.length === 1 ? (reports[0] ?? null) : reports, 2)}\n`);
  return valid ? exitCodes.done : exitCodes.wrongInput;
}
