import { createRandom, pick } from '../random.ts';
import { findPhone, type PhoneName } from './phones.ts';

export type Accent = 'american' | 'british' | 'australian' | 'swedish';

/** A person's voice, in numbers. */
export interface Speaker {
  readonly accent: Accent;
  /** Hz, in the middle of a sentence. */
  readonly pitch: number;
  /** How far the pitch moves, against an even speaker. */
  readonly liveliness: number;
  /** Formants against a throat of middle size: a short throat is above 1. */
  readonly brightness: number;
  /** Speed against an even speaker. */
  readonly rate: number;
  /** Noise against tone, 0 to 0.2. */
  readonly breath: number;
  /** How sharply the vocal cords close, 0.4 soft to 0.9 sharp. */
  readonly edge: number;
}

type Numbers = readonly [
  pitch: number,
  liveliness: number,
  brightness: number,
  rate: number,
  breath: number,
  edge: number,
];

function speaker(accent: Accent, numbers: Numbers): Speaker {
  const [pitch, liveliness, brightness, rate, breath, edge] = numbers;
  return { accent, pitch, liveliness, brightness, rate, breath, edge };
}

/** The voices of the service by their ids. Gender and accent are as documented; the rest is the sandbox's own. */
const speakers: Readonly<Record<string, Speaker>> = {
  Aria: speaker('american', [196, 1.05, 1.13, 1, 0.06, 0.72]),
  Roger: speaker('american', [106, 0.95, 0.97, 0.97, 0.02, 0.86]),
  Sarah: speaker('american', [186, 0.85, 1.1, 0.95, 0.11, 0.58]),
  Laura: speaker('american', [222, 1.35, 1.18, 1.13, 0.04, 0.8]),
  Charlie: speaker('australian', [124, 1.15, 1.02, 1.04, 0.04, 0.72]),
  George: speaker('british', [92, 0.85, 0.93, 0.9, 0.03, 0.68]),
  Callum: speaker('american', [99, 0.8, 0.98, 0.94, 0.16, 0.9]),
  River: speaker('american', [150, 0.8, 1.06, 0.98, 0.05, 0.7]),
  Liam: speaker('american', [129, 1.3, 1.04, 1.14, 0.03, 0.8]),
  Charlotte: speaker('swedish', [207, 1.2, 1.15, 0.94, 0.07, 0.62]),
  Alice: speaker('british', [214, 1, 1.12, 1.03, 0.03, 0.78]),
  Matilda: speaker('american', [178, 0.8, 1.08, 0.88, 0.13, 0.55]),
  Will: speaker('american', [128, 1.4, 1.01, 1.06, 0.04, 0.76]),
  Jessica: speaker('american', [230, 1.5, 1.16, 1.05, 0.06, 0.74]),
  Eric: speaker('american', [115, 0.6, 0.99, 1, 0.02, 0.78]),
  Chris: speaker('american', [120, 1, 1, 1.05, 0.06, 0.7]),
  Brian: speaker('american', [86, 0.75, 0.9, 0.88, 0.04, 0.74]),
  Daniel: speaker('british', [102, 0.75, 0.94, 1.02, 0.02, 0.82]),
  Lily: speaker('british', [238, 1.25, 1.19, 0.98, 0.09, 0.64]),
  Bill: speaker('american', [81, 0.7, 0.92, 0.83, 0.1, 0.66]),
};

/** For a name that is none of them, always the same one. */
export function findSpeaker(voice: string): Speaker {
  const found = Object.hasOwn(speakers, voice) ? speakers[voice] : undefined;
  return found ?? pick(createRandom(`voice ${voice}`), Object.values(speakers));
}

const british: Partial<Record<PhoneName, PhoneName>> = { AA: 'OH', OW: 'OU', ER: 'UR' };
const australian: Partial<Record<PhoneName, PhoneName>> = {
  AA: 'OH',
  OW: 'OU',
  ER: 'UR',
  EY: 'EI',
  AY: 'AI',
  UW: 'UE',
  AE: 'EH',
};
const swedish: Partial<Record<PhoneName, PhoneName>> = {
  W: 'V',
  DH: 'D',
  TH: 'T',
  Z: 'S',
  ZH: 'SH',
  JH: 'Y',
  UW: 'UE',
  AE: 'EH',
};

/** Turns a word's American phones into those of a speaker with this accent. */
export function applyAccent(phones: readonly PhoneName[], accent: Accent): PhoneName[] {
  switch (accent) {
    case 'american':
      return [...phones];
    case 'british':
      return dropEr(phones, british);
    case 'australian':
      return dropEr(phones, australian);
    case 'swedish':
      return phones.map((phone) => swedish[phone] ?? phone);
    default:
      return accent satisfies never;
  }
}

/** An r is heard only before a vowel; the "ah" that it made long stays as it is. */
function dropEr(phones: readonly PhoneName[], changes: Partial<Record<PhoneName, PhoneName>>): PhoneName[] {
  const result: PhoneName[] = [];
  for (const [index, phone] of phones.entries()) {
    const next = phones[index + 1];
    if (phone === 'R' && index > 0 && (next === undefined || findPhone(next).type !== 'vowel')) continue;
    const long = phone === 'AA' && next === 'R';
    const weak = phone === 'ER' && next === undefined && index > 1;
    result.push(long ? phone : weak ? 'AX' : (changes[phone] ?? phone));
  }
  return result;
}
