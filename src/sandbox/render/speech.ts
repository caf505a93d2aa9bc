import { encodeSound, type SoundFormat } from './encode-sound.ts';
import { between, createRandom } from './random.ts';
import { speak } from './speech/speak.ts';
import { findSpeaker } from './speech/speakers.ts';
import { sampleRate } from './speech/synthesise.ts';

export interface SpeechOrder {
  readonly seed: string;
  readonly text: string;
  /** A voice's id, as the service lists it. */
  readonly voice: string;
  readonly format: SoundFormat;
}

/** The text, spoken by a machine in the named voice: mono at 22.05 kHz, as long as a person would take. */
export async function renderSpeech(order: SpeechOrder): Promise<Uint8Array> {
  const random = createRandom(`speech ${order.seed}`);
  const usual = findSpeaker(order.voice);
  // Nobody says the same thing twice in quite the same way.
  const speaker = {
    ...usual,
    pitch: usual.pitch * between(random, 0.98, 1.02),
    rate: usual.rate * between(random, 0.97, 1.03),
  };
  const samples = speak(order.text, speaker, random);
  return encodeSound({ sampleRate, channels: [samples] }, order.format, 64);
}
