import type { Json } from '../ground/json.ts';
import {
  defined,
  isMap,
  isScalar,
  type JsonMap,
  mapOf,
  ownValue,
  type Path,
  type Scalar,
  unknownValue,
} from '../ground/values.ts';
import { kinds } from '../kinds/index.ts';
import { isWholeList } from './check/text-rules.ts';
import { knownKeys } from './check/validate.generated.ts';
import type { CanaryRule, Expectation, GateRule, Matrix, Range, Task } from './manifest.ts';
import { readRowSource } from './rows/read-row-source.ts';
import { nearestName } from './suggest.ts';
import { isTemplate } from './template/template.ts';

export function readTask(
  id: string,
  written: Json,
  from: { folder: string; defaultsOf: (kind: string) => JsonMap },
): Task {
  const text = (name: string) => textOf(ownValue(written, name));
  const kind = text('kind');
  const known = kind !== undefined && kinds[kind] !== undefined ? kind : undefined;
  const key = text('key');
  const writtenTakes = ownValue(written, 'takes');
  // Even if the number of takes is wrong, `{{take}}` is not reported as an unknown name.
  const takes = isTakes(writtenTakes) ? writtenTakes : writtenTakes === undefined ? undefined : 1;
  return {
    id,
    kind: known,
    with: readRequest(id, {
      own: ownValue(written, 'with'),
      defaults: known === undefined ? undefined : from.defaultsOf(known),
      kind: known,
    }),
    rows: readRowSource(ownValue(written, 'foreach'), ownValue(written, 'maxItems')),
    schema: text('schema'),
    folder: from.folder,
    when: readWhen(ownValue(written, 'when')),
    rowsWhen: readWhen(ownValue(written, 'rowsWhen')),
    timeoutMs: readTimeout(ownValue(written, 'timeout')),
    retry: readRetry(ownValue(written, 'retry')),
    expect: readExpectation(ownValue(written, 'expect')),
    limits: readTextLimits(ownValue(written, 'limits')),
    key,
    keyBroken: key === undefined && isKeyBroken(written) ? true : undefined,
    matrix: readMatrix(ownValue(written, 'matrix')),
    takes,
    gate: readGate(ownValue(written, 'gate'), takes ?? 1),
    canary: readCanary(ownValue(written, 'canary')),
    pin: ownValue(written, 'pin') === true ? true : undefined,
    needs: textsOf(ownValue(written, 'needs')),
    from: readFrom(ownValue(written, 'from')),
    save: text('save'),
    tags: textsOf(ownValue(written, 'tags')),
    description: text('description'),
    rights: readCell(ownValue(written, 'rights') ?? null),
  };
}

function isTakes(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 20;
}

function isKeyBroken(task: Json): boolean {
  if (ownValue(task, 'key') !== undefined) return true;
  const known = knownKeys['#/properties/tasks/additionalProperties'] ?? [];
  return Object.keys(mapOf(task)).some((name) => !known.includes(name) && nearestName(name, known) === 'key');
}

function readRequest(
  id: string,
  from: { own: Json | undefined; defaults: JsonMap | undefined; kind: string | undefined },
): Task['with'] {
  const own = mapOf(from.own);
  const fields: { field: string; value: Json; path: Path }[] = [];
  for (const [field, value] of Object.entries(from.defaults ?? {})) {
    if (!Object.hasOwn(own, field)) fields.push({ field, value, path: ['defaults', from.kind ?? '', field] });
  }
  for (const [field, value] of Object.entries(own)) fields.push({ field, value, path: ['tasks', id, 'with', field] });
  return fields;
}

function readMatrix(value: Json | undefined): Matrix | undefined {
  if (value === undefined) return undefined;
  const matrix: Matrix = {
    axes: [],
    include: [],
    exclude: [],
    broken: !isMap(value) || Object.keys(value).length === 0,
  };
  for (const [name, item] of Object.entries(mapOf(value))) {
    if (name === 'include' || name === 'exclude') {
      const cells = Array.isArray(item) ? item.map(readCell) : [undefined];
      for (const cell of cells) {
        if (cell === undefined) matrix.broken = true;
        else matrix[name].push(cell);
      }
    } else if (typeof item === 'string' && isWholeList(item)) {
      matrix.axes.push({ name, values: { text: item } });
    } else if (Array.isArray(item) && item.every(isAxisValue)) {
      matrix.axes.push({ name, values: item });
    } else {
      matrix.broken = true;
    }
  }
  return matrix;
}

function isAxisValue(value: Json): value is Scalar | JsonMap {
  return isScalar(value) || isScalar(ownValue(value, 'id'));
}

function readCell(value: Json): { [axis: string]: Scalar } | undefined {
  if (!isMap(value) || value === unknownValue) return undefined;
  const cell = Object.create(null) as { [axis: string]: Scalar };
  for (const [axis, item] of Object.entries(value)) {
    if (!isScalar(item)) return undefined;
    cell[axis] = item;
  }
  return cell;
}

