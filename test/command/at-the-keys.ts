import { PassThrough } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { Terminal } from '../../src/cli/terminal.ts';
import { bufferTerminal } from './buffer-terminal.ts';

/** Somebody sits at the terminal of this process until the test ends. `onQuestion` hears each prompt that asks for yes or no. */
export function sitAtTheKeys(onQuestion: (keys: PassThrough) => void = () => {}): {
  terminal: Terminal;
  said: { out: string; err: string };
  /** What is written into it is typed. */
  keys: PassThrough;
} {
  const [keys, screen] = [new PassThrough(), new PassThrough()];
  screen.on('data', (text: Buffer) => {
    if (text.includes('[y/N]')) onQuestion(keys);
  });
  for (const [name, value] of [
    ['stdin', keys],
    ['stderr', screen],
  ] as const) {
    const before = Object.getOwnPropertyDescriptor(process, name);
    Object.defineProperty(process, name, { value, configurable: true });
    onTestFinished(() => {
      if (before !== undefined) Object.defineProperty(process, name, before);
    });
  }
  const { terminal, said } = bufferTerminal();
  return { terminal: { ...terminal, interactive: true }, said, keys };
}
