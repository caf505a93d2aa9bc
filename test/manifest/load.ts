import type { Diagnostic } from '../../src/diagnostic.ts';
import { buildGraph } from '../../src/graph/build.ts';
import type { Graph, Step } from '../../src/graph/graph.ts';
import { type DataFile, dataFiles, parseManifest } from '../../src/manifest/parse.ts';

export interface Loaded {
  graph?: Graph;
  diagnostics: Diagnostic[];
  /** `MB1203 campaign.yaml:7:18`, or `MB1009 campaign.yaml:3:4 warning`. */
  found: string[];
}

/** Text in, graph or mistakes out: everything that happens before a plan is made. */
export function load(
  text: string,
  facts: { data?: Readonly<Record<string, string | DataFile>>; vars?: Record<string, string>; file?: string } = {},
): Loaded {
  const { manifest, diagnostics } = parseManifest({ file: facts.file ?? 'campaign.yaml', text });
  if (manifest === undefined) return { diagnostics, found: diagnostics.map(summarize) };
  const data = new Map<string, DataFile>();
  for (const { path } of dataFiles(manifest)) {
    const file = facts.data?.[path] ?? { problem: 'missing' };
    data.set(path, typeof file === 'string' ? { text: file } : file);
  }
  const built = buildGraph(manifest, { data, vars: facts.vars ?? {} });
  const all = [...diagnostics, ...built.diagnostics];
  return {
    ...(built.graph === undefined ? {} : { graph: built.graph }),
    diagnostics: all,
    found: all.map(summarize),
  };
}

export function summarize({ code, severity, place }: Diagnostic): string {
  const at = place === undefined ? 'nowhere' : `${place.file}:${place.start.line}:${place.start.column}`;
  return `${code} ${at}${severity === 'warning' ? ' warning' : ''}`;
}

/** The steps of a manifest that has no mistakes. */
export function steps(text: string, facts: Parameters<typeof load>[1] = {}): Step[] {
  const { graph, diagnostics } = load(text, facts);
  if (graph === undefined)
    throw new Error(`no graph: ${diagnostics.map((one) => `${summarize(one)} ${one.message}`).join('; ')}`);
  return graph.steps;
}

/** A manifest with these lines under `tasks:`, which stand from line 4 on. */
export function tasks(...lines: string[]): string {
  return ['version: 1', 'name: test', 'tasks:', ...lines, ''].join('\n');
}

/** A manifest with one image task. The lines of its `with` stand from line 7 on. */
export function image(...lines: string[]): string {
  return tasks('  hero:', '    kind: image', '    with:', ...lines.map((line) => `      ${line}`));
}
