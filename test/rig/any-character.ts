import fc from 'fast-check';

const [firstSurrogate, surrogates, last] = [0xd800, 0x800, 0x10ffff] as const;

/** Any code point but halves of pairs, as `unit: 'binary'`, which takes a second of a core to get ready. */
export const anyCharacter = fc.oneof(
  fc.nat(0xff).map((point) => String.fromCodePoint(point)),
  fc.nat(last - surrogates).map((point) => String.fromCodePoint(point < firstSurrogate ? point : point + surrogates)),
);
