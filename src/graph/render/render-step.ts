import type { Diagnostic, DiagnosticCode, Place } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import {
  describeValue,
  emptyMap,
  isMap,
  isScalar,
  type JsonMap,
  ownValue,
  type Path,
  shorten,
  unknownValue,
} from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import type { Kind } from '../../kinds/kind.ts';
import { findUnsendable } from '../../manifest/check/unsendable.ts';
import { type Expectation, taskPath } from '../../manifest/manifest.ts';
import { pathPart } from '../../manifest/suggest.ts';
import type { Scope } from '../../manifest/template/render-template.ts';
import { type Call, isReference, isTemplate, makeReference, type NamePath } from '../../manifest/template/template.ts';
import type { Places } from '../../manifest/yaml/places.ts';
import { checkRequest, checkTextLimits, type RequestFault } from '../check/check-request.ts';
import { checkSavePath, defaultSave, writtenExtension } from '../check/check-saves.ts';
import { placeRequestFault } from '../check/check-task.ts';
import { type Condition, type Draft, type ExpandedTask, withTrail } from '../expand/draft.ts';
import { attributeNames, explainJoin, findLeftOut, joinConditions, readPicks } from '../expand/join.ts';
import { scopeOf } from '../expand/tables.ts';
import type { Expansion } from '../expansion.ts';
import type { FileFact } from '../graph.ts';
import { columnIn, fitField, placeFault, type Site } from './templates.ts';

const mostPicks = 10_000;

/** A step with a rendered request and without a fingerprint. A wrong value is replaced by `unknownValue`. */
interface RenderedStep {
  draft: Draft;
  request: JsonMap;
  save: string;
  needs: string[];
  file: (FileFact & { path: string }) | undefined;
  expect: Expectation | undefined;
  title: string | undefined;
  unchecked: boolean;
}

export function renderStep(draft: Draft, expansion: Expansion): RenderedStep {
  const rendering = new StepRendering(draft, expansion);
  const request = rendering.request();
  return {
    draft,
    request,
    save: rendering.save(),
    needs: rendering.needs(),
    file: rendering.file(request),
    expect: rendering.expect(),
    title: rendering.title(),
    unchecked: rendering.unchecked,
  };
}

const ratioForm = /^[1-9][0-9]{0,4}:[1-9][0-9]{0,4}$/;

class StepRendering {
  unchecked = false;
  readonly #draft: Draft;
  readonly #expansion: Expansion;
  readonly #own: Scope;
  readonly #picks = new Map<string, Condition[][] | 'unknown'>();

  constructor(draft: Draft, expansion: Expansion) {
    this.#draft = draft;
    this.#expansion = expansion;
    this.#own = scopeOf(draft, expansion);
  }