function readFrom(value: Json | undefined): Task['from'] {
  return Object.entries(mapOf(value)).map(([task, picks]) => ({
    task,
    picks: Object.entries(mapOf(picks)).flatMap(([name, item]) =>
      isScalar(item) || (Array.isArray(item) && item.every(isScalar)) ? [{ name, value: item }] : [],
    ),
  }));
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function textsOf(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function readGate(value: Json | undefined, takes: number): GateRule | undefined {
  if (value === 'approve') return { is: 'approve' };
  if (!isMap(value)) return undefined;
  const { choose: written, among, note, title } = value;
  const reasons = textsOf(ownValue(value, 'reasons'));
  const noted = {
    ...(typeof title === 'string' && { title }),
    ...(typeof note === 'string' && { note }),
    ...(reasons.length > 0 && { reasons }),
  };
  if (ownValue(value, 'approve') === true) return { is: 'approve', ...noted };
  const choose = typeof written === 'number' && Number.isInteger(written) && written > 0 ? written : 1;
  const of = amongOf(typeof among === 'string' ? among : takes > 1 ? 'takes' : undefined);
  return of === undefined ? undefined : { is: 'choose', choose, among: of, ...noted };
}

function amongOf(among: string | undefined): Extract<GateRule, { is: 'choose' }>['among'] | undefined {
  if (among === undefined) return undefined;
  return among === 'takes' || among === 'all' ? { by: among } : { by: 'axis', axis: among };
}

function readCanary(value: Json | undefined): CanaryRule | undefined {
  const written = typeof value === 'number' ? { first: value } : value;
  if (!isMap(written)) return undefined;
  const first = ownValue(written, 'first') ?? 1;
  const then = ownValue(written, 'then') ?? 'check';
  if (typeof first !== 'number' || !Number.isInteger(first) || first < 1) return undefined;
  return then === 'check' || then === 'ask' ? { first, asks: then === 'ask' } : undefined;
}

/** Tolerance of an exact duration such as `duration: 8`, because encoders cut only at whole frames. */
const durationToleranceSeconds = 0.5;

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

export function readWhen(value: Json | undefined): string | boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string') return undefined;
  return isTemplate(value) || value === 'true' || value === 'false' ? value : undefined;
}

function readTimeout(value: Json | undefined): number | undefined {
  const match = typeof value === 'string' ? /^([0-9]{1,6}(?:\.[0-9]{1,3})?)([smh])$/.exec(value) : null;
  const timeoutMs = Math.round(Number(match?.[1]) * (unitMs[match?.[2] ?? ''] ?? 0));
  return timeoutMs > 0 ? timeoutMs : undefined;
}

function readRetry(value: Json | undefined): Task['retry'] {
  const attempts = ownValue(value, 'attempts');
  const credits = ownValue(value, 'credits');
  if (!isWhole(attempts) || attempts < 2 || attempts > 5) return undefined;
  return isWhole(credits) ? { attempts, credits } : { attempts };
}

function readTextLimits(value: Json | undefined): Task['limits'] {
  if (!isMap(value)) return undefined;
  return Object.fromEntries(Object.entries(value).flatMap(([field, most]) => (isWhole(most) ? [[field, most]] : [])));
}

function readExpectation(value: Json | undefined): Expectation | undefined {
  if (!isMap(value)) return undefined;
  const range = (name: string, tolerance?: number) => readRange(ownValue(value, name), tolerance);
  const expectation: Expectation = {
    ...defined({
      width: range('width'),
      height: range('height'),
      ratio: textOf(ownValue(value, 'ratio')),
      durationSeconds: range('duration', durationToleranceSeconds),
      bytes: range('bytes'),
      type: textOf(ownValue(value, 'type')),
      lufs: readPair(ownValue(ownValue(value, 'loudness'), 'lufs')),
      peakDb: range('peak'),
      silentSeconds: range('silence'),
    }),
    ...(ownValue(value, 'blank') === false && { blank: false }),
  };
  return Object.keys(expectation).length === 0 ? undefined : expectation;
}

function readRange(written: Json | undefined, tolerance = 0): Range | undefined {
  const value = readLimit(written);
  if (typeof value === 'number') return { min: Math.max(0, value - tolerance), max: value + tolerance };
  const min = readLimit(ownValue(value, 'min'));
  const max = readLimit(ownValue(value, 'max'));
  if (typeof min !== 'number' && typeof max !== 'number') return undefined;
  return { ...(typeof min === 'number' && { min }), ...(typeof max === 'number' && { max }) };
}

export function readLimit(value: Json | undefined): Json | undefined {
  const seconds = typeof value === 'string' ? /^([0-9]{1,6}(?:\.[0-9]{1,3})?)s$/.exec(value)?.[1] : undefined;
  return seconds === undefined ? value : Number(seconds);
}

function readPair(value: Json | undefined): Range | undefined {
  const [min, max] = Array.isArray(value) ? value : [];
  return typeof min === 'number' && typeof max === 'number' ? { min, max } : undefined;
}

function isWhole(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}
