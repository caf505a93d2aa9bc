import type { Json } from '../../ground/json.ts';
import { describeValue, isMap, shorten, valueAt } from '../../ground/values.ts';
import type { SchemaProblem } from '../../manifest/check/json-schema.ts';
import { listNames, nearestName } from '../../manifest/suggest.ts';
import type { RequestFault } from './request-fault.ts';

/** A problem, and for a value that fits none of several forms, the demands of each form. */
export interface GatheredProblem extends SchemaProblem {
  forms?: GatheredProblem[];
}

interface About {
  /** The request, with open values unfilled. */
  value: Json;
  /** The path of its create. */
  path: string;
  /** Fields that the service names. */
  fields: readonly string[];
}

const mostForms = 6;

/** Describes a violation of the service's own description by a request. */
export function describeSchemaProblem(problem: GatheredProblem, about: About): RequestFault {
  const { message, guess, at } = sayWhat(problem, about);
  const words = problem.about === undefined ? '' : `: “${problem.about}”`;
  const source = `this rule comes from the service's OpenAPI document, POST ${about.path}${words}`;
  return { code: 'MB1506', message, hint: guess === undefined ? source : `${guess}; ${source}`, at };
}

/** Lists the fields of a request that a schema names, in each of its forms. */
export function fieldNames(schema: Json, depth = 0): string[] {
  if (!isMap(schema) || depth > 4) return [];
  const own = isMap(schema.properties) ? Object.keys(schema.properties) : [];
  const forms = [schema.allOf, schema.anyOf, schema.oneOf].flatMap((list) => (Array.isArray(list) ? list : []));
  return [...new Set([...own, ...forms.flatMap((form) => fieldNames(form, depth + 1))])];
}

function sayWhat(problem: GatheredProblem, about: About): { message: string; guess?: string; at: (string | number)[] } {
  const { path, params, rule } = problem;
  const name = path.length === 0 ? 'the request' : `\`${shorten(path.join('.'))}\``;
  const seen = valueAt(about.value, path);
  switch (rule) {
    case 'required':
    case 'dependentRequired': {
      const missing = String(params.missingProperty);
      const within = path.length === 0 ? '' : ` in ${name}`;
      const meant = nearestName(missing, unknownKeys(seen, path.length === 0 ? about.fields : []));
      const guess = meant === undefined ? 'add it' : `add it, or write \`${missing}\` where \`${meant}\` stands`;
      return { message: `\`${shorten(missing)}\` is missing${within}`, guess, at: [...path, missing] };
    }
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const unknown = String(params.additionalProperty ?? params.unevaluatedProperty);
      const known = path.length === 0 ? about.fields : [];
      const nearest = nearestName(unknown, known);
      const message = `\`${shorten(unknown)}\` is not a field of ${path.length === 0 ? `POST ${about.path}` : name}`;
      const fields = known.length === 0 ? 'remove it' : `fields: ${listNames(known)}`;
      return {
        message,
        guess: nearest === undefined ? fields : `did you mean \`${nearest}\`? ${fields}`,
        at: [...path, unknown],
      };
    }
    case 'enum':
    case 'const': {
      const allowed = (Array.isArray(params.allowedValues) ? params.allowedValues : [params.allowedValue]).map(asText);
      const nearest = typeof seen === 'string' ? nearestName(seen, allowed) : undefined;
      const list = `allowed: ${listNames(allowed.map((text) => shorten(text)))}`;
      return {
        message: `${name} is ${describeSeen(seen)}, which the service does not allow`,
        guess: nearest === undefined ? list : `did you mean \`${nearest}\`? ${list}`,
        at: path,
      };
    }
    case 'anyOf':
    case 'oneOf': {
      if (problem.forms === undefined) {
        return { message: `${name} fits several forms of which the service allows one at a time`, at: path };
      }
      const forms = [...new Set(problem.forms.map((form) => sayWhat(form, about).message))];
      const more = forms.length > mostForms ? ` and ${forms.length - mostForms} more` : '';
      if (forms.length === 1 && forms[0] !== undefined) return { message: forms[0], at: path };
      return {
        message: `${name} fits none of the forms that the service allows`,
        guess: `one of these stands in the way of each form: ${forms.slice(0, mostForms).join('; ')}${more}`,
        at: path,
      };
    }
    case 'not':
      return { message: `${name} has a form that the service does not allow`, at: path };
    default:
      return { message: `${name} is ${describeSeen(seen)}; the service allows ${allowance(problem)}`, at: path };
  }
}

function unknownKeys(value: Json | undefined, known: readonly string[]): string[] {
  return isMap(value) ? Object.keys(value).filter((key) => !known.includes(key)) : [];
}

/** States what is allowed, in words that follow `the service allows`. */
function allowance({ rule, params, message }: SchemaProblem): string {
  const limit = String(params.limit);
  switch (rule) {
    case 'maximum':
      return `at most ${limit}`;
    case 'minimum':
      return `at least ${limit}`;
    case 'exclusiveMaximum':
      return `less than ${limit}`;
    case 'exclusiveMinimum':
      return `more than ${limit}`;
    case 'multipleOf':
      return `multiples of ${String(params.multipleOf)}`;
    case 'maxLength':
      return `at most ${limit} characters`;
    case 'minLength':
      return limit === '1' ? 'no empty text' : `at least ${limit} characters`;
    case 'maxItems':
      return `at most ${limit} entries`;
    case 'minItems':
      return `at least ${limit} ${limit === '1' ? 'entry' : 'entries'}`;
    case 'maxProperties':
      return `at most ${limit} fields`;
    case 'minProperties':
      return `at least ${limit} ${limit === '1' ? 'field' : 'fields'}`;
    case 'uniqueItems':
      return 'no entry twice';
    case 'type':
      return typeNames(params.type);
    case 'format':
      return `texts of the form ${String(params.format)}`;
    case 'pattern':
      return `texts that match ${shorten(String(params.pattern))}`;
    case 'false schema':
      return 'nothing there';
    default:
      return `only what ${message}`;
  }
}

function typeNames(type: unknown): string {
  const words: Readonly<Record<string, string>> = {
    string: 'a text',
    number: 'a number',
    integer: 'a whole number',
    boolean: 'true or false',
    array: 'a list',
    object: 'a map',
    null: 'null',
  };
  return (Array.isArray(type) ? type : [type]).map((one) => words[String(one)] ?? String(one)).join(' or ');
}

function describeSeen(value: Json | undefined): string {
  if (isMap(value) && (Object.hasOwn(value, '$ref') || Object.hasOwn(value, '$text'))) return 'the output of a step';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string' && value.length > 60) return `a text of ${[...value].length} characters`;
  return describeValue(value);
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
