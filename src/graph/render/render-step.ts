import type { Diagnostic, DiagnosticCode, Place } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import {
  describeValue,
  emptyMap,
  isScalar,
  type JsonMap,
  type Path,
  shorten,
  unknownValue,
} from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import type { Kind } from '../../kinds/kind.ts';
import { findUnsendable } from '../../manifest/check/unsendable.ts';
import { type Expectation, taskPath } from '../../manifest/manifest.ts';
import { renderTemplate, type Scope } from '../../manifest/template/render-template.ts';
import {
  findForeignKey,
  isTemplate,
  makePickReference,
  makeReference,
  type NamePath,
  type TemplateFault,
} from '../../manifest/template/template.ts';
import type { Places } from '../../manifest/yaml/places.ts';
import { checkRequest, checkTextLimits, type RequestFault } from '../check/check-request.ts';
import { checkSavePath, defaultSave, writtenExtension } from '../check/check-saves.ts';
import { placeRequestFault, savesByTake } from '../check/check-task.ts';
import { type Condition, type Draft, type ExpandedTask, titleOf, withTrail } from '../expand/draft.ts';
import { attributeNames, explainJoin, findLeftOut, joinConditions, readPicks } from '../expand/join.ts';
import { scopeOf } from '../expand/tables.ts';
import type { Expansion } from '../expansion.ts';
import type { FileFact } from '../graph.ts';
import { columnIn, fitField, placeFault, renderValue } from './templates.ts';

/** Maximum number of combinations of `from` values in one step, because a data file can have any number of values. */
const mostPicks = 10_000;

/** A step with its request, without fingerprint. Wrong values are `unknownValue`. */
export interface RenderedStep {
  draft: Draft;
  request: JsonMap;
  save: string;
  title?: string;
  needs: string[];
  file?: FileFact & { path: string };
  unchecked?: true;
  expect?: Expectation;
}

interface Site {
  text: string;
  path: Path;
}

