import type { Json } from '../json.ts';
import type { ServiceDocument } from '../kinds/service-document.ts';
import type { CompiledSchema, SchemaCompiler, SchemaProblem } from '../manifest/json-schema.ts';
import { nearestName } from '../manifest/suggest.ts';
import { describeValue, isMap, shorten, unknownValue } from '../manifest/values.ts';
import type { RequestFault } from './check-request.ts';

/** Judges a request that is documented nowhere but in the service's own description. */
export type RequestChecker = (kind: string, request: Json) => RequestFault[] | 'unchecked';

/** What stands for an output of another step: it will be a public link. */
const placeholder = 'https://example.com/output';

/** A checker by the service's document. Kinds that it does not describe stay unchecked. */
export function makeRequestChecker(document: ServiceDocument, compile: SchemaCompiler): RequestChecker {
  const compiled = new Map<string, CompiledSchema | undefined>();
  const schemaOf = (kind: string): CompiledSchema | undefined => {
    if (!compiled.has(kind)) {
      const schema = Object.hasOwn(document.creates, kind) ? document.creates[kind]?.schema : undefined;
      const result = schema === undefined ? undefined : compile(schema);
      compiled.set(kind, result === undefined || 'problem' in result ? undefined : result);
    }
    return compiled.get(kind);
  };
  return (kind, request) => {
    const schema = schemaOf(kind);
    if (schema === undefined) return 'unchecked';
    const path = document.creates[kind]?.path ?? '';
    const filled = fillIn(request);
    const unknown = new Set(isMap(request) ? Object.keys(request).filter((key) => hasUnknown(request[key])) : []);
    return schema
      .validate(filled)
      .filter((problem) => !unknown.has(String(problem.path[0] ?? problem.params.missingProperty)))
      .filter(isTold)
      .map((problem) => describeProblem(problem, { value: filled, path }));
  };
}

/** Rules whose parts are told one by one say nothing more. */
function isTold({ rule }: SchemaProblem): boolean {
  return !['anyOf', 'oneOf', 'if', 'allOf', 'not'].includes(rule);
}

function fillIn(value: Json): Json {
  if (value === unknownValue || value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(fillIn);
  if (Object.hasOwn(value, '$ref')) return placeholder;
  if (Array.isArray(value.$text))
    return value.$text.map((part) => (typeof part === 'string' ? part : placeholder)).join('');
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillIn(item)]));
}

/** Something in it was wrong and has been told. */
function hasUnknown(value: Json | undefined): boolean {
  if (value === unknownValue) return true;
  if (value === null || typeof value !== 'object') return false;
  return Object.values(value).some(hasUnknown);
}

function describeProblem(problem: SchemaProblem, { value, path }: { value: Json; path: string }): RequestFault {
  const { params, rule } = problem;
  const source = `the service's own description of POST ${path} says so${problem.about === undefined ? '' : `: “${problem.about}”`}`;
  if (rule === 'required') {
    const name = String(params.missingProperty);
    return {
      code: 'MB1506',
      message: `\`${shorten(name)}\` is missing`,
      hint: `add it: ${source}`,
      at: [...problem.path, name],
    };
  }
  if (rule === 'additionalProperties' || rule === 'unevaluatedProperties') {
    const name = String(params.additionalProperty ?? params.unevaluatedProperty);
    const message = `\`${shorten(name)}\` is not a field of this request`;
    return { code: 'MB1506', message, hint: `remove it: ${source}`, at: [...problem.path, name] };
  }
  const name = problem.path.length === 0 ? 'the request' : `\`${problem.path.join('.')}\``;
  const seen = valueAt(value, problem.path);
  const shown = seen === undefined ? '' : ` is ${describeValue(seen)}`;
  if (rule === 'enum' && Array.isArray(params.allowedValues)) {
    const allowed = params.allowedValues.map(String);
    const nearest = typeof seen === 'string' ? nearestName(seen, allowed) : undefined;
    const guess = nearest === undefined ? '' : `did you mean \`${nearest}\`? `;
    const message = `${name}${shown}, which is not allowed`;
    return {
      code: 'MB1506',
      message,
      hint: `${guess}Allowed: ${allowed.slice(0, 30).join(', ')}; ${source}`,
      at: problem.path,
    };
  }
  return { code: 'MB1506', message: `${name}${shown}, and ${inWords(problem)}`, hint: source, at: problem.path };
}

function inWords({ rule, params, message }: SchemaProblem): string {
  switch (rule) {
    case 'maximum':
      return `must be at most ${String(params.limit)}`;
    case 'minimum':
      return `must be at least ${String(params.limit)}`;
    case 'maxLength':
      return `must have at most ${String(params.limit)} characters`;
    case 'minLength':
      return `must have at least ${String(params.limit)} characters`;
    case 'maxItems':
      return `must have at most ${String(params.limit)} entries`;
    case 'minItems':
      return `must have at least ${String(params.limit)} entries`;
    case 'type':
      return `must be ${String(params.type)}`;
    default:
      return message;
  }
}

function valueAt(root: Json, path: readonly (string | number)[]): Json | undefined {
  let value: Json | undefined = root;
  for (const part of path) {
    if (value === null || value === undefined || typeof value !== 'object') return undefined;
    value = Array.isArray(value) ? value[Number(part)] : Object.hasOwn(value, part) ? value[String(part)] : undefined;
  }
  return value;
}
