import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CampaignError } from '../contract/failure.ts';
import type { ReadProblem } from '../disk/inputs.ts';
import { buildGraph } from '../graph/build.ts';
import type { RequestChecker } from '../graph/check/check-request.ts';
import type { StepRows } from '../graph/expansion.ts';
import type { FileFact, Graph } from '../graph/graph.ts';
import { makeOrigins, type Origins } from '../graph/trace/tracer.ts';
import { type Advice, call, way } from '../ground/advice.ts';
import { countDiagnostics, type Diagnostic, hasErrors } from '../ground/diagnostic.ts';
import { defined } from '../ground/values.ts';
import type { Listing } from '../kinds/listed-model.ts';
import { loadSchemaCompiler, type SchemaCompiler } from '../manifest/check/json-schema.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { dataFiles, parseManifest } from '../manifest/parse.ts';
import type { DataFile } from '../manifest/rows/rows.ts';
import { type PlacedVar, readVarFile } from '../manifest/yaml/read-yaml.ts';
import { type Answers, type Asked, type InputReader, ManifestInputs } from './manifest-inputs.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { refuseOwnFile } from './own-file.ts';
import { ownVersion } from './own-version.ts';

export interface LoadedManifest {
  graph?: Graph;
  manifest?: Manifest;
  diagnostics: Diagnostic[];
  sources: Map<string, string>;
  origins?: Origins;
  asked: readonly Asked[];
}

interface LoadOptions {
  vars?: Record<string, string> | undefined;
  varFiles?: readonly string[] | undefined;
  checker?: RequestChecker | undefined;
  reader?: InputReader | undefined;
  listings?: readonly Listing[] | undefined;
  strict?: boolean | undefined;
  rows?: Map<string, StepRows> | undefined;
  onSize?: OpenCampaign['onSize'] | undefined;
}

export async function loadManifest(file: string, options: LoadOptions = {}): Promise<LoadedManifest> {
  const { vars: given = {}, varFiles = [], reader, checker, listings, rows } = options;
  const inputs = new ManifestInputs(file, reader);
  const { asked, sources } = inputs;
  const { manifest: read, diagnostics } = await readManifest(file, inputs);
  const fromFiles = await readVarFiles(varFiles, inputs);
  diagnostics.push(...fromFiles.diagnostics);
  if (read === undefined) return { diagnostics, sources, asked };
  // A variable with an invalid value is treated like a missing variable.
  const manifest = { ...read, sound: read.sound && !hasErrors(fromFiles.diagnostics) };
  const isMeant = (name: string) => reader?.isEarlier !== true || Object.hasOwn(manifest.vars, name);
  const files = new Map<string, FileFact | { problem: string }>();
  const texts = new Map<string, Answers['data']>();
  const known = {
    ...(await readFacts(manifest, inputs)),
    vars: Object.fromEntries(Object.entries(given).filter(([name]) => isMeant(name))),
    varFiles: fromFiles.vars.filter(({ name }) => isMeant(name)),
    files,
    texts,
  };
  options.onSize?.({ characters: [...sources.values()].reduce((sum, { length }) => sum + length, 0) });
  for (;;) {
    const built = buildGraph(manifest, { ...known, ...defined({ checker, listings, rows }) });
    for (const { path, as } of built.files) {
      if (as === 'digest') files.set(path, await inputs.ask('digest', path));
      else texts.set(path, await inputs.ask('data', path));
    }
    if (built.files.length > 0) continue;
    const found = [...diagnostics, ...built.diagnostics];
    return {
      ...defined({ graph: built.graph }),
      manifest,
      diagnostics: options.strict === true ? found.map(asError) : found,
      sources,
      origins: makeOrigins(manifest, known),
      asked,
    };
  }
}

function asError(found: Diagnostic): Diagnostic {
  return found.code === 'MB1501' ? { ...found, severity: 'error' } : found;
}

async function readManifest(
  file: string,
  inputs: ManifestInputs,
): Promise<{ manifest?: Manifest; diagnostics: Diagnostic[] }> {
  refuseOwnFile(file);
  const read = await inputs.ask('manifest', file);
  if ('problem' in read) throw manifestProblem(file, read);
  const included = new Map<string, DataFile>();
  for (;;) {
    const { includes, ...parsed } = parseManifest({ file, text: read.text }, included, ownVersion());
    if (includes.length === 0) return parsed;
    for (const { path } of includes) included.set(path, await inputs.ask('data', path));
  }
}

