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

/** A mistake in a request. `at`: path within the request; for MB1502 it ends with the missing key. */
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
 * Checks a request against the documentation of its kind. Outputs of other steps, and `unknownValue`, are allowed
 * wherever a string is. A value that is not documented but listed by the service is allowed with a warning.
 */
export function checkRequest(
  kind: Kind,
  request: JsonMap,
  { listings = [], checker }: { listings?: readonly Listing[] | undefined; checker?: RequestChecker | undefined } = {},
): RequestFault[] {
  const faults: RequestFault[] = [];
  const model = modelIn(kind, request);
  // The service has other models and voices than the sandbox, so an unknown one is only a warning there.
  const isSandbox = listings.some((listing) => ownKind(listing, kind)?.isSandbox);
  const isNew = (field: string, value: string) => isListed({ kind, field, value, model: model?.name }, listings);
  for (const [name, value] of Object.entries(request)) {
    const field = Object.hasOwn(kind.fields, name) ? kind.fields[name] : undefined;
    const isListed = !kind.create.documented && checker?.lists?.(kind.name) === true;
    if (name === kind.model?.tierField) faults.push(...checkTier({ kind, model, value, listings }));
    else if (field === undefined) faults.push(...(isListed ? [] : unknownField(kind, name, request)));
    else faults.push(...checkField(kind, { name, field, value, isNew, isSandbox }));
  }
  if (model !== undefined) faults.push(...checkModel(kind, { ...model, isNew, isSandbox }, request));
  faults.push(...checkChoices(kind, request));
  const isMissing = (name: string) => isBlank(request[name]) && !meantFields(kind, request).has(name);
  for (const name in kind.fields) {
    const field = kind.fields[name];
    if (field?.required === true && isMissing(name))
      faults.push(missing(name, request, `every ${kind.name} request needs it: ${lowerFirst(field.description)}`));
  }
  const ofModel = (model?.model?.requires ?? []).filter((name) => kind.fields[name]?.required !== true);
  for (const name of ofModel) {
    if (!isMissing(name)) continue;
    const free = Object.entries(kind.model?.models ?? {}).filter(([, one]) => one.requires?.includes(name) !== true);
    const other = free.length === 0 ? '' : `; ${listNames(free.map(([key]) => key))} needs none`;
    faults.push(missing(name, request, `the model ${model?.name} needs it${other}`));
  }
  return faults;
}

function meantFields(kind: Kind, request: JsonMap): Set<string> {
  const known = Object.keys(kind.fields);
  const meant = new Set<string>();
  for (const name of Object.keys(request)) {
    const nearest = known.includes(name) ? undefined : nearestName(name, known);
    if (nearest !== undefined && !Object.hasOwn(request, nearest)) meant.add(nearest);
  }
  return meant;
}

function missing(name: string, request: JsonMap, why: string): RequestFault {
  const empty = Object.hasOwn(request, name);
  const message = empty ? `\`${name}\` is empty` : `\`${name}\` is missing`;
  return { code: 'MB1502', message, hint: `${empty ? 'write' : 'add'} \`${name}:\` – ${why}`, at: [name] };
}

/** Returns whether a value is blank, which counts as missing. Other wrong types are reported before. */
function isBlank(value: Json | undefined): boolean {
  return value === undefined || (typeof value === 'string' && value.trim() === '');
}

/** Reports groups without exactly one field, because several fields would contradict each other. */
function checkChoices(kind: Kind, request: JsonMap): RequestFault[] {
  return (kind.oneOf ?? []).flatMap((names): RequestFault[] => {
    const [first = '', ...others] = names;
    const given = names.filter((name) => !isBlank(request[name]));
    if (given.length === 1) return [];
    const choice = `\`${first}\` or \`${others.join('` or `')}\``;
    if (given.length === 0) {
      const hint = names.map((name) => `\`${name}:\` – ${lowerFirst(kind.fields[name]?.description ?? '')}`).join(' ');
      return [{ code: 'MB1502', message: `${choice} is missing`, hint: `add ${hint}`, at: [first] }];
    }
    const message = `${given.map((name) => `\`${name}\``).join(' and ')} cannot be combined`;
    return [{ code: 'MB1503', message, hint: `write only one of them: ${choice}`, at: [given[1] ?? first] }];
  });
}

function unknownField(kind: Kind, name: string, request: JsonMap): RequestFault[] {
  const known = Object.keys(kind.fields);
  if (!kind.create.documented) {
    const nearest = nearestName(name, known);
    if (nearest === undefined || Object.hasOwn(request, nearest)) return [];
    const message = `\`${shorten(name)}\` is not a known field of kind ${kind.name}`;
    const hint = `did you mean \`${nearest}\`? It is sent unchanged, because the service does not document this request`;
    return [{ code: 'MB1501', message, hint, at: [name], severity: 'warning', meant: nearest }];
  }
  const quotes = hasCurlyQuotes(name) ? `; ${curlyHint}` : '';
  const hint = `${suggestName(name, known, { what: 'fields' })}${quotes}`;
  const message = `\`${shorten(name)}\` is not a field of kind ${kind.name}`;
  const meant = nearestName(name, known);
  const isFree = meant !== undefined && !Object.hasOwn(request, meant);
  return [{ code: 'MB1501', message, hint, at: [name], meant: isFree ? meant : undefined }];
}

