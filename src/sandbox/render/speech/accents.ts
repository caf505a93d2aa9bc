import { findPhone, type PhoneName } from './phones.ts';

export type Accent = 'american' | 'british' | 'australian' | 'swedish';

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
      return unknownAccent(accent);
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

function unknownAccent(accent: never): never {
  throw new Error(`internal error: unknown accent ${JSON.stringify(accent)}`);
}