async function readFacts(
  manifest: Manifest,
  inputs: ManifestInputs,
): Promise<{ data: Map<string, DataFile>; schemaCompiler?: SchemaCompiler }> {
  const data = new Map<string, DataFile>();
  for (const { path, as, sheets } of dataFiles(manifest)) {
    if (as === 'workbook') data.set(path, await readSheets(path, sheets, inputs));
    else data.set(path, await inputs.ask(as === 'files' ? 'files' : 'data', path));
  }
  if ([...manifest.tasks, ...manifest.tables].every(({ schema }) => schema === undefined)) return { data };
  return { data, schemaCompiler: await loadSchemaCompiler(() => performance.now()) };
}

async function readSheets(
  path: string,
  sheets: readonly (string | undefined)[],
  inputs: ManifestInputs,
): Promise<DataFile> {
  const answer = await inputs.ask('bytes', path);
  if ('problem' in answer) return answer;
  const { readWorkbook } = await import('../disk/workbook/read-workbook.ts');
  const read = await readWorkbook(answer.bytes, sheets);
  return 'problem' in read ? { problem: 'no-workbook', detail: `it ${read.problem}` } : { workbook: read };
}

function manifestProblem(file: string, { problem, detail = '' }: ReadProblem): CampaignError {
  const wrong = (message: string, hint?: Advice) =>
    new CampaignError({ code: 'MB1001', message, file, ...defined({ hint }) });
  const start = way('name a manifest, or create a campaign', call('init'));
  if (problem === 'missing') return wrong(`there is no file ${file} (${resolve(file)})`, start);
  if (problem !== 'not-a-file') return wrong(`the manifest ${file} cannot be read: ${detail}`);
  const inside = join(file, 'campaign.yaml');
  const message = `${file} ${detail.replace('it ', '')}, not a manifest (${resolve(file)})`;
  return wrong(message, existsSync(inside) ? `did you mean ${inside}?` : start);
}

export function hasUnknownNames({ diagnostics }: Pick<LoadedManifest, 'diagnostics'>): boolean {
  return diagnostics.some(({ code, severity }) => code === 'MB1503' && severity === 'error');
}

export async function loadWithNames(
  campaign: OpenCampaign,
  { reader, rows }: Pick<LoadOptions, 'reader' | 'rows'> = {},
): Promise<LoadedManifest> {
  const plain = await loadManifest(campaign.file, { ...campaign, reader, rows });
  if (!hasUnknownNames(plain)) return plain;
  const { readListings } = await import('./service-facts.ts');
  const listings = await readListings(campaign);
  return listings.length === 0 ? plain : loadManifest(campaign.file, { ...campaign, reader, rows, listings });
}

export async function requireGraph(campaign: OpenCampaign): Promise<Graph> {
  return (await requireTracedGraph(campaign)).graph;
}

export async function requireTracedGraph(
  campaign: OpenCampaign,
  rows?: Map<string, StepRows>,
): Promise<{ graph: Graph; origins?: Origins; asked: readonly Asked[] }> {
  const { graph, origins, asked, diagnostics, sources } = await loadWithNames(campaign, { rows });
  if (graph === undefined || hasErrors(diagnostics)) throw manifestErrors(campaign.file, { diagnostics, sources });
  return { graph, asked, ...defined({ origins }) };
}

export function manifestErrors(
  file: string,
  mistakes: { diagnostics: readonly Diagnostic[]; sources: ReadonlyMap<string, string> },
): CampaignError {
  const { errors: count } = countDiagnostics(mistakes.diagnostics);
  const message = `${file} has ${count === 1 ? '1 error' : `${count} errors`}`;
  return new CampaignError({ code: 'MB3100', message, file, ...mistakes });
}

async function readVarFiles(
  files: readonly string[],
  inputs: ManifestInputs,
): Promise<{ vars: PlacedVar[]; diagnostics: Diagnostic[] }> {
  const vars: PlacedVar[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const file of files) {
    const answer = await inputs.ask('vars', file);
    if ('problem' in answer) {
      const { problem, detail } = answer;
      throw new CampaignError({
        code: 'MB3104',
        message: problem === 'missing' ? `there is no file ${file}` : `${file} cannot be read: ${detail}`,
        hint: 'give --var-file a YAML or JSON file with one value for each variable, for example product: Aurora Lamp',
        file,
      });
    }
    const read = readVarFile(file, answer.text);
    vars.push(...read.vars);
    diagnostics.push(...read.diagnostics);
  }
  return { vars, diagnostics };
}
