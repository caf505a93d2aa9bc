/** The documented voices of the voiceover generator: gender and accent by `voice_id`. */
export const voices: Readonly<
  Record<string, { readonly gender: 'female' | 'male' | 'neutral'; readonly accent: string }>
> = {
  Aria: { gender: 'female', accent: 'american' },
  Roger: { gender: 'male', accent: 'american' },
  Sarah: { gender: 'female', accent: 'american' },
  Laura: { gender: 'female', accent: 'american' },
  Charlie: { gender: 'male', accent: 'australian' },
  George: { gender: 'male', accent: 'british' },
  Callum: { gender: 'male', accent: 'american' },
  River: { gender: 'neutral', accent: 'american' },
  Liam: { gender: 'male', accent: 'american' },
  Charlotte: { gender: 'female', accent: 'swedish' },
  Alice: { gender: 'female', accent: 'british' },
  Matilda: { gender: 'female', accent: 'american' },
  Will: { gender: 'male', accent: 'american' },
  Jessica: { gender: 'female', accent: 'american' },
  Eric: { gender: 'male', accent: 'american' },
  Chris: { gender: 'male', accent: 'american' },
  Brian: { gender: 'male', accent: 'american' },
  Daniel: { gender: 'male', accent: 'british' },
  Lily: { gender: 'female', accent: 'british' },
  Bill: { gender: 'male', accent: 'american' },
};

export const aboutVoices: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(voices).map(([id, { gender, accent }]) => [id, `${gender}, ${accent}`]),
);
