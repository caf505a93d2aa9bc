import { buildGraph } from '../../../src/graph/build.ts';
import type { RequestChecker } from '../../../src/graph/check/check-request.ts';
import type { FileFact, Graph, Step } from '../../../src/graph/graph.ts';
import { makeOrigins, type Origins } from '../../../src/graph/trace/tracer.ts';
import type { Diagnostic } from '../../../src/ground/diagnostic.ts';
import type { SchemaCompiler } from '../../../src/manifest/check/json-schema.ts';
import type { Manifest } from '../../../src/manifest/manifest.ts';
import { dataFiles, parseManifest } from '../../../src/manifest/parse.ts';
import type { DataFile } from '../../../src/manifest/rows/rows.ts';

/** What the disk and the world around answer. */
export interface Facts {
  /** Included manifests, data files and schemas of rows, by path; a list stands for the files that match a pattern. */
  data?: Readonly<Record<string, string | DataFile>>;
  vars?: Record<string, string>;
  file?: string;
  /** Files to upload, by path. */
  uploads?: Readonly<Record<string, FileFact | { problem: string }>>;
  checker?: RequestChecker;
  schemaCompiler?: SchemaCompiler;
}

export interface Loaded {
  graph?: Graph;
  /** Absent where there is no manifest. */
  trace?: Origins['trace'];
  diagnostics: Diagnostic[];
  /** `MB1203 campaign.yaml:7:18`, or `MB1009 campaign.yaml:3:4 warning`. */
  found: string[];
}

/** Text in, manifest or mistakes out, with every file that it includes. */
export function parse(text: string, facts: Facts = {}): { manifest?: Manifest; diagnostics: Diagnostic[] } {
  const included = new Map<string, DataFile>();
  for (;;) {
    const { includes, ...parsed } = parseManifest({ file: facts.file ?? 'campaign.yaml', text }, included);
    if (includes.length === 0) return parsed;
    for (const { path } of includes) included.set(path, answer(facts, path));
  }
}

function answer(facts: Facts, path: string): DataFile {
  const file = facts.data?.[path] ?? { problem: 'missing' };
  return typeof file === 'string' ? { text: file } : file;
}

/** Text in, graph or mistakes out: everything that happens before a plan is made. */
export function load(text: string, facts: Facts = {}): Loaded {
  const { manifest, diagnostics } = parse(text, facts);
  if (manifest === undefined) return { diagnostics, found: diagnostics.map(summarize) };
  const data = new Map(dataFiles(manifest).map(({ path }) => [path, answer(facts, path)]));
  const files = new Map<string, FileFact | { problem: string }>();
  const texts = new Map<string, DataFile>();
  const { checker, schemaCompiler, vars = {} } = facts;
  for (;;) {
    const known = { data, vars, files, texts, ...(schemaCompiler && { schemaCompiler }) };
    const built = buildGraph(manifest, { ...known, ...(checker && { checker }) });
    if (built.files.length === 0) {
      const all = [...diagnostics, ...built.diagnostics];
      const { trace } = makeOrigins(manifest, known);
      return { ...(built.graph && { graph: built.graph }), trace, diagnostics: all, found: all.map(summarize) };
    }
    for (const { path, as } of built.files) {
      if (as === 'text') texts.set(path, answer(facts, path));
      else files.set(path, facts.uploads?.[path] ?? { problem: 'does not exist' });
    }
  }
}

export function summarize({ code, severity, place }: Diagnostic): string {
  const at = place === undefined ? 'nowhere' : `${place.file}:${place.start.line}:${place.start.column}`;
  return `${code} ${at}${severity === 'warning' ? ' warning' : ''}`;
}

/** The steps of a manifest that has no mistakes. */
export function steps(text: string, facts: Facts = {}): Step[] {
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

/** A manifest that includes others: the paths stand in the third line, from column 11 on. */
export function including(paths: string, ...lines: string[]): string {
  return ['version: 1', 'name: test', `include: [${paths}]`, ...lines, ''].join('\n');
}

/** What an included manifest may consist of. */
export const oneTask = 'tasks: { hero: { kind: image, with: { prompt: x } } }\n';

/** A manifest with one task; its further keys stand in the fourth line, from column 21 on for an image. */
export function oneTaskOf(keys: string, kind = 'image'): string {
  return tasks(`  a: { kind: ${kind}, ${keys} }`);
}
