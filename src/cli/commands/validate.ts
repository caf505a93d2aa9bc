import type { LoadedManifest } from '../../campaign/load-manifest.ts';
import { exitCodes } from '../../contract/exit.ts';
import { failureOf } from '../../contract/failure.ts';
import { hasErrors } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { adviceText } from '../../report/advice-text.ts';
import { diagnosticsGithub } from '../../report/diagnostics/diagnostics-github.ts';
import { diagnosticsJson } from '../../report/diagnostics/diagnostics-json.ts';
import { countOf } from '../../report/numbers.ts';
import { safeJson, safeText } from '../../report/safe-text.ts';
import { toCheckoutPath } from '../checkout-path.ts';
import { loadLocally } from '../load-locally.ts';
import { tellOn } from '../tell.ts';
import type { Terminal } from '../terminal.ts';

export interface ValidateOptions {
  format?: 'text' | 'json' | 'github';
  json?: boolean;
  var?: Record<string, string>;
  varFile?: string[];
  strict?: boolean;
}

/** Every mistake of each manifest, or that it is fine. */
export async function validate(files: string[], options: ValidateOptions, terminal: Terminal): Promise<number> {
  const format = options.json ? 'json' : (options.format ?? 'text');
  const reports: Json[] = [];
  let valid = true;
  for (const file of files) {
    const loaded = await tryToLoad(file, options, terminal);
    const { diagnostics, sources } = loaded;
    const graph = hasErrors(diagnostics) ? undefined : loaded.graph;
    valid &&= graph !== undefined;
    for (const text of graph?.notices ?? []) tellOn(terminal)({ is: 'notice', text });
    const counts = graph && { steps: graph.steps.length, tasks: graph.tasks.length };
    switch (format) {
      case 'json':
        reports.push(diagnosticsJson(diagnostics, { file, ...counts }));
        break;
      case 'github':
        terminal.out(diagnosticsGithub(diagnostics, { toCheckoutPath }));
        if (counts !== undefined) terminal.err(okLine(file, counts, terminal.style.green('ok')));
        break;
      case 'text':
        tellOn(terminal)({ is: 'diagnostics', diagnostics, sources });
        if (counts !== undefined) terminal.out(okLine(file, counts, terminal.outStyle.green('ok')));
        break;
      default:
        format satisfies never;
    }
  }
  if (format === 'json') {
    const [only = null] = reports;
    const all = { mediabatch: 'diagnostics', version: 1, valid, files: reports };
    terminal.out(`${safeJson(reports.length === 1 ? only : all, 2)}\n`);
  }
  return valid ? exitCodes.done : exitCodes.wrongInput;
}

function okLine(file: string, { tasks, steps }: { tasks: number; steps: number }, ok: string): string {
  return `${ok} ${safeText(file)}: ${countOf(tasks, 'task')}, ${countOf(steps, 'step')}\n`;
}

/** A file that cannot be read is one more mistake here: the other files are still looked at. */
async function tryToLoad(file: string, options: ValidateOptions, terminal: Terminal): Promise<LoadedManifest> {
  try {
    return await loadLocally(file, options, terminal);
  } catch (error) {
    const failure = failureOf(error);
    if (failure?.code !== 'MB1001') throw error;
    const { code, message, hint } = failure;
    const advice = hint === undefined ? {} : { hint: adviceText(hint, terminal.paste) };
    const diagnostic = { code, severity: 'error', message, ...advice } as const;
    return { diagnostics: [diagnostic], sources: new Map(), asked: [] };
  }
}
