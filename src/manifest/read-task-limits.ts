import type { Json } from '../ground/json.ts';
import { isMap, ownValue } from '../ground/values.ts';
import type { Expectation, Range, Task } from './manifest.ts';
import { isTemplate } from './template/template.ts';

/** `duration: 8` means about eight seconds, because encoders cut at whole frames. */
const durationToleranceSeconds = 0.5;

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

export function readWhen(value: Json | undefined): string | boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string') return undefined;
  return isTemplate(value) || value === 'true' || value === 'false' ? value : undefined;
}

/** Parses `90s`, `30m` or `1.5h` to ms. */
export function readTimeout(value: Json | undefined): number | undefined {
  const match = typeof value === 'string' ? /^([0-9]{1,6}(?:\.[0-9]{1,3})?)([smh])$/.exec(value) : null;
  const timeoutMs = Math.round(Number(match?.[1]) * (unitMs[match?.[2] ?? ''] ?? 0));
  return timeoutMs > 0 ? timeoutMs : undefined;
}

export function readRetry(value: Json | undefined): Task['retry'] {
  const attempts = ownValue(value, 'attempts');
  const credits = ownValue(value, 'credits');
  if (!isWhole(attempts) || attempts < 2 || attempts > 5) return undefined;
  return isWhole(credits) ? { attempts, credits } : { attempts };
}

/** Parses the maximum characters of each field. Wrong limits are left out: the checks have reported them. */
export function readTextLimits(value: Json | undefined): Task['limits'] {
  if (!isMap(value)) return undefined;
  return Object.fromEntries(Object.entries(value).flatMap(([field, most]) => (isWhole(most) ? [[field, most]] : [])));
}

export function readExpectation(value: Json | undefined): Expectation | undefined {
  if (!isMap(value)) return undefined;
  const width = readRange(ownValue(value, 'width'));
  const height = readRange(ownValue(value, 'height'));
  const bytes = readRange(ownValue(value, 'bytes'));
  const durationSeconds = readRange(ownValue(value, 'duration'), durationToleranceSeconds);
  const ratio = ownValue(value, 'ratio');
  const type = ownValue(value, 'type');
  const lufs = readPair(ownValue(ownValue(value, 'loudness'), 'lufs'));
  const peakDb = readRange(ownValue(value, 'peak'));
  const silentSeconds = readRange(ownValue(value, 'silence'));
  const expectation: Expectation = {
    ...(width === undefined ? {} : { width }),
    ...(height === undefined ? {} : { height }),
    ...(typeof ratio === 'string' ? { ratio } : {}),
    ...(durationSeconds === undefined ? {} : { durationSeconds }),
    ...(bytes === undefined ? {} : { bytes }),
    ...(typeof type === 'string' ? { type } : {}),
    ...(lufs === undefined ? {} : { lufs }),
    ...(peakDb === undefined ? {} : { peakDb }),
    ...(silentSeconds === undefined ? {} : { silentSeconds }),
    ...(ownValue(value, 'blank') === false ? { blank: false as const } : {}),
  };
  return Object.keys(expectation).length === 0 ? undefined : expectation;
}

function readRange(written: Json | undefined, tolerance = 0): Range | undefined {
  const value = readLimit(written);
  if (typeof value === 'number') return { min: Math.max(0, value - tolerance), max: value + tolerance };
  const min = readLimit(ownValue(value, 'min'));
  const max = readLimit(ownValue(value, 'max'));
  if (typeof min !== 'number' && typeof max !== 'number') return undefined;
  return { ...(typeof min === 'number' ? { min } : {}), ...(typeof max === 'number' ? { max } : {}) };
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
