import type { Output } from '../../lock/record.ts';
import type { Expectation, Range } from '../../manifest/manifest.ts';
import type { Match } from '../situation/find-purchases.ts';

export type Aspect = 'size' | 'sound' | 'wave' | 'looks' | 'credentials';

const aspects = ['size', 'sound', 'looks'] as const satisfies readonly Aspect[];

interface SoundFacts {
  /** Integrated loudness in LUFS; -70 for silence. Omitted for sounds shorter than 0.4 s. */
  lufs?: number;
  peakDb?: number;
  silentSeconds?: number;
  wave?: string;
}

/** Measurements of a media file. Omits values that could not be measured. */
export interface MediaFacts extends SoundFacts {
  width?: number;
  height?: number;
  durationSeconds?: number;
  isBlank?: boolean;
  hasCredentials?: boolean;
}

/** Tolerance of a ratio: half a percent, because encoders round to whole blocks. */
const ratioTolerance = 0.005;

/** Lists the unmet expectations of a file. Each text completes the sentence "it does not fit `expect`: …". */
export function findUnmet(expect: Expectation, output: Output, facts: MediaFacts | undefined): string[] {
  const { width, height, durationSeconds, lufs, peakDb, silentSeconds, isBlank } = facts ?? {};
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
  check('loudness', expect.lufs, { value: lufs, unit: ' LUFS' });
  check('peak', expect.peakDb, { value: peakDb, unit: ' dBFS' });
  check('longest silence', expect.silentSeconds, { value: silentSeconds, unit: ' s' });
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
  if (expect.blank === false && isBlank === undefined) {
    unmet.push('its content cannot be checked, because the file cannot be decoded here');
  }
  if (expect.blank === false && isBlank === true) unmet.push('it is blank (a single color)');
  return unmet;
}

export interface Unfit {
  output: Output;
  unmet: string;
}

/** Finds the first file of a step that does not fit `expect`. An accepted file always fits. */
export function findUnfit(
  expect: Expectation | undefined,
  outputs: readonly Output[],
  factsOf: ((output: Output) => MediaFacts | undefined) | undefined,
): Unfit | undefined {
  if (expect === undefined) return undefined;
  for (const output of outputs) {
    const [unmet] = output.accepted === true ? [] : findUnmet(expect, output, factsOf?.(output));
    if (unmet !== undefined) return { output, unmet };
  }
  return undefined;
}

/** Finds steps with a file that does not fit `expect`. Steps whose files are not all on this disk are excluded. */
export function findUnfitSteps(
  matches: readonly Match[],
  files: { isIntact(output: Output): boolean; factsOf?: ((output: Output) => MediaFacts | undefined) | undefined },
): ReadonlyMap<string, Unfit> {
  const unfit = new Map<string, Unfit>();
  for (const { step, purchase } of matches) {
    const outputs = step.rules?.expect !== undefined && purchase?.state === 'done' ? (purchase.outputs ?? []) : [];
    if (!outputs.every(files.isIntact)) continue;
    const found = findUnfit(step.rules?.expect, outputs, files.factsOf);
    if (found !== undefined) unfit.set(step.address, found);
  }
  return unfit;
}

export function unfitText({ output, unmet }: Unfit): string {
  return `${output.path} does not fit \`expect\`: ${unmet}`;
}

const none: readonly Aspect[] = [];

export function aspectsOf(expect: Expectation | undefined): readonly Aspect[] {
  if (expect === undefined) return none;
  const { width, height, ratio, durationSeconds, lufs, peakDb, silentSeconds, blank } = expect;
  const rules: { readonly [aspect in (typeof aspects)[number]]: readonly unknown[] } = {
    size: [width, height, ratio, durationSeconds],
    sound: [lufs, peakDb, silentSeconds],
    looks: [blank],
  };
  return aspects.filter((aspect) => rules[aspect].some((rule) => rule !== undefined));
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
