import { type LoadedManifest, loadManifest } from '../../campaign/load-manifest.ts';
import type { OpenCampaign } from '../../campaign/open-campaign.ts';
import { exitCodes } from '../../contract/exit.ts';
import { failureOf } from '../../contract/failure.ts';
import type { Graph } from '../../graph/graph.ts';
import { call } from '../../ground/advice.ts';
import { hasErrors } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { isPost } from '../../plan/posts/post-record.ts';
import { adviceLines } from '../../report/advice-text.ts';
import { diagnosticsGithub, diagnosticsJson } from '../../report/diagnostics/diagnostics-json.ts';
import { jsonOf } from '../../report/document.ts';
import { countOf } from '../../report/numbers.ts';
import { safeText } from '../../report/safe-text.ts';
import { fitHeap } from '../fit-heap.ts';
import { collectVars, open, type StateOptions } from '../open.ts';
import { formOf, outJson, type Terminal, tellOn, toCheckoutPath } from '../terminal.ts';

interface ValidateOptions extends Pick<StateOptions, 'sandbox' | 'var' | 'varFile' | 'strict'> {
  format?: 'text' | 'json' | 'github';
  json?: boolean;
}

export async function validate(files: string[], options: ValidateOptions, terminal: Terminal): Promise<number> {
  const format = formOf(options);
  const reports: Json[] = [];
  let valid = true;
  for (const file of files) {
    const loaded = await tryToLoad(file, options, terminal);
    const { diagnostics, sources } = loaded;
    const graph = hasErrors(diagnostics) ? undefined : loaded.graph;
    valid &&= graph !== undefined;
    for (const text of graph?.notices ?? []) tellOn(terminal)({ is: 'notice', text });
    const counts = graph && countGraph(graph);
    const okLine = (ok: string) => (counts === undefined ? '' : describeFine(loaded, counts, { file, ok, terminal }));
    switch (format) {
      case 'json':
        reports.push(diagnosticsJson(diagnostics, { file, ...counts }));
        break;
      case 'github':
        terminal.out(diagnosticsGithub(diagnostics, { toCheckoutPath }));
        terminal.err(okLine(terminal.style.green('ok')));
        break;
      case 'text':
        tellOn(terminal)({ is: 'diagnostics', diagnostics, sources });
        terminal.out(okLine(terminal.outStyle.green('ok')));
        break;
      default:
        format satisfies never;
    }
  }
  if (format === 'json') {
    const [only = null] = reports;
    outJson(terminal, reports.length === 1 ? only : jsonOf('diagnostics', { valid, files: reports }));
  }
  return valid ? exitCodes.done : exitCodes.wrongInput;
}

interface Counts {
  tasks: number;
  steps: number;
  unchecked?: number;
}

function countGraph({ tasks, steps }: Graph): Counts {
  const unchecked = steps.filter((step) => step.unchecked === true).length;
  return { tasks: tasks.length, steps: steps.length, ...(unchecked > 0 && { unchecked }) };
}

/**
 * Returns a line like `ok campaign.yaml: 2 tasks, 4 steps, 3 requests unchecked: …`, with the reason why requests were
 * not checked.
 */
function describeFine(
  { hasDocument }: LoadedLocally,
  { tasks, steps, unchecked = 0 }: Counts,
  { file, ok, terminal }: { file: string; ok: string; terminal: Terminal },
): string {
  const text = `${ok} ${safeText(file)}: ${countOf(tasks, 'task')}, ${countOf(steps, 'step')}`;
  if (unchecked === 0) return `${text}\n`;
  const left = `${text}, ${countOf(unchecked, 'request')} not checked`;
  if (hasDocument)
    return `${left}, because the service's own document does not describe ${unchecked === 1 ? 'it' : 'them'}\n`;
  return `${left}, because the OpenAPI document of the service is not stored here. To store it, run with an API key: ${terminal.paste({ ...call('plan', '--refresh'), file })}\n`;
}

/** Loads a manifest. A file that cannot be read becomes a diagnostic, so that the other files are still checked. */
async function tryToLoad(file: string, options: ValidateOptions, terminal: Terminal): Promise<LoadedLocally> {
  try {
    return await loadLocally(file, options, terminal);
  } catch (error) {
    const failure = failureOf(error);
    if (failure?.code !== 'MB1001') throw error;
    const { code, message, hint } = failure;
    const advice = hint === undefined ? {} : { hint: adviceLines(hint, terminal.paste) };
    const diagnostic = { code, severity: 'error', message, ...advice } as const;
    return { diagnostics: [diagnostic], sources: new Map(), asked: [], hasDocument: false };
  }
}

interface LoadedLocally extends LoadedManifest {
  hasDocument: boolean;
}

/**
 * Loads a manifest for commands that do not query the service. Checks it, like a plan, against the stored document of
 * the service in the environment, or that of the sandbox; and checks unpublished posts against the clock.
 */
export async function loadLocally(
  file: string,
  options: Pick<StateOptions, 'sandbox' | 'var' | 'varFile' | 'strict'>,
  terminal: Terminal,
): Promise<LoadedLocally> {
  const { varFile: varFiles, strict } = options;
  const plain = async () => {
    const loaded = await loadManifest(file, { vars: collectVars(options.var), varFiles, strict, onSize: fitHeap });
    return { ...loaded, hasDocument: false };
  };
  let campaign: OpenCampaign;
  try {
    campaign = await open(file, options, terminal);
  } catch (error) {
    // A wrong environment is no mistake of the manifest.
    if (failureOf(error) === undefined) throw error;
    return plain();
  }
  const loaded = campaign.service === undefined ? await plain() : await loadByDocument(campaign);
  if (hasErrors(loaded.diagnostics) || loaded.graph?.steps.some(({ kind }) => isPost(kind)) !== true) return loaded;
  const { checkUnsent } = await import('../../campaign/look-at-posts.ts');
  return { ...loaded, diagnostics: [...loaded.diagnostics, ...(await checkUnsent(campaign, loaded))] };
}

async function loadByDocument(campaign: OpenCampaign): Promise<LoadedLocally> {
  const { loadChecked } = await import('../../campaign/checked-graph.ts');
  const checked = await loadChecked(campaign, {});
  return { ...checked, hasDocument: checked.facts.document !== undefined };
}