  request(): JsonMap {
    const { task } = this.#draft;
    const request = emptyMap();
    const emptied: string[] = [];
    const kind = task.kind === undefined ? undefined : kinds[task.kind];
    for (const { field, value, path } of task.with) {
      const rendered = this.#render(value, path, (site) => ({
        ...this.#own,
        output: (output) => this.#output(output, site),
        file: (file, call) => this.#useFile(file, call, site),
      }));
      const fields = kind?.fields ?? {};
      const fitted = fitField(rendered, value, Object.hasOwn(fields, field) ? fields[field] : undefined);
      if (fitted === undefined) {
        emptied.push(field);
        continue;
      }
      request[field] = fitted;
      this.#warnOfTemplates(field, { written: value, value: fitted, path });
      const refused = whyRefused(field, fitted);
      if (refused === undefined) continue;
      request[field] = unknownValue;
      this.#refuse(refused.code, refused.message, refused.hint, this.#places.value(path));
    }
    if (kind !== undefined) {
      const bare = kind.create.documented ? undefined : findBareField(kind, request, emptied);
      if (bare !== undefined) this.#refuseBare(bare, request);
      const faults = checkRequest(kind, request, this.#expansion.facts);
      this.#reportAll(faults);
      if (!kind.create.documented || faults.some(({ code }) => code === 'MB1507')) {
        const found = this.#expansion.facts.checker?.(kind.name, request) ?? 'unchecked';
        this.unchecked = found === 'unchecked';
        this.#reportAll(found === 'unchecked' ? [] : found);
      }
    }
    this.#reportAll(checkTextLimits(request, task.limits ?? {}));
    return request;
  }

  #refuseBare(field: string, request: JsonMap): void {
    const { task, row } = this.#draft;
    const { value = '', path = taskPath(task.id) } = task.with.find((one) => one.field === field) ?? {};
    request[field] = unknownValue;
    const cell = row && this.#cellOf(value);
    const why = cell ? `: \`${shorten(cell.column)}\` of ${row.label} has no value` : '';
    const message = `\`${field}\` is empty${why}, and no other field of the request describes the output`;
    const hint = cell
      ? `fill the cell, or leave out rows with an empty cell: \`when: ${JSON.stringify(`{{ne (trim ${cell.written}) ''}}`)}\``
      : 'write a string, or leave the step out with `when:`';
    const place = this.#places.value(path);
    this.#report({ code: 'MB1502', severity: 'error', message, hint, place }, cell?.column);
  }

  #warnOfTemplates(field: string, { written, value, path }: { written: Json; value: Json; path: Path }): void {
    const known = [this.#draft.row?.value, this.#own.names.vars];
    const left =
      findTemplateText(value, (name) => known.some((map) => ownValue(map, name) !== undefined)) ??
      (typeof written === 'string' ? /\$\{\{[^{}]*\}\}/.exec(written)?.[0] : undefined);
    if (left === undefined) return;
    const message = `\`${field}\` contains \`${shorten(left, 40)}\`, ${left.startsWith('$') ? 'whose $' : 'all of it'} is sent as text`;
    const hint = 'a template is {{row.name}}, with two braces and nothing before them; data is not rendered';
    this.#report({ code: 'MB1202', severity: 'warning', message, hint, place: this.#places.value(path) });
  }

  file(request: JsonMap): RenderedStep['file'] {
    const { task } = this.#draft;
    const { file } = request;
    if (task.kind === undefined || kinds[task.kind]?.act !== 'upload' || typeof file !== 'string') return undefined;
    const field = task.with.find((one) => one.field === 'file');
    const place = this.#places.value(field?.path ?? taskPath(task.id));
    const found = this.#expansion.uploads.read(file, { folder: task.folder, place });
    if ('file' in found) return found.file;
    this.#report(found.diagnostic);
    return undefined;
  }

  #useFile(file: string, { helper, start, end }: Call, { text, path }: Site): Json {
    const at = { folder: this.#draft.task.folder, place: this.#places.within(path, { text, start, end }) };
    const found = helper === 'read' ? this.#expansion.readText(file, at) : this.#expansion.uploads.make(file, at);
    if ('diagnostic' in found) this.#report(found.diagnostic);
    if ('address' in found) return makeReference(found.address, 'url');
    return 'text' in found ? found.text : unknownValue;
  }

  save(): string {
    const { task, take } = this.#draft;
    const path = taskPath(task.id, 'save');
    const { places } = this.#expansion.manifest;
    if (task.kind !== undefined && kinds[task.kind]?.media === 'none') {
      if (task.save === undefined) return '';
      const message = `\`save\` has no meaning for kind ${task.kind}: there is nothing to download`;
      this.#refuse('MB1602', message, 'remove it', places.key(path));
      return '';
    }
    const written = task.save === undefined ? defaultSave(this.#draft) : this.#render(task.save, path);
    if (written === unknownValue) return '';
    const place = () => (task.save === undefined ? places.key(taskPath(task.id)) : places.value(path));
    if (!isScalar(written)) {
      this.#refuse('MB1602', 'the output path is not a string', 'write a path, as in images/{{key}}', place());
      return '';
    }
    const plain = String(written).normalize('NFC');
    const extension = writtenExtension(plain);
    if (extension !== undefined) {
      const message = `the output path ends in ${extension}, and the extension is added automatically`;
      const hint = `leave ${extension} out: the extension comes from the downloaded file`;
      this.#report({ code: 'MB1602', severity: 'warning', message, hint, place: place() });
    }
    const isByTake = this.#expansion.templates.pathsIn(task.save ?? null).some(({ parts }) => parts[0] === 'take');
    const full = take === undefined || isByTake ? plain : `${plain}-${take}`;
    const problem = checkSavePath(full);
    if (problem === undefined) return full;
    const hint = task.save === undefined ? `write \`save:\` for the task; ${problem.hint}` : problem.hint;
    this.#refuse(problem.code, problem.message, hint, place());
    return '';
  }

  expect(): Expectation | undefined {
    const { id, expect } = this.#draft.task;
    if (expect?.ratio === undefined || !isTemplate(expect.ratio)) return expect;
    const path = taskPath(id, 'expect', 'ratio');
    const ratio = this.#render(expect.ratio, path);
    if (typeof ratio === 'string' && ratioForm.test(ratio)) return { ...expect, ratio };
    if (ratio !== unknownValue) {
      const message = `\`expect.ratio\` of \`${this.#draft.address}\` is ${describeValue(ratio)}: not a ratio of width to height`;
      this.#refuse('MB1103', message, 'the template must produce a string such as "16:9"', this.#places.value(path));
    }
    return undefined;
  }

  title(): string | undefined {
    const { task, row } = this.#draft;
    if (task.gate?.title === undefined) return row && titleOf(row.value);
    const title = this.#render(task.gate.title, taskPath(task.id, 'gate', 'title'));
    return isScalar(title) ? String(title).trim() || undefined : undefined;
  }

  /**
   * Returns the steps of the tasks in `needs` whose key and axes match this step. If no step of a task matches, returns
   * all steps of the task.
   */
  needs(): string[] {
    const { task } = this.#draft;
    return task.needs.flatMap((id) => {
      const made = this.#expansion.expanded.get(id);
      const picks = made === undefined ? 'unknown' : this.#picksFor(made);
      if (made === undefined || picks === 'unknown') return [];
      const producer = made.offered ?? made;
      let isLeftOut = false;
      const all = picks.flatMap((one) => {
        const { conditions, automatic } = joinConditions(this.#draft, producer, one);
        const joined = producer.find(conditions);
        const skips = joined.length === 0 && findLeftOut(producer, conditions) !== undefined;
        isLeftOut ||= skips;
        return joined.length === 0 && automatic > 0 && !skips ? producer.find(one) : joined;
      });
      if (all.length === 0 && !isLeftOut && producer.complete && producer.drafts.length > 0) {
        const hint = `its steps have ${attributeNames(producer).join(', ')}`;
        const place = this.#places.key(taskPath(task.id, 'from', id));
        this.#refuse('MB1405', `\`from\` matches no step of \`${id}\``, hint, place);
      }
      return all.map((draft) => draft.address);
    });
  }

  #output(path: NamePath, site: Site): Json {
    const [, task = '', output = ''] = path.parts;
    const made = this.#expansion.expanded.get(task);
    const kind = made?.task.kind === undefined ? undefined : kinds[made.task.kind];
    const picks = made === undefined || kind === undefined ? 'unknown' : this.#picksFor(made);
    const producer = made?.offered ?? made;
    if (kind === undefined || picks === 'unknown' || producer?.complete !== true) return unknownValue;
    const isSingle = kind.outputs.includes(output);
    const field = isSingle ? output : output.slice(0, -1);
    if (!kind.outputs.includes(field)) return unknownValue;
    const wrong = (words: { message: string; hint: string }) => {
      const { start, end } = path;
      this.#report(placeFault({ code: 'MB1405', ...words, start, end }, site, this.#places));
      return unknownValue;
    };
    const written = { written: path.written, task, output };
    const gate = made?.offered === undefined ? undefined : made.task.gate;
    const choose = gate?.is === 'choose' ? gate.choose : undefined;
    if (!isSingle) {
      const lists = picks.map((conditions) => ({ conditions, found: producer.find(conditions) }));
      const empty = lists.filter(({ found }) => found.length === 0);
      for (const { conditions } of empty) wrong(explainJoin(written, { candidates: [], producer, conditions }));
      if (empty.length > 0) return unknownValue;
      return lists.flatMap(({ found }) => found.flatMap(({ address }) => referencesTo(address, field, choose)));
    }
    const [picked, ...others] = picks;
    if (picked === undefined || others.length > 0) {
      const message = `\`${path.written}\` is one output, but \`from\` selects ${picks.length} steps of \`${task}\``;
      return wrong({ message, hint: `{{tasks.${task}.${output}s}} is the list of the outputs of all selected steps` });
    }
    const own = this.#draft.part?.of;
    // If the task iterates over parts, the reference is to the step that makes this step's part.
    const cutFrom = own === undefined ? undefined : producer.drafts.find(({ address }) => address === own);
    if (cutFrom !== undefined && picked.length === 0) return makeReference(cutFrom.address, field);
    const { conditions } = joinConditions(this.#draft, producer, picked);
    const candidates = producer.find(conditions);
    const [only, another] = candidates;
    if (only === undefined || another !== undefined) {
      return wrong(explainJoin(written, { candidates, producer, conditions }));
    }
    const [reference, more] = referencesTo(only.address, field, choose);
    if (reference !== undefined && more === undefined) return reference;
    const message = `\`${path.written}\` is one output, but ${choose} are picked at the gate of \`${task}\``;
    const hint = `{{tasks.${task}.${output}s}} is the list of the picked outputs; \`choose: 1\` picks only one`;
    return wrong({ message, hint });
  }

  #picksFor(producer: ExpandedTask): Condition[][] | 'unknown' {
    const { id } = producer.task;
    const known = this.#picks.get(id);
    if (known !== undefined) return known;
    const { task } = this.#draft;
    const places = this.#places;
    const picks = readPicks(task, producer, {
      places,
      render: (value, path) => this.#render(value, path),
      report: (error) => this.#report(error),
    });
    const count = (picks ?? []).reduce((product, { values }) => product * values.length, 1);
    if (count > mostPicks) {
      const message = `\`from\` of \`${id}\` selects more than ${mostPicks} combinations`;
      this.#refuse(
        'MB1405',
        message,
        'select with fewer values, or split the task',
        places.key(taskPath(task.id, 'from', id)),
      );
    }
    const result = picks === undefined || count > mostPicks ? 'unknown' : combine(picks);
    this.#picks.set(id, result);
    return result;
  }

  #render(
    written: Json,
    path: Path,
    scopeAt = (_site: Site): Scope => ({ ...this.#own, output: () => unknownValue }),
  ): Json {
    return this.#expansion.render(written, path, scopeAt, (found) => withTrail(found, this.#draft));
  }

  get #places(): Places {
    return this.#expansion.manifest.places;
  }

  #reportAll(faults: readonly RequestFault[]): void {
    const { task } = this.#draft;
    for (const fault of faults) {
      const written = task.with.find(({ field }) => field === fault.at[0])?.value;
      this.#report(placeRequestFault(fault, task, this.#expansion.manifest), this.#cellOf(written ?? null)?.column);
    }
  }

  /** Returns the only column that a value uses, including `{{lookup row NAME}}`. `written`: cell in a template. */
  #cellOf(value: Json): { column: string; written: string } | undefined {
    const text = typeof value === 'string' ? value : '';
    const [, name] = /^\s*\{\{\s*lookup row ([A-Za-z_]\w*(?:\.[\w-]+)+)\s*\}\}\s*$/.exec(text) ?? [];
    const column = name === undefined ? columnIn(value, this.#expansion.templates) : this.#render(`{{${name}}}`, []);
    if (typeof column !== 'string') return undefined;
    return { column, written: name === undefined ? `row.${pathPart(column)}` : `(lookup row ${name})` };
  }

  #refuse(code: DiagnosticCode, message: string, hint: string, place: Place): void {
    this.#report({ code, severity: 'error', message, hint, place });
  }

  #report(diagnostic: Diagnostic, column?: string): void {
    this.#expansion.report(withTrail(diagnostic, this.#draft, column));
  }
}

