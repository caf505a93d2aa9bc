import type { Diagnostic, DiagnosticCode, Place } from '../ground/diagnostic.ts';
import { type JsonMap, ownValue, shorten } from '../ground/values.ts';
import { besideManifest, folderOf, isAbsolutePath, normalizePath } from './file-path.ts';
import { explainFileProblem } from './file-problems.ts';
import { type ReadFile, readManifestFile } from './read-file.ts';
import type { DataFile } from './rows/rows.ts';
import { isTemplate } from './template/template.ts';
import type { FilePlaces } from './yaml/places.ts';

const maxIncluded = 50;
const maxDepth = 10;

export interface ManifestFile {
  file: string;
  /** Its folder relative to the main manifest's folder: `''`, or for example `shared/`. */
  folder: string;
  value: JsonMap;
  places: FilePlaces;
}

interface ManifestFiles {
  /** Each file comes after the files that it includes: the main manifest is last. Later files win. */
  files: ManifestFile[];
  diagnostics: Diagnostic[];
  /** Included files that still have to be read, by their path relative to the main manifest's folder. */
  unread: { path: string; place: Place }[];
  /** True when a file is missing or is not a map, so that its content is missing from the campaign. */
  incomplete: boolean;
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
): ManifestFiles {
  const walk = new Walk(source.file, included, program);
  walk.visit('', readManifestFile(source, { program }));
  const { files, diagnostics, unread, incomplete } = walk;
  return { files, diagnostics, unread, incomplete };
}

class Walk {
  readonly files: ManifestFile[] = [];
  readonly diagnostics: Diagnostic[] = [];
  readonly unread: { path: string; place: Place }[] = [];
  incomplete = false;
  readonly #main: string;
  readonly #included: ReadonlyMap<string, DataFile>;
  readonly #program: string | undefined;
  readonly #known = new Set<string>();
  /** The chain of `include` entries from the main manifest to the current file. */
  readonly #way: Edge[] = [];

  constructor(main: string, included: ReadonlyMap<string, DataFile>, program: string | undefined) {
    this.#main = main;
    this.#included = included;
    this.#program = program;
  }

  /** `path` is relative to the main manifest's folder, and empty for the main manifest itself. */
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
      this.#refuse('MB1007', place, { message, hint: 'join some of them, or split the campaign into several' });
      return;
    }
    this.#known.add(path);
    if (this.#way.length >= maxDepth) {
      const message = `manifests include each other over more than ${maxDepth} levels`;
      this.#refuse('MB1007', place, { message, hint: 'include the file from the main manifest' });
      return;
    }
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

  /** Reports a cycle with each of its edges. Returns whether there is one. */
  #closesCircle(last: Edge): boolean {
    const to = last.to === nameOf(this.#main) ? '' : last.to;
    const start = to === '' ? 0 : this.#way.findIndex((edge) => edge.from === to);
    if (start === -1 && last.from !== to) return false;
    const edges = [...(start === -1 ? [] : this.#way.slice(start)), last];
    const names = [...edges.map(({ from }) => this.#shown(from)), this.#shown(to)];
    const related = edges.slice(0, -1).map((edge) => ({
      message: `${this.#shown(edge.from)} includes ${this.#shown(edge.to)}`,
      place: edge.place,
    }));
    const message =
      edges.length === 1
        ? `${names[0]} includes itself`
        : `manifests include each other in a circle: ${names.join(' → ')}`;
    this.diagnostics.push({
      code: 'MB1404',
      severity: 'error',
      message,
      hint: 'remove one of these entries from `include`; move shared keys into a file of their own',
      place: last.place,
      ...(related.length === 0 ? {} : { related }),
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

type IncludePath = { path: string } | { message: string; hint: string };

function readIncludePath(written: string, folder: string): IncludePath {
  const shown = shorten(written);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(written)) {
    const message = `${shown} is a web address, and manifests are included from files only`;
    return { message, hint: 'download it into the folder of the campaign, read it, and include the file' };
  }
  if (isAbsolutePath(written) || written.startsWith('~')) {
    const message = `${shown} is not a relative path`;
    return { message, hint: 'name a file below the folder of the campaign, relative to this file' };
  }
  if (written.includes('\\')) {
    return { message: `${shown} has a backslash`, hint: `write / between folders: ${shown.replaceAll('\\', '/')}` };
  }
  if (/[*?[\]{}]/.test(written)) {
    return { message: `${shown} is a pattern, and \`include\` names files`, hint: 'write one path for each file' };
  }
  const path = normalizePath(`${folder}${written}`);
  if (path === '..' || path.startsWith('../')) {
    const message = `${shown} is outside the folder of the main manifest`;
    return { message, hint: 'move it below that folder, or run the campaign from a manifest that stands higher up' };
  }
  if (!/\.(?:ya?ml|json)$/i.test(path)) {
    return { message: `${shown} is not the path of a yaml file`, hint: 'name a file that ends in .yaml or .yml' };
  }
  return { path };
}