function checkField(
  kind: Kind,
  of: { name: string; field: Field; value: Json; isNew: (field: string, value: string) => boolean; isSandbox: boolean },
): RequestFault[] {
  const { name, field, value } = of;
  if (value === unknownValue) return [];
  const wrong = (message: string, hint: string): RequestFault[] => [{ code: 'MB1503', message, hint, at: [name] }];
  const isFixed = () =>
    name === kind.model?.field || field.values !== undefined || dependsOnModel(kind, name) || field.type === 'file';
  if (isOpen(value) && isFixed()) {
    return wrong(
      `\`${name}\` comes from another step`,
      kind.free === true || field.priced === false
        ? 'it must be known before anything runs: write it here, or take it from vars, row or matrix'
        : 'it must be known before anything runs, because the price depends on it',
    );
  }
  switch (field.type) {
    case 'string': {
      if (isOpen(value)) return checkLength(name, field, openText(value));
      if (typeof value !== 'string')
        return wrong(`\`${name}\` is ${describeValue(value)}, and must be a text`, hintForText(value));
      if (field.values !== undefined && !field.values.includes(value))
        return of.isNew(name, value)
          ? [tellNew({ kind, field: name, value })]
          : [
              notAllowed(name, value, {
                ...field,
                values: field.values,
                isSandbox: of.isSandbox && field.about !== undefined,
              }),
            ];
      return [...checkLength(name, field, value), ...checkUrl(field, value, [name])];
    }
    case 'file':
      if (typeof value === 'string') return [];
      return wrong(`\`${name}\` is ${describeOpen(value)}, and must be the path of a file`, hintForText(value));
    case 'strings':
      return checkList(name, field, value);
    case 'number':
      if (typeof value === 'number') return [];
      return wrong(
        `\`${name}\` is ${describeOpen(value)}, and must be a number`,
        'write it as 5 or 0.5: without quotes, unit or decimal comma',
      );
    case 'boolean':
      if (typeof value === 'boolean') return [];
      return wrong(
        `\`${name}\` is ${describeOpen(value)}, and must be true or false`,
        'write true or false; in YAML 1.2, yes and no are texts',
      );
    default:
      return field.type satisfies never;
  }
}

function checkList(name: string, field: Field, value: Json): RequestFault[] {
  if (!Array.isArray(value)) {
    const hint =
      isOpen(value) || typeof value === 'string' ? 'write it as a list: put it in [ ]' : 'write a list of texts';
    return [{ code: 'MB1503', message: `\`${name}\` is ${describeOpen(value)}, and must be a list`, hint, at: [name] }];
  }
  return value.flatMap((item, index): RequestFault[] => {
    const at = [name, index];
    if (item === unknownValue || isOpen(item)) return [];
    if (typeof item !== 'string') {
      const message = `entry ${index + 1} of \`${name}\` is ${describeValue(item)}, and must be a text`;
      const list = Array.isArray(item);
      const hint = list ? 'a list in a list: let the template stand alone, without [ ]' : hintForText(item);
      return [{ code: 'MB1503', message, hint, at }];
    }
    return checkUrl(field, item, at);
  });
}

function checkUrl(field: Field, text: string, at: (string | number)[]): RequestFault[] {
  const isEntry = at.length > 1;
  if (isEntry && text.trim() === '') {
    const message = `entry ${Number(at[1]) + 1} of \`${at[0]}\` is empty`;
    return [{ code: 'MB1505', message, hint: 'remove it, or write a public https URL', at }];
  }
  const why = field.url === true && text !== '' ? whyNotPublic(text) : undefined;
  if (why === undefined) return [];
  const message = `\`${shorten(text)}\` ${why}`;
  const hint = /\s|[,;]https?:/.test(text.trim())
    ? 'write one URL an entry; {{split row.refs}} makes a list of a cell'
    : 'the service fetches it: use a public https URL, without credentials, or the output of another task';
  return [{ code: 'MB1505', message, hint, at }];
}