function referencesTo(address: string, field: string, choose: number | undefined): JsonMap[] {
  if (choose === undefined) return [makeReference(address, field)];
  return Array.from({ length: choose }, (_, index) => makeReference(address, field, index + 1));
}

function combine(picks: readonly { name: string; values: readonly string[] }[]): Condition[][] {
  return picks.reduce<Condition[][]>(
    (all, { name, values }) => values.flatMap((value) => all.map((conditions) => [...conditions, { name, value }])),
    [[]],
  );
}

/**
 * Returns the first empty content field, if all content fields are empty. Content is a free text or a URL. An
 * undocumented field is treated as content, because its meaning is unknown.
 */
function findBareField(kind: Kind, request: JsonMap, emptied: readonly string[]): string | undefined {
  const isContent = (name: string) => {
    const field = Object.hasOwn(kind.fields, name) ? kind.fields[name] : undefined;
    return field === undefined || field.free === true || field.url === true;
  };
  const others = Object.entries(request).filter(([, value]) => value !== '');
  return others.some(([name]) => isContent(name)) ? undefined : emptied.find(isContent);
}

/** Templates of mediabatch and of other programs, such as `{{…}}` and `{%…%}`. */
const templateText =
  /\{\{[^{}]*\}\}|\{\s*(?:vars|row|matrix|tasks|tables)\.[^{}]*\}|\{\s*(?:row|key|take)\s*\}|\{%[^{}]*%\}|<%[^<>]*%>/;

