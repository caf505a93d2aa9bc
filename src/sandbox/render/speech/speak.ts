import type { Random } from '../random.ts';
import { articulate } from './articulate.ts';
import { layFrames } from './frames.ts';
import { intonate } from './intonate.ts';
import { readScript } from './script.ts';
import type { Speaker } from './speakers.ts';
import { sampleRate, synthesise } from './synthesise.ts';

/** Level of a long open vowel, as a share of full scale. */
const loudness = 0.2;
const leadMs = 60;

/** 16-bit samples. Phrase by phrase, so that a long text takes no more room than its sound. */
export function speak(text: string, speaker: Speaker, random: Random): Int16Array {
  const gain = findGain(speaker, random);
  const parts = [new Int16Array(countSamples(leadMs))];
  for (const phrase of readScript(text, speaker.accent)) {
    const frames = articulate(phrase, speaker.rate);
    const sound = synthesise(frames, intonate(frames, phrase, speaker), { speaker, random });
    parts.push(Int16Array.from(sound, (value) => Math.round(Math.tanh(value * gain) * 31_000)));
    parts.push(new Int16Array(countSamples(phrase.pauseMs / speaker.rate)));
  }
  return join(parts);
}

/** Voices differ in how loud the synthesiser makes them: this brings a vowel of each to one loudness. */
function findGain(speaker: Speaker, random: Random): number {
  const frames = layFrames(Array.from({ length: 40 }, () => ({ formants: [600, 1350, 2500] as const, voicing: 1 })));
  const sound = synthesise(frames, new Float32Array(frames.length).fill(speaker.pitch), { speaker, random });
  const power = sound.reduce((sum, value) => sum + value * value, 0) / sound.length;
  return loudness / Math.sqrt(power);
}

function countSamples(ms: number): number {
  return Math.round((ms * sampleRate) / 1000);
}

function join(parts: readonly Int16Array[]): Int16Array {
  const result = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    result.set(part, at);
    at += part.length;
  }
  return result;
}
