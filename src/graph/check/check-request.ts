import { isIP } from 'node:net';
import type { DiagnosticCode } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { describeValue, isMap, type JsonMap, ownValue, shorten, unknownValue } from '../../ground/values.ts';
import type { Field, Kind, Model } from '../../kinds/kind.ts';
import type { ListedKind, Listing } from '../../kinds/listed-model.ts';
import { modelOf } from '../../kinds/price.ts';
import { curlyHint, hasCurlyQuotes, listNames, nearestName, suggestName } from '../../manifest/suggest.ts';
import { isReference } from '../../manifest/template/template.ts';
import { isInward } from '../address.ts';

export interface RequestFault {
  code: DiagnosticCode;
  message: string;
  hint: string;
  at: (string | number)[];
  severity?: 'warning' | undefined;
  meant?: string | undefined;
}

export const refreshLearns = '`plan --refresh` with a key reads the fields and models of your service';

export interface RequestChecker {
  (kind: string, request: Json): RequestFault[] | 'unchecked';
  lists?(kind: string): boolean;
}

/**
 * Checks a request against the documentation of its kind. A reference to another step and `unknownValue` are allowed
 * wherever a string is allowed. A value that is listed by the service but not documented is a warning.
 */
export function checkRequest(
  kind: Kind,
  request: JsonMap,
  { listings = [], checker }: { listings?: readonly Listing[] | undefined; checker?: RequestChecker | undefined } = {},
): RequestFault[] {
  const listsFields = !kind.create.documented && checker?.lists?.(kind.name) === true;
  return new RequestCheck(kind, request, { listings, listsFields }).run();
}

class RequestCheck {
  readonly #kind: Kind;
  readonly #request: JsonMap;
  readonly #listed: readonly ListedKind[];
  readonly #listsFields: boolean;
  readonly #isSandbox: boolean;
  readonly #modelField: string;
  readonly #modelName: string | undefined;
  readonly #model: Model | undefined;
  readonly #faults: RequestFault[] = [];