function checkModel(
  kind: Kind,
  chosen: {
    name: string;
    model: Model | undefined;
    isNew: (field: string, value: string) => boolean;
    isSandbox: boolean;
  },
  request: JsonMap,
): RequestFault[] {
  const { name, model, isNew, isSandbox } = chosen;
  const at = [kind.model?.field ?? 'model'];
  if (model === undefined && isNew(at[0] ?? '', name)) {
    return [tellNew({ kind, field: at[0] ?? '', value: name }), ...unlistedFields(kind, chosen, request)];
  }
  if (model === undefined) {
    const values = Object.keys(kind.model?.models ?? {});
    return [notAllowed(at[0] ?? '', name, { values, isSandbox })];
  }
  return Object.entries(model.allows ?? {}).flatMap(([field, values]): RequestFault[] => {
    const value = request[field];
    if (typeof value !== 'string' || values.includes(value)) return [];
    if (isNew(field, value)) return model.tiers?.includes(value) ? [] : [tellNew({ kind, field, value, model: name })];
    if (values.length === 0) {
      const message = `the model ${name} takes no \`${field}\``;
      const way =
        model.tiers === undefined
          ? ', or use another model'
          : `: the service then uses its default tier (${listTiers(model.tiers)})`;
      return [{ code: 'MB1503', message, hint: `remove \`${field}\`${way}`, at: [field] }];
    }
    return [notAllowed(field, value, { values, model: name })];
  });
}

/** Finds values that the service does not list for a new model. For such a model only listed values are allowed. */
function unlistedFields(
  kind: Kind,
  { name, isNew }: { name: string; isNew: (field: string, value: string) => boolean },
  request: JsonMap,
): RequestFault[] {
  return Object.entries(request).flatMap(([field, value]): RequestFault[] => {
    if (typeof value !== 'string' || !dependsOnModel(kind, field) || isNew(field, value)) return [];
    const message = `the service does not list "${shorten(value)}" as a \`${field}\` of the model ${name}`;
    const hint = `remove \`${field}\`: the service might silently take its default instead, and charge for that`;
    return [{ code: 'MB1503', message, hint, at: [field] }];
  });
}

function notAllowed(
  field: string,
  value: string,
  of: {
    values: readonly string[];
    model?: string;
    about?: Field['about'];
    isSandbox?: boolean;
  },
): RequestFault {
  const { values, model, about, isSandbox = false } = of;
  const listed = values.map((one) => (about?.[one] === undefined ? one : `${one} (${about[one]})`));
  const owner = model === undefined ? '' : ` of the model ${model}`;
  let message = `"${shorten(value)}" is not an allowed \`${field}\`${owner}`;
  if (value === '') message = `\`${field}\` is empty`;
  else if (isSandbox) message = `the sandbox does not know the \`${field}\` "${shorten(value)}"`;
  const nearest = nearestName(value, values);
  const hints = [
    `${nearest === undefined ? '' : `did you mean \`${nearest}\`? `}Allowed: ${listed.join(', ')}`,
    ...(field === 'resolution' && model !== undefined
      ? ['the service would silently take its default instead, and charge for that']
      : []),
    ...(nearest === undefined || isSandbox ? [refreshLearns] : []),
    ...(hasCurlyQuotes(value) ? [curlyHint] : []),
  ];
  const severity = isSandbox && value !== '' ? ('warning' as const) : undefined;
  return { code: 'MB1503', severity, message, hint: hints.join('; '), at: [field] };
}

function modelIn(kind: Kind, request: JsonMap): { name: string; model: Model | undefined } | undefined {
  if (kind.model === undefined) return undefined;
  const value = Object.hasOwn(request, kind.model.field) ? request[kind.model.field] : kind.model.default;
  return typeof value === 'string' ? { name: value, model: modelOf(kind, value) } : undefined;
}

function checkLength(name: string, field: Field, text: string): RequestFault[] {
  const { maxLength } = field;
  if (maxLength === undefined || text.length <= maxLength) return [];
  const length = [...text].length;
  if (length <= maxLength) return [];
  const message = `\`${name}\` has ${length} characters; at most ${maxLength} are allowed`;
  return [{ code: 'MB1504', message, hint: `shorten it by ${length - maxLength}`, at: [name] }];
}

function hintForText(value: Json): string {
  if (value === null) return 'write a text, or remove the field';
  if (Array.isArray(value)) return 'write one text; {{join … ", "}} makes one of a list';
  return isMap(value) ? 'write one text' : 'put it in quotes, here or in the data';
}

