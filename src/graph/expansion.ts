import type { Diagnostic, Place } from '../ground/diagnostic.ts';
import type { Json } from '../ground/json.ts';
import { emptyMap, isMap, type JsonMap, type Path, shorten, unknownValue } from '../ground/values.ts';
import type { Listing } from '../kinds/listed-model.ts';
import type { SchemaCompiler } from '../manifest/check/json-schema.ts';
import { isAbsolutePath, normalizePath, pathFrom } from '../manifest/file-path.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { type CellError, type DataFile, explainFileProblem, type Rows } from '../manifest/rows/rows.ts';
import { renderTemplate, type Scope } from '../manifest/template/render-template.ts';
import { isTemplate, type TemplateFault } from '../manifest/template/template.ts';
import type { PlacedVar } from '../manifest/yaml/read-yaml.ts';
import type { RequestChecker } from './check/check-request.ts';
import type { Cells, ExpandedTask, ReadTable, TaskRows } from './expand/draft.ts';
import type { FileFact } from './graph.ts';
import { placeFault, type Site, Templates } from './render/templates.ts';

export const uploadTask = 'upload';

type FileAnswer = FileFact | { problem: string; hint?: string };

interface At {
  folder: string;
  place: Place;
}

class Uploads {
  readonly unread = new Map<string, Place>();
  readonly #facts: ReadonlyMap<string, FileAnswer>;
  readonly #made = new Map<string, { path: string; place: Place }>();

  constructor(facts: ReadonlyMap<string, FileAnswer>) {
    this.#facts = facts;
  }

