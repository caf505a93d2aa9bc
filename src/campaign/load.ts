import { relative, resolve } from 'node:path';
import { keepHeapSmall } from '../cli/keep-heap-small.ts';
import type { Terminal } from '../cli/terminal.ts';
import { CommandError, exitCodes } from '../contract/exit.ts';
import { readLockBytes } from '../disk/lock/lock-file.ts';
import { type Digest, digestOf } from '../disk/outputs/hash-file.ts';
import { buildGraph } from '../graph/build.ts';
import type { RequestChecker } from '../graph/check/request-checker.ts';
import type { FileFact, Graph } from '../graph/graph.ts';
import type { Diagnostic } from '../ground/diagnostic.ts';
import { readLock } from '../lock/read.ts';
import type { Lock } from '../lock/record.ts';
import { emptyLock } from '../lock/write.ts';
import type { SchemaCompiler } from '../manifest/check/json-schema.ts';
import { besideManifest } from '../manifest/file-path.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { type DataFile, dataFiles, parseManifest } from '../manifest/parse.ts';
import { advise, call } from '../plan/advice.ts';
import { diagnosticsText } from '../report/diagnostics/diagnostics-text.ts';
import { belongingOf, refuseElsewhere, withoutTwoServices } from './lock-service.ts';
import { type Asked, ManifestInputs } from './manifest-inputs.ts';
import type { CampaignPaths } from './paths.ts';

export interface LoadedManifest {
  graph?: Graph;
  /** As it was written, where it could be read at all. */
  manifest?: Manifest;
  diagnostics: Diagnostic[];
  /** Texts by file name, for excerpts. */
  sources: Map<string, string>;
  /** What the disk was asked for. */
  asked: readonly Asked[];
}

/** What a manifest is checked against beside its own rules. */
export interface LoadOptions {
  /** Judges requests that only the service's own document describes. */
  checker?: RequestChecker;
}

/** Text to graph, with the disk's answers to the questions that the pure stages ask. */
export async function loadManifest(
  file: string,
  vars: Record<string, string>,
  options: LoadOptions = {},
): Promise<LoadedManifest> {
  const sources = new Map<string, string>();
  const inputs = new ManifestInputs(file);
  const { asked } = inputs;
  const { manifest, diagnostics } = await readManifest(file, { inputs, sources });
  if (manifest === undefined) return { diagnostics, sources, asked };
  const { schemaCompiler, ...facts } = await readFacts(manifest, { inputs, sources });
  keepHeapSmall({ characters: [...sources.values()].reduce((sum, { length }) => sum + length, 0) });
  const files = new Map<string, FileFact | { problem: string }>();
  for (;;) {
    const built = buildGraph(manifest, {
      ...facts,
      vars,
      files,
      ...(schemaCompiler && { schemaCompiler }),
      ...(options.checker && { checker: options.checker }),
    });
    if (built.files.length === 0) {
      const all = [...diagnostics, ...built.diagnostics];
      return { ...(built.graph && { graph: built.graph }), manifest, diagnostics: all, sources, asked };
    }
    for (const { path } of built.files) files.set(path, await inputs.ask('digest', path));
  }
}

/** The manifest and all that it includes. Their texts go into `sources`. */
async function readManifest(
  file: string,
  { inputs, sources }: { inputs: ManifestInputs; sources: Map<string, string> },
): Promise<{ manifest?: Manifest; diagnostics: Diagnostic[] }> {
  const read = await inputs.ask('manifest', file);
  if ('problem' in read) throw manifestProblem(file, read);
  sources.set(file, read.text);
  const included = new Map<string, DataFile>();
  for (;;) {
    const { includes, ...parsed } = parseManifest({ file, text: read.text }, included);
    if (includes.length === 0) return parsed;
    for (const { path } of includes) {
      const answer = await inputs.ask('data', path);
      included.set(path, answer);
      if ('text' in answer) sources.set(besideManifest(file, path), answer.text);
    }
  }
}

/** What the manifest asks the disk for. Data files are named like the manifest itself: as seen from the working folder. */
async function readFacts(
  manifest: Manifest,
  { inputs, sources }: { inputs: ManifestInputs; sources: Map<string, string> },
): Promise<{ data: Map<string, DataFile>; schemaCompiler?: SchemaCompiler }> {
  const { file } = manifest;
  const data = new Map<string, DataFile>();
  for (const { path, as } of dataFiles(manifest)) {
    const answer: DataFile = await inputs.ask(as === 'files' ? 'files' : 'data', path);
    data.set(path, answer);
    if ('text' in answer) sources.set(besideManifest(file, path), answer.text);
  }
  if (manifest.tasks.every(({ schema }) => schema === undefined)) return { data };
  const { loadSchemaCompiler } = await import('../manifest/check/json-schema.ts');
  return { data, schemaCompiler: await loadSchemaCompiler(() => performance.now()) };
}

