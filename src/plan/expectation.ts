import type { Output } from '../lock/record.ts';
import type { Expectation, Range } from '../manifest/manifest.ts';

/** Measurements of a media file, as far as they could be taken. */
export interface MediaFacts {
  /** Pixels. */
  width?: number;
  height?: number;
  durationSeconds?: number;
}

/** Half a percent, because encoders round to whole blocks. */
const ratioTolerance = 0.005;

/** Lists unmet expectations of a downloaded file, in words that follow "it does not fit `expect`: ". */
export function findUnmet(expect: Expectation, output: Output, facts: MediaFacts | undefined): string[] {
  const { width, height, durationSeconds } = facts ?? {};
  const unmet: string[] = [];
  const check = (name: string, range: Range | undefined, of: { value: number | undefined; unit: string }) => {
    if (range === undefined) return;
    const wanted = describeRange(range, of.unit);
    if (of.value === undefined) unmet.push(`its ${name} cannot be measured, wanted ${wanted}`);
    else if (!isWithin(of.value, range)) unmet.push(`its ${name} is ${shown(of.value)}${of.unit}, wanted ${wanted}`);
  };
  check('width', expect.width, { value: width, unit: ' px' });
  check('height', expect.height, { value: height, unit: ' px' });
  check('duration', expect.durationSeconds, { value: durationSeconds, unit: ' s' });
  check('size', expect.bytes, { value: output.bytes, unit: ' bytes' });
  if (expect.ratio !== undefined) {
    const [across = 0, down = 0] = expect.ratio.split(':').map(Number);
    const seen = width === undefined || height === undefined || height === 0 ? undefined : width / height;
    if (seen === undefined) unmet.push(`its ratio cannot be measured, wanted ${expect.ratio}`);
    else if (Math.abs(seen / (across / down) - 1) > ratioTolerance) {
      unmet.push(`it is ${width} × ${height} px, which is not ${expect.ratio}`);
    }
  }
  if (expect.type !== undefined && output.type !== expect.type && !output.type.startsWith(`${expect.type}/`)) {
    unmet.push(`it is ${output.type}, wanted ${expect.type}`);
  }
  return unmet;
}

/** Tells whether anything but the recorded size and type has to be measured. */
export function needsMeasuring(expect: Expectation): boolean {
  const { width, height, ratio, durationSeconds } = expect;
  return [width, height, ratio, durationSeconds].some((rule) => rule !== undefined);
}

function isWithin(value: number, { min, max }: Range): boolean {
  return value >= (min ?? Number.NEGATIVE_INFINITY) && value <= (max ?? Number.POSITIVE_INFINITY);
}

function describeRange({ min, max }: Range, unit: string): string {
  if (min !== undefined && max !== undefined) {
    return min === max ? `${shown(min)}${unit}` : `${shown(min)} to ${shown(max)}${unit}`;
  }
  return min === undefined ? `at most ${shown(max ?? 0)}${unit}` : `at least ${shown(min)}${unit}`;
}

function shown(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(2);
}