export function renderStep(draft: Draft, expansion: Expansion): RenderedStep {
  const rendering = new StepRendering(draft, expansion);
  const request = rendering.request();
  const step: RenderedStep = { draft, request, save: rendering.save(), needs: rendering.needs() };
  const file = rendering.file(request);
  if (file !== undefined) step.file = file;
  if (rendering.unchecked) step.unchecked = true;
  const expect = rendering.expect();
  if (expect !== undefined) step.expect = expect;
  const title = rendering.title();
  if (title !== undefined) step.title = title;
  return step;
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
      const rendered = renderValue(value, path, {
        templates: this.#expansion.templates,
        scopeAt: (site) => ({
          ...this.#scope((output) => this.#output(output, site)),
          file: (file, call) => {
            const at = { ...site, start: call.start, end: call.end };
            return call.helper === 'read' ? this.#read(file, at) : this.#upload(file, at);
          },
        }),
        onFault: (fault, site) => this.#reportFault(fault, site),
      });
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
    const bare = kind === undefined || kind.create.documented ? undefined : findBareField(kind, request, emptied);
    if (bare !== undefined) this.#refuseBare(bare, request);
    if (kind !== undefined) {
      const faults = checkRequest(kind, request, this.#expansion.facts);
      this.#reportAll(faults);
      const isNew = faults.some(({ code }) => code === 'MB1507');
      if (isNew || !kind.create.documented) this.#checkByDocument(kind.name, request);
    }
    this.#reportAll(checkTextLimits(request, task.limits ?? {}));
    return request;
  }

  /** Reports a request that an empty cell left without anything that says what to make. */
  #refuseBare(field: string, request: JsonMap): void {
    const { task, row } = this.#draft;
    const { value = '', path = taskPath(task.id) } = task.with.find((one) => one.field === field) ?? {};
    request[field] = unknownValue;
    const column = this.#columnOf(field);
    const why =
      column === undefined || row === undefined ? '' : `: \`${shorten(column)}\` of ${row.label} has no value`;
    const message = `\`${field}\` is empty${why}, and nothing else in the request says what to make`;
    const [, inside] = /^\s*\{\{\s*([^{}]+?)\s*\}\}\s*$/.exec(typeof value === 'string' ? value : '') ?? [];
    const isCall = /^\w+\s/.test(inside ?? '');
    const cell = isCall ? `(${inside})` : inside;
    const hint =
      why === '' || cell === undefined
        ? 'write a text, or leave the step out with `when:`'
        : `fill the cell, or leave out steps without it: \`when: ${JSON.stringify(`{{ne (trim ${cell}) ''}}`)}\``;
    const place = this.#places.value(path);
    this.#report({ code: 'MB1502', severity: 'error', message, hint, place }, column);
  }

  #warnOfTemplates(field: string, { written, value, path }: { written: Json; value: Json; path: Path }): void {
    const left =
      findTemplateText(value) ?? (typeof written === 'string' ? /\$\{\{[^{}]*\}\}/.exec(written)?.[0] : undefined);
    if (left === undefined) return;
    const message = `\`${field}\` contains \`${shorten(left, 40)}\`, ${left.startsWith('$') ? 'whose $' : 'all of it'} is sent as text`;
    const hint = 'a template is {{row.name}}, with two braces and nothing before them; data is not rendered';
    const place = this.#places.value(path);
    this.#report({ code: 'MB1202', severity: 'warning', message, hint, place });
  }

  #checkByDocument(kind: string, request: JsonMap): void {
    const faults = this.#expansion.facts.checker?.(kind, request) ?? 'unchecked';
    if (faults === 'unchecked') {
      this.unchecked = true;
      return;
    }
    this.#reportAll(faults);
  }

  /** Returns the file that an upload step sends; requests it if it is not read yet. */
  file(request: JsonMap): (FileFact & { path: string }) | undefined {
    const { task } = this.#draft;
    const { file } = request;
    if (task.kind === undefined || kinds[task.kind]?.act !== 'upload' || typeof file !== 'string') return undefined;
    const field = task.with.find((one) => one.field === 'file');
    const place = this.#places.value(field?.path ?? taskPath(task.id));
    const found = this.#expansion.uploads.read(file, { folder: task.folder, place });
    if ('diagnostic' in found) {
      this.#report(found.diagnostic);
      return undefined;
    }
    return found.file;
  }

  #upload(file: string, site: Site & { start: number; end: number }): Json {
    const place = this.#places.within(site.path, site);
    const made = this.#expansion.uploads.make(file, { folder: this.#draft.task.folder, place });
    if (!('diagnostic' in made)) return makeReference(made.address, 'url');
    this.#report(made.diagnostic);
    return unknownValue;
  }

  #read(file: string, site: Site & { start: number; end: number }): Json {
    const place = this.#places.within(site.path, site);
    const read = this.#expansion.readText(file, { folder: this.#draft.task.folder, place });
    if ('text' in read) return read.text;
    if ('diagnostic' in read) this.#report(read.diagnostic);
    return unknownValue;
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
      this.#refuse('MB1602', 'the output path is not a text', 'write a path, as in images/{{key}}', place());
      return '';
    }
    const plain = String(written).normalize('NFC');
    const extension = writtenExtension(plain);
    if (extension !== undefined) {
      const message = `the output path ends in ${extension}, and the extension is added automatically`;
      const hint = `leave ${extension} out: the extension comes from the file that the service gives`;
      this.#report({ code: 'MB1602', severity: 'warning', message, hint, place: place() });
    }
    const full = take === undefined || savesByTake(task, this.#expansion.templates) ? plain : `${plain}-${take}`;
    const problem = checkSavePath(full);
    if (problem === undefined) return full;
    const hint = task.save === undefined ? `write \`save:\` for the task; ${problem.hint}` : problem.hint;
    this.#refuse(problem.code, problem.message, hint, place());
    return '';
  }

  /** Returns the requirements for the output. Only the ratio may be a template. */
  expect(): Expectation | undefined {
    const { id, expect } = this.#draft.task;
    if (expect?.ratio === undefined || !isTemplate(expect.ratio)) return expect;
    const path = taskPath(id, 'expect', 'ratio');
    const ratio = this.#render(expect.ratio, path);
    if (typeof ratio === 'string' && ratioForm.test(ratio)) return { ...expect, ratio };
    if (ratio !== unknownValue) {
      const message = `\`expect.ratio\` of \`${this.#draft.address}\` is ${describeValue(ratio)}: not a ratio of width to height`;
      this.#refuse('MB1103', message, 'it must give a text such as "16:9"', this.#places.value(path));
    }
    return undefined;
  }

  title(): string | undefined {
    const { task, row } = this.#draft;
    if (task.gate?.title === undefined) return row && titleOf(row.value);
    const title = this.#render(task.gate.title, taskPath(task.id, 'gate', 'title'));
    return isScalar(title) ? String(title).trim() || undefined : undefined;
  }

  /** Returns the steps of the tasks in `needs`: those that join with this step, or all of a task if none does. */
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
        const hint = `it has ${attributeNames(producer).join(', ')}`;
        const place = this.#places.key(taskPath(task.id, 'from', id));
        this.#refuse('MB1405', `\`from\` matches no step of \`${id}\``, hint, place);
      }
      return all.map((draft) => draft.address);
    });
  }

  /** Returns references to the steps that a path names; `unknownValue` when the path is wrong, which was reported. */
  #output(path: NamePath, site: Site): Json {
    const [, task = '', output = ''] = path.parts;
    const made = this.#expansion.expanded.get(task);
    const kind = made?.task.kind === undefined ? undefined : kinds[made.task.kind];
    if (made === undefined || kind === undefined) return unknownValue;
    const wrong = (words: { message: string; hint: string }) => {
      this.#reportFault({ code: 'MB1405', ...words, start: path.start, end: path.end }, site);
      return unknownValue;
    };
    const picks = this.#picksFor(made);
    const producer = made.offered ?? made;
    const { gate } = made.task;
    const choose = made.offered !== undefined && gate?.is === 'choose' ? gate.choose : undefined;
    if (picks === 'unknown' || !producer.complete) return unknownValue;
    const single = kind.outputs.includes(output);
    const field = single ? output : output.slice(0, -1);
    if (!kind.outputs.includes(field)) return unknownValue;
    if (!single) {
      const lists = picks.map((one): Json[] | undefined => {
        const found = producer.find(one);
        if (found.length > 0) return found.flatMap(({ address }) => this.#listed(address, field, choose));
        wrong(explainJoin({ written: path.written, task, output }, { candidates: [], producer, conditions: one }));
        return undefined;
      });
      return lists.every((list) => list !== undefined) ? lists.flat() : unknownValue;
    }
    const [picked, ...others] = picks;
    if (picked === undefined || others.length > 0) {
      const message = `\`${path.written}\` is one output, but \`from\` selects ${picks.length} steps of \`${task}\``;
      return wrong({ message, hint: `{{tasks.${task}.${output}s}} is the list of their outputs` });
    }
    const own = this.#draft.part?.of;
    // For a task over parts, the source is the step that makes this step's part.
    const cutFrom = own === undefined ? undefined : producer.drafts.find(({ address }) => address === own);
    if (cutFrom !== undefined && picked.length === 0) return makeReference(cutFrom.address, field);
    const { conditions } = joinConditions(this.#draft, producer, picked);
    const candidates = producer.find(conditions);
    const [only, another] = candidates;
    if (only !== undefined && another === undefined) {
      if (choose === undefined) return makeReference(only.address, field);
      if (choose === 1) return makePickReference(only.address, field, 1);
      const message = `\`${path.written}\` is one output, but ${choose} are picked at the gate of \`${task}\``;
      return wrong({
        message,
        hint: `{{tasks.${task}.${output}s}} is the list of the picked ones; \`choose: 1\` picks one`,
      });
    }
    return wrong(explainJoin({ written: path.written, task, output }, { candidates, producer, conditions }));
  }

  #listed(address: string, field: string, choose: number | undefined): JsonMap[] {
    if (choose === undefined) return [makeReference(address, field)];
    return Array.from({ length: choose }, (_, index) => makePickReference(address, field, index + 1));
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
      const message = `\`from\` of \`${id}\` picks more than ${mostPicks} combinations`;
      this.#refuse(
        'MB1405',
        message,
        'pick by fewer values, or divide the task',
        places.key(taskPath(task.id, 'from', id)),
      );
    }
    const result = picks === undefined || count > mostPicks ? 'unknown' : combine(picks);
    this.#picks.set(id, result);
    return result;
  }

  #render(written: Json, path: Path): Json {
    return renderValue(written, path, {
      templates: this.#expansion.templates,
      scopeAt: () => this.#scope(() => unknownValue),
      onFault: (fault, site) => this.#reportFault(fault, site),
    });
  }

  get #places(): Places {
    return this.#expansion.manifest.places;
  }

  #scope(output: (path: NamePath) => Json): Scope {
    return { ...this.#own, output };
  }

  #reportFault(fault: TemplateFault, site: Site): void {
    this.#report(placeFault(fault, site, this.#places));
  }

  #reportAll(faults: readonly RequestFault[]): void {
    const { task } = this.#draft;
    for (const fault of faults)
      this.#report(placeRequestFault(fault, task, this.#expansion.manifest), this.#columnOf(String(fault.at[0])));
  }

  #columnOf(name: string): string | undefined {
    const written = this.#draft.task.with.find(({ field }) => field === name)?.value;
    if (written === undefined) return undefined;
    return this.#lookedUp(written) ?? columnIn(written, this.#expansion.templates);
  }

  /** Returns the column of `{{lookup row …}}`, whose name is known only when it is rendered. */
  #lookedUp(text: Json): string | undefined {
    if (typeof text !== 'string') return undefined;
    const [part, more] = this.#expansion.templates.get(text)?.body ?? [];
    if (more !== undefined || part?.is !== 'value' || part.value.is !== 'call') return undefined;
    const { helper, arguments: given } = part.value;
    const [map, key] = given;
    if (helper !== 'lookup' || map?.is !== 'name' || map.written !== 'row' || key === undefined) return undefined;
    const scope = this.#scope(() => unknownValue);
    const { value } = renderTemplate({ text: '', body: [{ is: 'value', value: key }], paths: [] }, scope);
    return typeof value === 'string' ? value : undefined;
  }

  #refuse(code: DiagnosticCode, message: string, hint: string, place: Place): void {
    this.#report({ code, severity: 'error', message, hint, place });
  }

  #report(diagnostic: Diagnostic, column?: string): void {
    this.#expansion.report(withTrail(diagnostic, this.#draft, column));
  }
}

