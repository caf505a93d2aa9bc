import type { Diagnostic, DiagnosticCode, Place } from '../ground/diagnostic.ts';
import type { Json } from '../ground/json.ts';
import {
  describeValue,
  emptyMap,
  isMap,
  type JsonMap,
  mapOf,
  ownValue,
  shorten,
  unknownValue,
} from '../ground/values.ts';
import { fitsRange } from '../ground/version.ts';
import { kinds } from '../kinds/index.ts';
import { checkShape } from './check/check-shape.ts';
import { checkTaskKeys } from './check/check-task-keys.ts';
import { checkTexts } from './check/text-rules.ts';
import { besideManifest, folderOf, isAbsolutePath, normalizePath } from './file-path.ts';
import { type DataFile, explainFileProblem } from './rows/rows.ts';
import { suggestName } from './suggest.ts';
import { isTemplate } from './template/template.ts';
import type { FilePlaces, Places } from './yaml/places.ts';
import { readYaml, yamlFaults } from './yaml/read-yaml.ts';
import { maxManifestBytes, placeBetween, readSource } from './yaml/source.ts';

const maxIncluded = 50;

export interface ManifestFile {
  file: string;
  /** Folder of the file, relative to the main manifest's folder: `''`, or for example `shared/`. */
  folder: string;
  value: JsonMap;
  places: FilePlaces;
}

interface Edge {
  from: string;
  to: string;
  place: Place;
}

export function readManifestFiles(
  source: { file: string; text: string },
  included: ReadonlyMap<string, DataFile>,
  program: string | undefined,
): Walk {
  const walk = new Walk(source.file, included, program);
  walk.visit('', readManifestFile(source, { program }));
  return walk;
}

class Walk {
  /** Files in order: an included file comes before the file that includes it. */
  readonly files: ManifestFile[] = [];
  readonly diagnostics: Diagnostic[] = [];
  /** Included files that are not read yet. `path` is relative to the main manifest's folder. */
  readonly unread: { path: string; place: Place }[] = [];
  incomplete = false;
  readonly #main: string;
  readonly #included: ReadonlyMap<string, DataFile>;
  readonly #program: string | undefined;
  readonly #known = new Set<string>();
  readonly #way: Edge[] = [];

  constructor(main: string, included: ReadonlyMap<string, DataFile>, program: string | undefined) {
    this.#main = main;
    this.#included = included;
    this.#program = program;
  }