  get made(): { address: string; path: string; place: Place }[] {
    return [...this.#made]
      .map(([address, one]) => ({ address, ...one }))
      .sort((a, b) => (a.address < b.address ? -1 : 1));
  }

  make(written: string, at: At): { address: string } | { diagnostic: Diagnostic } {
    const path = readPath(written, at);
    if (typeof path !== 'string') return path;
    const address = `${uploadTask}@${encodePath(path)}`;
    if (!this.#made.has(address)) this.#made.set(address, { path, place: at.place });
    return { address };
  }

  read(written: string, at: At): { file: (FileFact & { path: string }) | undefined } | { diagnostic: Diagnostic } {
    const path = readPath(written, at);
    if (typeof path !== 'string') return path;
    const fact = this.#facts.get(path);
    if (fact === undefined) {
      if (!this.unread.has(path)) this.unread.set(path, at.place);
      return { file: undefined };
    }
    if (!('problem' in fact)) return { file: { path, sha256: fact.sha256, bytes: fact.bytes } };
    const message = `${shorten(path)} cannot be uploaded: ${fact.problem}`;
    const hint =
      fact.hint ??
      'paths are relative to the manifest that contains the path; check the name, its case and its accents (é can be one or two characters)';
    return { diagnostic: { code: 'MB1301', severity: 'error', message, hint, place: at.place } };
  }
}

function readPath(written: string, { folder, place }: At): string | { diagnostic: Diagnostic } {
  const path = normalizePath(pathFrom(folder, written));
  const isOutside = path === '' || path.startsWith('..') || isAbsolutePath(written) || written.includes('\\');
  if (!isOutside) return path;
  const message = `"${shorten(written)}" is not the path of a file below the folder of the manifest`;
  const hint = 'move the file below the folder of the manifest, and name it by a relative path with /';
  return { diagnostic: { code: 'MB1301', severity: 'error', message, hint, place } };
}

function encodePath(path: string): string {
  return path
    .replaceAll(/[%:\s,@\\*?\p{C}]/gu, (character) =>
      encodeURIComponent(character).replace(character, `%${character.charCodeAt(0).toString(16).toUpperCase()}`),
    )
    .replaceAll('/', ':');
}

export interface GraphFacts {
  data: ReadonlyMap<string, DataFile>;
  vars: Readonly<Record<string, string>>;
  varFiles?: readonly PlacedVar[] | undefined;
  files?: ReadonlyMap<string, FileAnswer> | undefined;
  texts?: ReadonlyMap<string, DataFile> | undefined;
  schemaCompiler?: SchemaCompiler | undefined;
  checker?: RequestChecker | undefined;
  listings?: readonly Listing[] | undefined;
  rows?: Map<string, StepRows> | undefined;
}

export interface StepRows {
  row?: Json;
  tables?: { [name: string]: Json };
}

/** State of the expansion of a manifest: facts, results of each stage, and reported mistakes. */
export class Expansion {
  readonly manifest: Manifest;
  readonly facts: GraphFacts;
  readonly templates = new Templates();
  readonly uploads: Uploads;
  readonly unreadTexts = new Map<string, Place>();
  readonly diagnostics: Diagnostic[] = [];
  readonly notices: string[] = [];
  readonly kinds: ReadonlyMap<string, string | undefined>;

  vars: JsonMap = emptyMap();
  readonly files = new Map<string, 'unknown' | Rows>();
  readonly cellErrors: CellError[] = [];
  readonly tables = new Map<string, ReadTable>();
  readonly rows = new Map<string, TaskRows>();
  readonly cells = new Map<string, Cells>();
  readonly expanded = new Map<string, ExpandedTask>();

  constructor(manifest: Manifest, facts: GraphFacts) {
    this.manifest = manifest;
    this.facts = facts;
    this.uploads = new Uploads(facts.files ?? new Map());
    this.kinds = new Map(manifest.tasks.map((task) => [task.id, task.kind]));
  }

  rowsOf(task: string): TaskRows {
    return this.rows.get(task) ?? 'unknown';
  }

  /** Returns the text for `{{read …}}` without the final line break. `wanted`: path of a file to be read first. */
  readText(
    written: string,
    at: { folder: string; place: Place },
  ): { text: string; path: string } | { wanted: string } | { diagnostic: Diagnostic } {
    const path = readPath(written, at);
    if (typeof path !== 'string') return path;
    if (path.endsWith('.lock.jsonl') || path.endsWith('.plan.json')) {
      const message = `${shorten(path)} changes with each run, so no request may contain its text`;
      const hint = 'read a text file that mediabatch does not write';
      return { diagnostic: { code: 'MB1202', severity: 'error', message, hint, place: at.place } };
    }
    const file = this.facts.texts?.get(path);
    if (file === undefined) {
      this.unreadTexts.set(path, this.unreadTexts.get(path) ?? at.place);
      return { wanted: path };
    }
    if ('text' in file) return { text: file.text.replaceAll(/\r\n?/g, '\n').replace(/\n$/, ''), path };
    if (!('problem' in file)) throw new Error(`internal error: ${path} was not read as text`);
    return { diagnostic: { severity: 'error', ...explainFileProblem(shorten(path), file), place: at.place } };
  }

  /**
   * Renders templates at any depth. Replaces a text by `unknownValue` if `scopeAt` is omitted or the text has faults.
   * Passes each fault through `describe` and reports it.
   */
  render(
    value: Json,
    path: Path,
    scopeAt?: (site: Site) => Scope,
    describe = (found: Diagnostic): Diagnostic => found,
  ): Json {
    if (value === unknownValue) return value;
    if (typeof value === 'string') {
      if (!isTemplate(value)) return value;
      const template = this.templates.get(value);
      if (template === undefined || scopeAt === undefined || !this.templates.isSound(path)) return unknownValue;
      const site = { text: value, path };
      const result = renderTemplate(template, scopeAt(site));
      for (const fault of result.faults) this.report(describe(placeFault(fault, site, this.manifest.places)));
      // A template may render to `null`: the check of the request field accepts or rejects it.
      return result.value === undefined ? unknownValue : result.value;
    }
    if (Array.isArray(value)) return value.map((item, index) => this.render(item, [...path, index], scopeAt, describe));
    if (!isMap(value)) return value;
    const copy = emptyMap();
    for (const [key, item] of Object.entries(value)) copy[key] = this.render(item, [...path, key], scopeAt, describe);
    return copy;
  }

  report(diagnostic: Diagnostic): void {
    this.diagnostics.push(diagnostic);
  }

  reportError(error: Omit<Diagnostic, 'severity'> & { hint: string; place: Place }): void {
    this.report({ severity: 'error', ...error });
  }

  reportFault(fault: TemplateFault, site: Site): void {
    this.report(placeFault(fault, site, this.manifest.places));
  }
}