/** Returns whether a value is the output of another step, or a text with one. */
export function isOpen(value: Json | undefined): value is JsonMap {
  return isMap(value) && (Object.hasOwn(value, '$ref') || Object.hasOwn(value, '$text'));
}

/** Returns the known part of a string with references, to check its length. */
function openText(value: JsonMap): string {
  return Array.isArray(value.$text) ? value.$text.filter((part) => typeof part === 'string').join('') : '';
}

export function describeOpen(value: Json | undefined): string {
  return isOpen(value) ? 'the output of one step' : describeValue(value);
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** Explains why the service cannot fetch a URL; `undefined` when the URL seems public. No host name is resolved. */
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

/** Checks a quality tier. Its values are documented, but its field is only named in the service's own description. */
function checkTier(of: {
  kind: Kind;
  model: { name: string; model: Model | undefined } | undefined;
  value: Json;
  listings: readonly Listing[];
}): RequestFault[] {
  const { kind, model, value, listings } = of;
  const field = kind.model?.tierField ?? '';
  const tiers = model?.model?.tiers;
  if (value === unknownValue) return [];
  if (model?.model !== undefined && tiers === undefined) {
    const withTiers = Object.entries(kind.model?.models ?? {}).flatMap(([name, one]) => (one.tiers ? [name] : []));
    const message = `the model ${model.name} has no \`${field}\``;
    return [{ code: 'MB1503', message, hint: `remove it; only ${listNames(withTiers)} have tiers`, at: [field] }];
  }
  if (tiers !== undefined && (typeof value !== 'string' || !tiers.includes(value))) {
    const seen = typeof value === 'string' ? `"${value}"` : describeValue(value);
    const message = `\`${field}\` is ${seen}, which is not a tier of the model ${model?.name}`;
    return [{ code: 'MB1503', message, hint: `allowed: ${listTiers(tiers)}`, at: [field] }];
  }
  if (listings.some((listing) => ownKind(listing, kind)?.fields?.includes(field))) return [];
  const isListed = listings.length > 0;
  const message = isListed
    ? `the service's own document has no field \`${field}\``
    : `it is not known here whether the service takes tiers in \`${field}\``;
  const remove = `remove \`${field}\`: the service then uses its default tier`;
  const hint = isListed ? remove : `${remove}; or ${refreshLearns}`;
  return [{ code: 'MB1503', message, hint, at: [field] }];
}

function ownKind(listing: Listing, { name }: Kind): ListedKind | undefined {
  return Object.hasOwn(listing, name) ? listing[name] : undefined;
}

function listTiers(tiers: readonly string[]): string {
  return tiers.join(' or ');
}

/** Finds strings of a request that are longer than the task allows. Limits are by field, in Unicode code points. */
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

/** Counts characters without references, because the length of another step's output is not known yet. */
function lengthOf(value: Json | undefined): number {
  if (typeof value === 'string') return [...value].length;
  const parts = value !== undefined && isReference(value) ? ownValue(value, '$text') : undefined;
  return Array.isArray(parts) ? parts.reduce((sum: number, part) => sum + lengthOf(part), 0) : 0;
}

interface NewName {
  kind: Kind;
  field: string;
  value: string;
  model?: string | undefined;
}

/**
 * Returns whether the service itself lists a value for this field and, if values depend on the model, for this model. A
 * value listed elsewhere does not count, because the service would silently replace it by its default.
 */
function isListed({ kind, field, value, model }: NewName, listings: readonly Listing[]): boolean {
  return listings.some((listing) => {
    const listed = Object.hasOwn(listing, kind.name) ? listing[kind.name] : undefined;
    if (listed === undefined) return false;
    const { models, values } = listed;
    if (field === kind.model?.field) return Object.hasOwn(models, value) || values[field]?.includes(value) === true;
    const ofModel = model !== undefined && Object.hasOwn(models, model) ? models[model] : undefined;
    if (ofModel?.allows[field]?.includes(value) === true) return true;
    return !dependsOnModel(kind, field) && values[field]?.includes(value) === true;
  });
}

function dependsOnModel(kind: Kind, field: string): boolean {
  return Object.values(kind.model?.models ?? {}).some((model) => model.allows?.[field] !== undefined);
}

function tellNew({ kind, field, value, model }: NewName): RequestFault {
  const what = field === kind.model?.field ? `model of kind ${kind.name}` : `\`${field}\``;
  const owner = model === undefined || field === kind.model?.field ? '' : ` of the model ${model}`;
  return {
    code: 'MB1507',
    severity: 'warning',
    message: `"${shorten(value)}" is a ${what}${owner} that is new at the service`,
    hint: 'this version does not know it; the request is checked by what the service lists',
    at: [field],
  };
}