function findTemplateText(value: Json, isName: (name: string) => boolean): string | undefined {
  if (typeof value === 'string') {
    const names = value.match(/\{[^{}]+\}/g) ?? [];
    return templateText.exec(value)?.[0] ?? names.find((name) => isName(name.slice(1, -1).trim()));
  }
  if (value === null || typeof value !== 'object' || value === unknownValue) return undefined;
  for (const item of Object.values(value) as Json[]) {
    const found = findTemplateText(item, isName);
    if (found !== undefined) return found;
  }
  return undefined;
}

function whyRefused(field: string, value: Json): { code: DiagnosticCode; message: string; hint: string } | undefined {
  const key = findForeignKey(value);
  if (key !== undefined) {
    // A run would mistake a property such as `$ref` for a reference.
    const message = `\`${field}\` has the key \`${shorten(key)}\`, and keys that start with $ are reserved for references`;
    const hint = 'rename the key, here or in the data; an output of another task is {{tasks.name.url}}';
    return { code: 'MB1503', message, hint };
  }
  // Values in the manifest are checked when it is read. `findUnsendable` checks templates' output and file names.
  const found = findUnsendable(value);
  if (found === undefined) return undefined;
  const { written, problem, hint } = found;
  return {
    code: 'MB1106',
    message: `\`${field}\`${written === undefined ? '' : ` is ${written}, which`} ${problem}`,
    hint,
  };
}

const longestTitle = 60;

const addressOrFile = /^https?:|\.\w{2,4}$/;

/** Returns `title` or `name` of a row, else the first short text of several words. A single word is usually a key. */
function titleOf(row: Json): string | undefined {
  if (!isMap(row)) return typeof row === 'string' && row.length <= longestTitle ? row : undefined;
  let first: string | undefined;
  const { title, name } = row;
  for (const value of [title, name, ...Object.values(row)]) {
    if (typeof value !== 'string' || value === '' || value.length > longestTitle || addressOrFile.test(value)) continue;
    if (value === title || value === name || value.includes(' ')) return value;
    first ??= value;
  }
  return first;
}

function findForeignKey(value: Json): string | undefined {
  if (value === null || typeof value !== 'object' || isReference(value)) return undefined;
  if (!Array.isArray(value)) {
    const own = Object.keys(value).find((key) => key.startsWith('$'));
    if (own !== undefined) return own;
  }
  for (const item of Object.values(value)) {
    const found = findForeignKey(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