  visit(path: string, { content, diagnostics }: ReadFile): void {
    this.diagnostics.push(...diagnostics);
    if (content === undefined) {
      this.incomplete = true;
      return;
    }
    const folder = folderOf(path);
    const entries = ownValue(content.value, 'include');
    if (entries !== undefined && !Array.isArray(entries)) this.incomplete = true;
    for (const [index, written] of Array.isArray(entries) ? entries.entries() : []) {
      if (typeof written !== 'string' || written.trim() === '' || isTemplate(written)) {
        this.incomplete = true;
        continue;
      }
      const place = content.places.value(['include', index]);
      const found = readIncludePath(written, folder);
      if ('path' in found) this.#include(found.path, { from: path, place });
      else this.#refuse('MB1010', place, found);
    }
    this.files.push({ file: this.#shown(path), folder, ...content });
  }

  #include(path: string, entry: { from: string; place: Place }): void {
    const { from, place } = entry;
    const edge = { from, to: path, place };
    if (this.#closesCircle(edge)) return;
    if (this.#known.has(path)) return;
    if (this.#known.size >= maxIncluded) {
      const message = `more than ${maxIncluded} files are included`;
      this.#refuse('MB1007', place, { message, hint: 'join some included files, or split the campaign into several' });
      return;
    }
    this.#known.add(path);
    const answer = this.#included.get(path);
    if (answer === undefined) {
      this.unread.push({ path, place });
    } else if ('text' in answer) {
      this.#way.push(edge);
      const source = { file: this.#shown(path), text: answer.text };
      this.visit(path, readManifestFile(source, { main: this.#main, program: this.#program }));
      this.#way.pop();
    } else if ('problem' in answer) {
      const { message, hint } = explainFileProblem(this.#shown(path), answer);
      this.#refuse('MB1010', place, { message, hint });
    } else {
      throw new Error(`internal error: the included file ${path} was read as a list of files`);
    }
  }

  #closesCircle(last: Edge): boolean {
    const to = last.to === nameOf(this.#main) ? '' : last.to;
    const start = to === '' ? 0 : this.#way.findIndex((edge) => edge.from === to);
    if (start === -1 && last.from !== to) return false;
    const edges = [...(start === -1 ? [] : this.#way.slice(start)), last];
    const names = [...edges.map(({ from }) => this.#shown(from)), this.#shown(to)];
    const message =
      edges.length === 1
        ? `${names[0]} includes itself`
        : `manifests include each other in a circle: ${names.join(' → ')}`;
    this.diagnostics.push({
      code: 'MB1404',
      severity: 'error',
      message,
      hint: 'remove one of these `include` entries, and move shared keys into a separate file',
      place: last.place,
    });
    return true;
  }

  #refuse(code: DiagnosticCode, place: Place, words: { message: string; hint: string }): void {
    this.incomplete = true;
    this.diagnostics.push({ code, severity: 'error', ...words, place });
  }

  #shown(path: string): string {
    return path === '' ? this.#main : besideManifest(this.#main, path);
  }
}

function nameOf(file: string): string {
  return file.replace(/^.*[/\\]/, '');
}

function readIncludePath(written: string, folder: string): { path: string } | { message: string; hint: string } {
  const shown = shorten(written);
  const path = normalizePath(`${folder}${written}`);
  if (isAbsolutePath(written) || /^~|[*?[\]{}\\]|:\/\//.test(written) || !/\.(?:ya?ml|json)$/i.test(path)) {
    const message = `${shown} is not the relative path of a YAML file`;
    const hint = 'name one .yaml file below the folder of the campaign, relative to this file, with / between folders';
    return { message, hint };
  }
  if (!path.startsWith('../')) return { path };
  const message = `${shown} is outside the folder of the main manifest`;
  return { message, hint: 'move the file below that folder, or run the campaign from a manifest in a parent folder' };
}

const mainKeys: readonly string[] = ['name', 'description', 'budget', 'service', 'outputs'];

interface ReadFile {
  content?: { value: JsonMap; places: FilePlaces };
  diagnostics: Diagnostic[];
}

interface ReadOptions {
  main?: string;
  program?: string | undefined;
}

function readManifestFile(source: { file: string; text: string }, options: ReadOptions): ReadFile {
  const read = readSource(source.file, source.text);
  if (new TextEncoder().encode(source.text).length > maxManifestBytes) {
    const message = `${source.file} is larger than ${maxManifestBytes / 1024 / 1024} MiB`;
    const hint = 'move long lists into data files and read them with `foreach:`';
    return { diagnostics: [{ code: 'MB1007', severity: 'error', message, hint, place: placeBetween(read, 0, 0) }] };
  }
  const { main } = options;
  const { value, places, diagnostics } = readYaml(read, yamlFaults[main === undefined ? 'manifest' : 'included']);
  if (value === undefined || places === undefined) return { diagnostics };
  if (!isMap(value) || value === unknownValue) {
    return { diagnostics: value === unknownValue ? diagnostics : [...diagnostics, describeNoMap(value, places)] };
  }
  const refusal = refuseProgram(value, { file: source.file, places, program: options.program });
  if (refusal !== undefined) return { diagnostics: [refusal] };
  const own = main === undefined ? { value, diagnostics: [] } : withoutMainKeys(value, { places, main });
  const content = { value: own.value, places };
  return {
    content,
    diagnostics: [
      ...diagnostics,
      ...own.diagnostics,
      ...checkShape(own.value, places, { isIncluded: main !== undefined }),
      ...checkTexts(own.value, places),
      ...checkTaskKeys(own.value, places),
      ...checkPrices(own.value, places),
    ],
  };
}

function describeNoMap(value: Json, places: FilePlaces): Diagnostic {
  const message = `the manifest is ${describeValue(value)}`;
  const hint = 'it must be a map with `version:`, `name:` and `tasks:`';
  return { code: 'MB1103', severity: 'error', message, hint, place: places.value([]) };
}

function refuseProgram(
  value: JsonMap,
  { file, places, program }: { file: string; places: FilePlaces; program: string | undefined },
): Diagnostic | undefined {
  const range = ownValue(value, 'requires');
  if (program === undefined || typeof range !== 'string' || fitsRange(program, range) !== false) return undefined;
  const message = `${file} requires mediabatch ${shorten(range)}, and this is mediabatch ${program}`;
  const hint = `install a matching version: npm install --save-dev "mediabatch@${shorten(range.trim())}"`;
  return { code: 'MB1105', severity: 'error', message, hint, place: places.value(['requires']) };
}

function withoutMainKeys(
  written: JsonMap,
  from: { places: FilePlaces; main: string },
): { value: JsonMap; diagnostics: Diagnostic[] } {
  const value = emptyMap();
  const diagnostics: Diagnostic[] = [];
  for (const [key, item] of Object.entries(written) as [string, Json][]) {
    if (!mainKeys.includes(key)) {
      value[key] = item;
      continue;
    }
    diagnostics.push({
      code: 'MB1101',
      severity: 'error',
      message: `\`${key}\` is not allowed in an included manifest: it applies to the whole campaign`,
      hint: `move the key into ${from.main}`,
      place: from.places.key([key]),
    });
  }
  return { value, diagnostics };
}

function checkPrices(value: Json, places: Places): Diagnostic[] {
  return Object.keys(mapOf(ownValue(value, 'prices'))).flatMap((name) => {
    if (isPriceClass(name)) return [];
    const [kind = '', model = ''] = name.split('/');
    const { models } = kinds[kind]?.model ?? {};
    const hint =
      kinds[kind] === undefined
        ? suggestName(kind, Object.keys(kinds), { what: 'kinds' })
        : models !== undefined && /^[^=~]+$/.test(model) && !Object.hasOwn(models, model)
          ? suggestName(model, Object.keys(models), { what: 'models', prefix: `${kind}/` })
          : 'write a kind, then a model, then fields that the price depends on: image/alpha-2/resolution=4k';
    const message = `\`${shorten(name)}\` in \`prices\` is not a price class`;
    return [{ code: 'MB1101', severity: 'error', message, hint, place: places.key(['prices', name]) }];
  });
}

function isPriceClass(name: string): boolean {
  const [kindName = '', ...parts] = name.split('/');
  const kind = kinds[kindName];
  if (kind === undefined || kind.free === true) return false;
  return parts.every((part, index) => {
    const field = /^([^=~]+)(?:=.+|~[0-9]+)$/.exec(part)?.[1];
    if (field !== undefined) return kind.pricedBy === 'all' || kind.pricedBy.includes(field);
    const models = kind.model?.models;
    return index === 0 && /^[^=~]+$/.test(part) && (models === undefined || Object.hasOwn(models, part));
  });
}