export function manifestProblem(file: string, { problem, detail }: { problem: string; detail: string }): CommandError {
  const hint = advise`give the path of a campaign.yaml; ${call('init')} makes one to start from`;
  switch (problem) {
    case 'missing':
      return new CommandError(exitCodes.wrongInput, `there is no file ${file} (${resolve(file)})`, hint);
    case 'folder':
      return new CommandError(exitCodes.wrongInput, `${file} is a folder, not a manifest (${resolve(file)})`, hint);
    default:
      return new CommandError(exitCodes.wrongInput, `the manifest ${file} cannot be read: ${detail}`, hint);
  }
}

/** The graph, or the end of the command with every mistake shown. Warnings are shown and go on. */
export async function requireGraph(
  file: string,
  vars: Record<string, string>,
  terminal: Terminal,
  options: LoadOptions = {},
): Promise<Graph> {
  const { graph, diagnostics, sources } = await loadManifest(file, vars, options);
  showDiagnostics(diagnostics, sources, terminal);
  if (graph === undefined || diagnostics.some(({ severity }) => severity === 'error')) {
    throw new CommandError(exitCodes.wrongInput, '');
  }
  return graph;
}

export function showDiagnostics(diagnostics: Diagnostic[], sources: Map<string, string>, terminal: Terminal): void {
  if (diagnostics.length > 0) terminal.err(diagnosticsText(diagnostics, sources, { style: terminal.style }));
}

export interface LoadedLock {
  lock: Lock;
  /** What was read, to tell whether it still is there; absent when there is no file. */
  read?: Digest;
  tornTailAt?: number;
  /** A part of it is not as it was written: the file must be whole again before anything is appended. */
  isMended: boolean;
  needsRewrite: boolean;
  /** Something was told of it. */
  isNotable: boolean;
  /** It has purchases of another address, and `--service-moved` was given: a person has to agree. */
  isMoved: boolean;
  /** An older version wrote it. */
  isOlder: boolean;
  /** Its header in the file is not that of this service yet: it must be, durably, before anything is bought. */
  isOfAnother: boolean;
}

/**
 * The lock, or the end of the command before anything is sent. `service` is the digest that the lock must belong to;
 * undefined when nobody knows where the service is. With `serviceMoved` it may have been made against another address:
 * whoever writes asks a person first (`agreeToMove`).
 */
export async function requireLock(
  paths: CampaignPaths,
  service: string | undefined,
  terminal: Terminal,
  { serviceMoved = false }: { serviceMoved?: boolean | undefined } = {},
): Promise<LoadedLock> {
  const shown = relative(process.cwd(), paths.lock) || paths.lock;
  let bytes: Buffer | undefined;
  try {
    bytes = await readLockBytes(paths.lock);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new CommandError(exitCodes.wrongInput, `the lock ${shown} cannot be read: ${message}`);
  }
  if (bytes === undefined) {
    const lock: Lock = { ...emptyLock(), ...(service !== undefined && { service }) };
    return {
      lock,
      needsRewrite: false,
      isNotable: false,
      isMended: false,
      isMoved: false,
      isOlder: false,
      isOfAnother: false,
    };
  }
  const reading = readLock(shown, bytes);
  const hasError = reading.diagnostics.some(({ severity }) => severity === 'error');
  if (hasError && !/"mediabatch"/.test(bytes.toString('utf8').replaceAll('\0', ''))) {
    throw new CommandError(
      exitCodes.wrongInput,
      `${shown} is not a lock of mediabatch: it has no header line`,
      'the lock stands beside the manifest, as campaign.lock.jsonl; nothing was sent, and nothing was changed',
    );
  }
  const diagnostics = withoutTwoServices(reading.diagnostics, serviceMoved);
  showDiagnostics(diagnostics, new Map(), terminal);
  if (diagnostics.some(({ severity }) => severity === 'error')) {
    throw new CommandError(exitCodes.wrongInput, '');
  }
  const belonging = belongingOf(reading, service);
  if (belonging === 'elsewhere' && service !== undefined) refuseElsewhere(reading, { shown, service, serviceMoved });
  const { needsRewrite, tornTailAt } = reading;
  return {
    lock: { ...reading.lock, ...(service !== undefined && { service }) },
    read: digestOf(bytes),
    needsRewrite,
    isNotable: diagnostics.length > 0,
    isMended: reading.isMended === true,
    isMoved: belonging === 'elsewhere',
    isOlder: reading.isOlder,
    isOfAnother: belonging !== 'ours',
    ...(tornTailAt !== undefined && { tornTailAt }),
  };
}
