import type { Step } from '../../graph/graph.ts';
import { type JsonMap, ownValue } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import { countedPurchases } from '../../lock/decisions.ts';
import type { Output } from '../../lock/record.ts';
import { isSpending } from '../actions.ts';
import type { Speech } from '../plan.generated.ts';
import type { PlanRow } from '../plan.ts';
import type { Situation } from '../situation/situation.ts';

/** The facts of a spoken text that decide how long it takes. */
interface Spoken {
  characters: number;
  voice: string;
  language: string;
  writing: string;
}

/** A file in which something is spoken. */
export interface SpokenFile {
  output: Output;
  spoken: Spoken;
}

/** A row whose speech is to be of some length. */
export interface RowToSpeak {
  row: PlanRow;
  spoken: Spoken;
  wanted: { min?: number; max?: number };
}

/** Rows that buy speech, now or once nothing is in their way, of which a length is expected. */
export function rowsToSpeak(rows: readonly PlanRow[], { byAddress }: Pick<Situation, 'byAddress'>): RowToSpeak[] {
  return rows.flatMap((row) => {
    const step = byAddress.get(row.address)?.step;
    const wanted = step?.expect?.durationSeconds;
    if (step === undefined || wanted === undefined || !(isSpending(row.action) || row.action === 'blocked')) return [];
    const spoken = spokenIn(step.kind, step.request, step.matrix);
    return spoken === undefined ? [] : [{ row, spoken, wanted }];
  });
}

/** All files in which a text was spoken that the lock still knows. */
export function spokenFiles({ lock, byAddress }: Pick<Situation, 'lock' | 'byAddress'>): SpokenFile[] {
  return [...lock.steps.values()].flatMap((record) =>
    countedPurchases(record).flatMap(({ kind = record.kind, request, outputs = [] }) => {
      const spoken = request && spokenIn(kind, request, byAddress.get(record.address)?.step.matrix);
      return spoken === undefined ? [] : outputs.map((output) => ({ output, spoken }));
    }),
  );
}

/** Characters that take about ten seconds: pauses before and after them hardly count any more. */
const enoughCharacters = 150;

/** By what speech is alike, the nearest first, and by how much it may be off for that. */
const likeness = [
  { like: 'voice', doubt: 0, nameOf: ({ voice, language }: Spoken) => `${voice}\n${language}` },
  { like: 'language', doubt: 0.1, nameOf: ({ language }: Spoken) => `\n${language}` },
  { like: 'writing', doubt: 0.2, nameOf: ({ writing }: Spoken) => `\n\n${writing}` },
] as const;

/** Says of each row whose text would be too long or too short, by the pace of what was spoken before, how long it would be. */
export function estimateSpeech(
  asked: readonly RowToSpeak[],
  known: readonly { spoken: Spoken; seconds: number }[],
): Map<PlanRow, Speech> {
  const sums = new Map<string, { characters: number; seconds: number; voiceovers: number }>();
  for (const { spoken, seconds } of known) {
    for (const { nameOf } of likeness) {
      const sum = sums.get(nameOf(spoken)) ?? { characters: 0, seconds: 0, voiceovers: 0 };
      sum.characters += spoken.characters;
      sum.seconds += seconds;
      sum.voiceovers += 1;
      sums.set(nameOf(spoken), sum);
    }
  }
  const found = new Map<PlanRow, Speech>();
  for (const { row, spoken, wanted } of asked) {
    const near = likeness.find(
      ({ like, nameOf }) =>
        (like !== 'language' || spoken.language !== spoken.writing) &&
        (sums.get(nameOf(spoken))?.characters ?? 0) >= enoughCharacters,
    );
    const sum = near && sums.get(near.nameOf(spoken));
    if (near === undefined || sum === undefined) continue;
    // Rounded before it is judged: nobody is to read that 30 s are more than 30 s.
    const seconds = rounded((sum.seconds / sum.characters) * spoken.characters);
    const { min = 0, max = Number.POSITIVE_INFINITY } = wanted;
    const isMissed = seconds * (1 - near.doubt) > max || seconds * (1 + near.doubt) < min;
    if (isMissed) found.set(row, { seconds, ...wanted, like: near.like, voiceovers: sum.voiceovers });
  }
  return found;
}

function rounded(seconds: number): number {
  return seconds < 10 ? Math.round(seconds * 10) / 10 : Math.round(seconds);
}

/** The text that a request has spoken. Undefined where another step puts words in: their number is not known yet. */
function spokenIn(kind: string, request: JsonMap, matrix: Step['matrix'] = {}): Spoken | undefined {
  const { speech } = kinds[kind] ?? {};
  const text = speech && ownValue(request, speech.text);
  if (speech === undefined || typeof text !== 'string') return undefined;
  const voice = ownValue(request, speech.voice);
  const writing = writingOf(text);
  const [language = writing] = ['locale', 'language', 'lang'].flatMap((axis) => matrix[axis] ?? []);
  return { characters: [...text].length, voice: typeof voice === 'string' ? voice : '', language, writing };
}

/** Writings of which a character is a syllable or a word: far fewer of them are spoken in a second. */
const syllabic = [
  { name: 'kana', pattern: /[\p{Script=Hiragana}\p{Script=Katakana}]/gu },
  { name: 'hangul', pattern: /\p{Script=Hangul}/gu },
  { name: 'han', pattern: /\p{Script=Han}/gu },
] as const;

function writingOf(text: string): string {
  const isMany = (pattern: RegExp) => (text.match(pattern)?.length ?? 0) * 5 > text.length;
  return syllabic.find(({ pattern }) => isMany(pattern))?.name ?? 'letters';
}