function combine(picks: readonly { name: string; values: readonly string[] }[]): Condition[][] {
  return picks.reduce<Condition[][]>(
    (all, { name, values }) => values.flatMap((value) => all.map((conditions) => [...conditions, { name, value }])),
    [[]],
  );
}

/**
 * Returns the first of the fields without a value that says what to make, if no other field of the request does. Fields
 * that are not known count as one, because the request is undocumented.
 */
function findBareField(kind: Kind, request: JsonMap, emptied: readonly string[]): string | undefined {
  const isContent = (name: string) => {
    const field = Object.hasOwn(kind.fields, name) ? kind.fields[name] : undefined;
    return field === undefined || field.free === true || field.url === true;
  };
  const others = Object.entries(request).filter(([, value]) => value !== '');
  return others.some(([name]) => isContent(name)) ? undefined : emptied.find(isContent);
}

const templateText = /\{\{[^{}]*\}\}|\{\s*(?:vars|row|matrix|tasks|tables)\.[^{}]*\}|\{\s*(?:row|key|take)\s*\}/;

function findTemplateText(value: Json): string | undefined {
  if (typeof value === 'string') return value.includes('{') ? templateText.exec(value)?.[0] : undefined;
  if (value === null || typeof value !== 'object' || value === unknownValue) return undefined;
  for (const item of Object.values(value) as Json[]) {
    const found = findTemplateText(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function whyRefused(field: string, value: Json): { code: DiagnosticCode; message: string; hint: string } | undefined {
  const key = findForeignKey(value);
  if (key !== undefined) {
    // A property such as `$ref` would be mistaken for a reference.
    const message = `\`${field}\` has the key \`${shorten(key)}\`, and keys that start with $ are kept for references`;
    const hint = 'rename it, here or in the data; an output of another task is {{tasks.name.url}}';
    return { code: 'MB1503', message, hint };
  }
  // Values in the manifest are checked there. This check is for the output of templates and for file names.
  const found = findUnsendable(value);
  if (found === undefined) return undefined;
  const { written, problem, hint } = found;
  return {
    code: 'MB1106',
    message: `\`${field}\`${written === undefined ? '' : ` is ${written}, which`} ${problem}`,
    hint,
  };
}
