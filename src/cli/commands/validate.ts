import { type LoadedManifest, loadManifest } from '../../campaign/load-manifest.ts';
import type { OpenCampaign } from '../../campaign/open-campaign.ts';
import { exitCodes } from '../../contract/exit.ts';
import type { Graph } from '../../graph/graph.ts';
import { call } from '../../ground/advice.ts';
import { hasErrors } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { isPost } from '../../plan/posts/post-record.ts';
import { diagnosticsJson } from '../../report/diagnostics/diagnostics-text.ts';
import { jsonOf } from '../../report/document.ts';
import { countOf } from '../../report/numbers.ts';
import { safeText } from '../../report/safe-text.ts';
import { type Flags, open, type StateOptions } from '../open.ts';
import { noticePrinter, outJson, type Terminal } from '../terminal.ts';

export async function validate(
  files: string[],
  options: StateOptions & Flags<'json'>,
  terminal: Terminal,
): Promise<number> {
  const reports: Json[] = [];
  let valid = true;
  for (const file of files) {
    const loaded = await loadLocally(file, options, terminal);
    const { diagnostics, sources } = loaded;
    const graph = hasErrors(diagnostics) ? undefined : loaded.graph;
    valid &&= graph !== undefined;
    for (const text of graph?.notices ?? []) noticePrinter(terminal)({ is: 'notice', text });
    const counts = graph && countGraph(graph);
    if (options.json === true) reports.push(diagnosticsJson(diagnostics, { file, ...counts }));
    else {
      noticePrinter(terminal)({ is: 'diagnostics', diagnostics, sources });
      if (counts !== undefined) terminal.out(describeFine(loaded, counts, { file, terminal }));
    }
  }
  if (options.json === true) {
    outJson(terminal, reports.length === 1 ? reports[0] : jsonOf('diagnostics', { valid, files: reports }));
  }
  return valid ? exitCodes.done : exitCodes.wrongInput;
}

function countGraph({ tasks, steps }: Graph): { tasks: number; steps: number; unchecked?: number } {
  const unchecked = steps.filter((step) => step.unchecked === true).length;
  return { tasks: tasks.length, steps: steps.length, ...(unchecked > 0 && { unchecked }) };
}

function describeFine(
  { hasDocument }: LoadedLocally,
  { tasks, steps, unchecked = 0 }: ReturnType<typeof countGraph>,
  { file, terminal }: { file: string; terminal: Terminal },
): string {
  const ok = terminal.outStyle.green('ok');
  const text = `${ok} ${safeText(file)}: ${countOf(tasks, 'task')}, ${countOf(steps, 'step')}`;
  if (unchecked === 0) return `${text}\n`;
  const left = `${text}, ${countOf(unchecked, 'request')} not checked, because`;
  if (hasDocument)
    return `${left} the OpenAPI document of the service does not describe ${unchecked === 1 ? 'it' : 'them'}\n`;
  const refresh = terminal.paste({ ...call('plan', '--refresh'), file });
  return `${left} the OpenAPI document of the service is not stored on this machine. To store the document, run with an API key: ${refresh}\n`;
}

type LoadedLocally = LoadedManifest & { hasDocument: boolean };

/**
 * Loads a manifest without querying the service. Checks requests against the stored OpenAPI document of the service,
 * and the times of unpublished posts against the clock.
 */
export async function loadLocally(file: string, options: StateOptions, terminal: Terminal): Promise<LoadedLocally> {
  const campaign = await open(file, options, terminal);
  const loaded =
    campaign.service === undefined
      ? { ...(await loadManifest(file, campaign)), hasDocument: false }
      : await loadByDocument(campaign);
  if (hasErrors(loaded.diagnostics) || loaded.graph?.steps.some(({ kind }) => isPost(kind)) !== true) return loaded;
  const { checkUnsent } = await import('../../campaign/verify-posts.ts');
  return { ...loaded, diagnostics: [...loaded.diagnostics, ...(await checkUnsent(campaign, loaded))] };
}

async function loadByDocument(campaign: OpenCampaign): Promise<LoadedLocally> {
  const { loadChecked } = await import('../../campaign/checked-graph.ts');
  const checked = await loadChecked(campaign, {});
  return { ...checked, hasDocument: checked.facts.document !== undefined };
}
