/** Where the throat and the mouth resonate, in Hz, for a voice of middle size. */
export type Formants = readonly [number, number, number];

/** A band of noise made between tongue, teeth and lips. */
export interface Noise {
  /** Hz. */
  readonly frequency: number;
  readonly width: number;
  /** Against a vowel. */
  readonly level: number;
}

/** One sound of the language. `ms` is how long it lasts in an unstressed syllable. */
export type Phone =
  | { readonly type: 'vowel'; readonly ms: number; readonly from: Formants; readonly to: Formants }
  | { readonly type: 'glide'; readonly ms: number; readonly at: Formants }
  | { readonly type: 'nasal'; readonly ms: number; readonly at: Formants }
  | { readonly type: 'breath'; readonly ms: number }
  | {
      readonly type: 'hiss';
      readonly ms: number;
      readonly noise: Noise;
      readonly voiced: boolean;
      readonly at: Formants;
    }
  | {
      readonly type: 'stop';
      /** Length of the closure. */
      readonly ms: number;
      readonly burstMs: number;
      readonly noise: Noise;
      readonly voiced: boolean;
      readonly at: Formants;
    };

function vowel(ms: number, from: Formants, to: Formants = from): Phone {
  return { type: 'vowel', ms, from, to };
}

function glide(ms: number, at: Formants): Phone {
  return { type: 'glide', ms, at };
}

function nasal(ms: number, at: Formants): Phone {
  return { type: 'nasal', ms, at };
}

function hiss(ms: number, noise: readonly [number, number, number], at: Formants, voiced: boolean): Phone {
  const [frequency, width, level] = noise;
  return { type: 'hiss', ms, noise: { frequency, width, level }, voiced, at };
}

function stop(
  [ms, burstMs]: readonly [number, number],
  noise: readonly [number, number, number],
  at: Formants,
  voiced: boolean,
): Phone {
  const [frequency, width, level] = noise;
  return { type: 'stop', ms, burstMs, noise: { frequency, width, level }, voiced, at };
}

/**
 * The sounds of American English by their names in ARPABET, and those that other accents put in their place. Formants
 * are rounded from Peterson and Barney (1952) and Klatt (1980).
 */
const phones = {
  IY: vowel(120, [280, 2250, 2950]),
  IH: vowel(80, [400, 1950, 2550]),
  EH: vowel(95, [550, 1800, 2500]),
  AE: vowel(130, [680, 1700, 2450]),
  AA: vowel(130, [730, 1150, 2450]),
  AO: vowel(130, [570, 860, 2450]),
  UH: vowel(85, [450, 1050, 2250]),
  UW: vowel(125, [310, 900, 2250]),
  AH: vowel(85, [640, 1220, 2450]),
  AX: vowel(60, [520, 1400, 2450]),
  ER: vowel(120, [480, 1350, 1700]),
  EY: vowel(150, [500, 1850, 2550], [330, 2200, 2750]),
  AY: vowel(175, [710, 1200, 2500], [380, 2000, 2600]),
  OY: vowel(185, [550, 850, 2450], [380, 1950, 2550]),
  AW: vowel(180, [720, 1300, 2500], [430, 950, 2350]),
  OW: vowel(150, [560, 1000, 2400], [380, 830, 2250]),
  /** "lot" in Britain. */
  OH: vowel(100, [600, 880, 2450]),
  /** "nurse" where no r is heard. */
  UR: vowel(140, [500, 1450, 2450]),
  /** "goat" in Britain and Australia. */
  OU: vowel(150, [520, 1400, 2450], [390, 1050, 2300]),
  /** "face" in Australia. */
  EI: vowel(165, [660, 1550, 2500], [370, 2150, 2700]),
  /** "price" in Australia. */
  AI: vowel(185, [680, 1000, 2450], [390, 1950, 2600]),
  /** "goose" in Australia and Sweden. */
  UE: vowel(125, [320, 1600, 2250]),
  W: glide(70, [300, 650, 2200]),
  Y: glide(65, [270, 2200, 3000]),
  R: glide(75, [330, 1150, 1550]),
  L: glide(75, [340, 1050, 2750]),
  M: nasal(75, [280, 950, 2250]),
  N: nasal(70, [280, 1650, 2550]),
  NG: nasal(85, [280, 2150, 2700]),
  HH: { type: 'breath', ms: 60 },
  S: hiss(110, [6200, 1500, 0.3], [320, 1650, 2600], false),
  SH: hiss(115, [3200, 1400, 0.34], [320, 1850, 2550], false),
  F: hiss(95, [4500, 6000, 0.1], [320, 1050, 2300], false),
  TH: hiss(90, [5500, 5000, 0.09], [320, 1450, 2600], false),
  Z: hiss(85, [6200, 1500, 0.18], [280, 1650, 2600], true),
  ZH: hiss(90, [3200, 1400, 0.22], [280, 1850, 2550], true),
  V: hiss(65, [4500, 6000, 0.06], [280, 1050, 2300], true),
  DH: hiss(55, [5500, 5000, 0.05], [280, 1500, 2600], true),
  P: stop([60, 20], [900, 1500, 0.35], [250, 800, 2200], false),
  T: stop([55, 15], [4500, 2500, 0.45], [250, 1750, 2700], false),
  K: stop([60, 20], [1900, 900, 0.45], [250, 1900, 2300], false),
  B: stop([50, 15], [700, 1200, 0.2], [220, 800, 2200], true),
  D: stop([45, 15], [4000, 2500, 0.22], [220, 1700, 2650], true),
  G: stop([50, 15], [1800, 900, 0.25], [220, 1950, 2300], true),
  CH: stop([50, 75], [3300, 1500, 0.36], [280, 1850, 2550], false),
  JH: stop([50, 60], [3300, 1500, 0.24], [250, 1850, 2550], true),
} satisfies Readonly<Record<string, Phone>>;

export type PhoneName = keyof typeof phones;

export function isPhoneName(name: string): name is PhoneName {
  return Object.hasOwn(phones, name);
}

export function findPhone(name: PhoneName): Phone {
  return phones[name];
}