  constructor(kind: Kind, request: JsonMap, of: { listings: readonly Listing[]; listsFields: boolean }) {
    this.#kind = kind;
    this.#request = request;
    this.#listed = of.listings.flatMap((listing) => own(listing, kind.name) ?? []);
    this.#listsFields = of.listsFields;
    this.#isSandbox = this.#listed.some((listed) => listed.isSandbox);
    this.#modelField = kind.model?.field ?? 'model';
    const name = kind.model && (ownValue(request, this.#modelField) ?? kind.model.default);
    this.#modelName = typeof name === 'string' ? name : undefined;
    this.#model = this.#modelName === undefined ? undefined : modelOf(kind, this.#modelName);
  }

  run(): RequestFault[] {
    for (const [name, value] of Object.entries(this.#request)) {
      const field = own(this.#kind.fields, name);
      if (name === this.#kind.model?.tierField) this.#checkTier(name, value);
      else if (field !== undefined) this.#checkField(name, field, value);
      else if (!this.#listsFields) this.#checkUnknown(name);
    }
    if (this.#modelName !== undefined) this.#checkModel(this.#modelName);
    this.#checkChoices();
    this.#checkRequired();
    return this.#faults;
  }

  #checkRequired(): void {
    const { fields, model, name: kind } = this.#kind;
    for (const name in fields) {
      const field = fields[name];
      if (field?.required !== true) continue;
      this.#require(name, `every ${kind} request needs this field: ${lowerFirst(field.description)}`);
    }
    for (const name of this.#model?.requires ?? []) {
      if (fields[name]?.required === true) continue;
      const free = Object.entries(model?.models ?? {}).filter(([, one]) => one.requires?.includes(name) !== true);
      const other = free.length === 0 ? '' : `; ${listNames(free.map(([key]) => key))} does not`;
      this.#require(name, `the model ${this.#modelName} needs this field${other}`);
    }
  }

  #require(name: string, why: string): void {
    if (!isBlank(this.#request[name]) || this.#isMisspelled(name)) return;
    const isEmpty = Object.hasOwn(this.#request, name);
    const message = isEmpty ? `\`${name}\` is empty` : `\`${name}\` is missing`;
    this.#report([name], message, `${isEmpty ? 'write' : 'add'} \`${name}:\` – ${why}`, { code: 'MB1502' });
  }

  #isMisspelled(name: string): boolean {
    const known = Object.keys(this.#kind.fields);
    if (Object.hasOwn(this.#request, name)) return false;
    return Object.keys(this.#request).some((one) => !known.includes(one) && nearestName(one, known) === name);
  }

  #checkChoices(): void {
    for (const names of this.#kind.oneOf ?? []) {
      const [first = '', ...others] = names;
      const given = names.filter((name) => !isBlank(this.#request[name]));
      const choice = `\`${first}\` or \`${others.join('` or `')}\``;
      if (given.length === 0) {
        const { fields } = this.#kind;
        const hints = names.map((name) => `\`${name}:\` – ${lowerFirst(fields[name]?.description ?? '')}`);
        this.#report([first], `${choice} is missing`, `add ${hints.join(' ')}`, { code: 'MB1502' });
      } else if (given.length > 1) {
        const message = `${given.map((name) => `\`${name}\``).join(' and ')} cannot be combined`;
        this.#report([given[1] ?? first], message, `write only one of them: ${choice}`);
      }
    }
  }

  #checkUnknown(name: string): void {
    const { name: kind, create, fields } = this.#kind;
    const known = Object.keys(fields);
    const nearest = nearestName(name, known);
    const meant = nearest === undefined || Object.hasOwn(this.#request, nearest) ? undefined : nearest;
    if (create.documented) {
      const quotes = hasCurlyQuotes(name) ? `; ${curlyHint}` : '';
      const hint = `${suggestName(name, known, { what: 'fields' })}${quotes}`;
      this.#report([name], `\`${shorten(name)}\` is not a field of kind ${kind}`, hint, { code: 'MB1501', meant });
    } else if (meant !== undefined) {
      const message = `\`${shorten(name)}\` is not a known field of kind ${kind}`;
      const hint = `did you mean \`${meant}\`? The field is sent unchanged, because the service does not document this request`;
      this.#report([name], message, hint, { code: 'MB1501', severity: 'warning', meant });
    }
  }

  #checkField(name: string, field: Field, value: Json): void {
    if (value === unknownValue) return;
    const isFixed = name === this.#kind.model?.field || field.values !== undefined || field.type === 'file';
    if (isOpen(value) && (isFixed || dependsOnModel(this.#kind, name))) {
      const hint =
        this.#kind.free === true || field.priced === false
          ? 'the value must be known before anything runs: write it here, or use vars, row or matrix'
          : 'the value must be known before anything runs, because the price depends on it';
      this.#report([name], `\`${name}\` comes from another step`, hint);
      return;
    }
    switch (field.type) {
      case 'string':
        this.#checkText(name, field, value);
        break;
      case 'strings':
        this.#checkList(name, field, value);
        break;
      case 'file':
        if (typeof value !== 'string') this.#reportType(name, value, 'the path of a file', hintForText(value));
        break;
      case 'number':
        if (typeof value === 'number') return;
        this.#reportType(name, value, 'a number', 'write 5 or 0.5: without quotes, unit or decimal comma');
        break;
      case 'boolean':
        if (typeof value === 'boolean') return;
        this.#reportType(name, value, 'true or false', 'write true or false; in YAML 1.2, yes and no are strings');
        break;
      default:
        field.type satisfies never;
    }
  }

  #reportType(name: string, value: Json, wanted: string, hint: string): void {
    this.#report([name], `\`${name}\` is ${describeOpen(value)}, and must be ${wanted}`, hint);
  }

  #checkText(name: string, field: Field, value: Json): void {
    const text = isOpen(value) ? openText(value) : value;
    if (typeof text !== 'string') {
      this.#reportType(name, value, 'a string', hintForText(value));
      return;
    }
    const { maxLength = Number.POSITIVE_INFINITY, values } = field;
    if (values !== undefined && !values.includes(text)) {
      if (this.#isListed(name, text)) this.#warnOfNew(name, text);
      else this.#refuseValue(name, text, values, { about: field.about, isSandbox: field.about && this.#isSandbox });
      return;
    }
    const length = text.length > maxLength ? [...text].length : 0;
    if (length > maxLength) {
      const message = `\`${name}\` has ${length} characters; at most ${maxLength} are allowed`;
      this.#report([name], message, `shorten it by ${length - maxLength}`, { code: 'MB1504' });
    }
    if (text === value) this.#checkUrl(field, text, [name]);
  }

  #checkList(name: string, field: Field, value: Json): void {
    if (!Array.isArray(value)) {
      const isOne = isOpen(value) || typeof value === 'string';
      this.#reportType(name, value, 'a list', isOne ? 'write a list: put the value in [ ]' : 'write a list of strings');
      return;
    }
    for (const [index, item] of value.entries()) {
      const at = [name, index];
      if (item === unknownValue || isOpen(item)) continue;
      if (typeof item !== 'string') {
        const message = `entry ${index + 1} of \`${name}\` is ${describeValue(item)}, and must be a string`;
        const hint = 'the template gives a list in a list: write the template without [ ]';
        this.#report(at, message, Array.isArray(item) ? hint : hintForText(item));
      } else if (item.trim() === '') {
        const hint = 'remove the entry, or write a public https URL';
        this.#report(at, `entry ${index + 1} of \`${name}\` is empty`, hint, { code: 'MB1505' });
      } else {
        this.#checkUrl(field, item, at);
      }
    }
  }

  #checkUrl(field: Field, text: string, at: RequestFault['at']): void {
    const why = field.url === true && text !== '' ? whyNotPublic(text) : undefined;
    if (why === undefined) return;
    const hint = /\s|[,;]https?:/.test(text.trim())
      ? 'write one URL per entry; {{split row.refs}} splits a cell into a list'
      : 'the service fetches the URL: use a public https URL without credentials, or the output of another task';
    this.#report(at, `\`${shorten(text)}\` ${why}`, hint, { code: 'MB1505' });
  }

  #checkModel(name: string): void {
    if (this.#model === undefined) {
      if (this.#isListed(this.#modelField, name)) {
        this.#warnOfNew(this.#modelField, name);
        this.#checkNewModel(name);
      } else {
        const values = Object.keys(this.#kind.model?.models ?? {});
        this.#refuseValue(this.#modelField, name, values, { isSandbox: this.#isSandbox });
      }
      return;
    }
    const { allows = {}, tiers } = this.#model;
    for (const [field, values] of Object.entries(allows)) {
      const value = this.#request[field];
      if (typeof value !== 'string' || values.includes(value)) continue;
      if (this.#isListed(field, value)) {
        if (!tiers?.includes(value)) this.#warnOfNew(field, value, name);
      } else if (values.length === 0) {
        const way =
          tiers === undefined
            ? ', or use another model'
            : `: the service then uses its default tier (${listTiers(tiers)})`;
        this.#report([field], `the model ${name} does not support \`${field}\``, `remove \`${field}\`${way}`);
      } else {
        this.#refuseValue(field, value, values, { model: name });
      }
    }
  }

  #checkNewModel(name: string): void {
    for (const [field, value] of Object.entries(this.#request)) {
      if (typeof value !== 'string' || !dependsOnModel(this.#kind, field) || this.#isListed(field, value)) continue;
      const message = `the service does not list "${shorten(value)}" as a \`${field}\` of the model ${name}`;
      const hint = `remove \`${field}\`: the service might silently use its default instead, and charge for the default`;
      this.#report([field], message, hint);
    }
  }

  #checkTier(field: string, value: Json): void {
    const tiers = this.#model?.tiers;
    if (value === unknownValue) return;
    if (this.#model !== undefined && tiers === undefined) {
      const { models = {} } = this.#kind.model ?? {};
      const withTiers = Object.entries(models).flatMap(([name, one]) => (one.tiers ? [name] : []));
      const hint = `remove the field; only ${listNames(withTiers)} have tiers`;
      this.#report([field], `the model ${this.#modelName} has no \`${field}\``, hint);
    } else if (tiers !== undefined && (typeof value !== 'string' || !tiers.includes(value))) {
      const seen = typeof value === 'string' ? `"${value}"` : describeValue(value);
      const message = `\`${field}\` is ${seen}, which is not a tier of the model ${this.#modelName}`;
      this.#report([field], message, `allowed: ${listTiers(tiers)}`);
    } else if (!this.#listed.some((listed) => listed.fields?.includes(field))) {
      const isListed = this.#listed.length > 0;
      const message = isListed
        ? `the service's OpenAPI document has no field \`${field}\``
        : `mediabatch does not know whether the service accepts the field \`${field}\``;
      const remove = `remove \`${field}\`: the service then uses its default tier`;
      this.#report([field], message, isListed ? remove : `${remove}; or ${refreshLearns}`);
    }
  }

  #refuseValue(
    field: string,
    value: string,
    values: readonly string[],
    { model, about, isSandbox = false }: { model?: string; about?: Field['about']; isSandbox?: boolean | undefined },
  ): void {
    const listed = values.map((one) => (about?.[one] === undefined ? one : `${one} (${about[one]})`));
    const owner = model === undefined ? '' : ` of the model ${model}`;
    let message = `"${shorten(value)}" is not an allowed \`${field}\`${owner}`;
    if (value === '') message = `\`${field}\` is empty`;
    else if (isSandbox) message = `the sandbox does not know the \`${field}\` "${shorten(value)}"`;
    const nearest = nearestName(value, values);
    const hints = [
      `${nearest === undefined ? '' : `did you mean \`${nearest}\`? `}Allowed: ${listed.join(', ')}`,
      ...(field === 'resolution' && model !== undefined
        ? ['the service would silently use its default instead, and charge for the default']
        : []),
      ...(nearest === undefined || isSandbox ? [refreshLearns] : []),
      ...(hasCurlyQuotes(value) ? [curlyHint] : []),
    ];
    const severity = isSandbox && value !== '' ? ('warning' as const) : undefined;
    this.#report([field], message, hints.join('; '), { severity });
  }

  #warnOfNew(field: string, value: string, model?: string): void {
    const what = field === this.#modelField ? `model of kind ${this.#kind.name}` : `\`${field}\``;
    const owner = model === undefined ? '' : ` of the model ${model}`;
    const message = `"${shorten(value)}" is a ${what}${owner} that is new at the service`;
    const hint = 'this version does not know the value; the request is checked with the lists of the service';
    this.#report([field], message, hint, { code: 'MB1507', severity: 'warning' });
  }

  /**
   * Returns whether the service lists a value for a field. If the values depend on the model, checks only the model's
   * list, because the service silently replaces an unlisted value by its default.
   */
  #isListed(field: string, value: string): boolean {
    return this.#listed.some(({ models, values }) => {
      if (field === this.#kind.model?.field && Object.hasOwn(models, value)) return true;
      const ofModel = this.#modelName === undefined ? undefined : own(models, this.#modelName);
      if (field !== this.#kind.model?.field && ofModel?.allows[field]?.includes(value) === true) return true;
      return !dependsOnModel(this.#kind, field) && values[field]?.includes(value) === true;
    });
  }

  #report(at: RequestFault['at'], message: string, hint: string, more: Partial<RequestFault> = {}): void {
    this.#faults.push({ code: 'MB1503', message, hint, at, ...more });
  }
}

function own<Value>(map: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}

function isBlank(value: Json | undefined): boolean {
  return value === undefined || (typeof value === 'string' && value.trim() === '');
}

function dependsOnModel(kind: Kind, field: string): boolean {
  return Object.values(kind.model?.models ?? {}).some((model) => model.allows?.[field] !== undefined);
}

function listTiers(tiers: readonly string[]): string {
  return tiers.join(' or ');
}

function hintForText(value: Json): string {
  if (value === null) return 'write a string, or remove the field';
  if (Array.isArray(value)) return 'write one string; {{join … ", "}} joins a list into a string';
  return isMap(value) ? 'write one string' : 'put the value in quotes, here or in the data';
}

export function isOpen(value: Json | undefined): value is JsonMap {
  return isMap(value) && (Object.hasOwn(value, '$ref') || Object.hasOwn(value, '$text'));
}

function openText(value: JsonMap): string {
  return Array.isArray(value.$text) ? value.$text.filter((part) => typeof part === 'string').join('') : '';
}

export function describeOpen(value: Json | undefined): string {
  return isOpen(value) ? 'the output of one step' : describeValue(value);
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/**
 * Explains why the service cannot fetch a URL. Returns `undefined` if the URL seems public. Does not resolve host
 * names.
 */
function whyNotPublic(text: string): string | undefined {
  if (/[,;|\s]\s*[a-z]+:\/\//i.test(text.trim())) return 'holds several URLs';
  if (/\s/.test(text.trim())) return 'has white space in it';
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return 'is not a URL';
  }
  if (url.protocol !== 'https:') return `starts with ${url.protocol}${url.protocol === 'http:' ? '//' : ''}`;
  if (url.username !== '' || url.password !== '') return 'has a user name or a password in it';
  const host = url.hostname.replace(/\.$/, '').toLowerCase();
  const address = host.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0) return isInward(address) ? 'names a private address' : undefined;
  if (
    !host.includes('.') ||
    /\.(localhost|local|internal|intranet|lan|home|corp|test|invalid|home\.arpa)$/.test(host)
  ) {
    return 'names a host of a private network';
  }
  return undefined;
}

/** Finds strings that are longer than the task allows. Limits are in Unicode code points. */
export function checkTextLimits(request: JsonMap, limits: Readonly<Record<string, number>>): RequestFault[] {
  return Object.entries(limits).flatMap(([field, most]) => {
    const value = ownValue(request, field);
    const isList = Array.isArray(value);
    return (isList ? value : [value]).flatMap((text, index): RequestFault[] => {
      const length = lengthOf(text);
      if (length <= most) return [];
      const message = `\`${field}\` has ${length} characters; \`limits\` allows ${most}`;
      return [
        { code: 'MB1504', message, hint: `shorten it by ${length - most}`, at: isList ? [field, index] : [field] },
      ];
    });
  });
}

function lengthOf(value: Json | undefined): number {
  if (typeof value === 'string') return [...value].length;
  const parts = value !== undefined && isReference(value) ? ownValue(value, '$text') : undefined;
  return Array.isArray(parts) ? parts.reduce((sum: number, part) => sum + lengthOf(part), 0) : 0;
}
