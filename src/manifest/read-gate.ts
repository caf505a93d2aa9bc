import type { Json } from '../ground/json.ts';
import { isMap, ownValue } from '../ground/values.ts';
import type { CanaryRule, GateRule } from './manifest.ts';

/** Reads a valid gate of a task with so many takes; whatever is wrong was reported by the checks. */
export function readGate(value: Json | undefined, takes: number): GateRule | undefined {
  if (value === 'approve') return { is: 'approve' };
  if (!isMap(value)) return undefined;
  const { choose, among, note } = value;
  const noted = typeof note === 'string' ? { note } : {};
  if (ownValue(value, 'approve') === true) return { is: 'approve', ...noted };
  if (typeof choose !== 'number' || !Number.isInteger(choose) || choose < 1) return undefined;
  const of = amongOf(typeof among === 'string' ? among : takes > 1 ? 'takes' : undefined);
  return of === undefined ? undefined : { is: 'choose', choose, among: of, ...noted };
}

function amongOf(among: string | undefined): Extract<GateRule, { is: 'choose' }>['among'] | undefined {
  if (among === undefined) return undefined;
  return among === 'takes' || among === 'all' ? { by: among } : { by: 'axis', axis: among };
}

/** Reads a valid `canary:`; whatever is wrong was reported by the checks. */
export function readCanary(value: Json | undefined): CanaryRule | undefined {
  const written = typeof value === 'number' ? { first: value } : value;
  if (!isMap(written)) return undefined;
  const first = ownValue(written, 'first') ?? 1;
  const then = ownValue(written, 'then') ?? 'check';
  if (typeof first !== 'number' || !Number.isInteger(first) || first < 1) return undefined;
  return then === 'check' || then === 'ask' ? { first, asks: then === 'ask' } : undefined;
}
