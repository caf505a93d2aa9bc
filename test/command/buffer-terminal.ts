import { PassThrough } from 'node:stream';
import { onTestFinished } from 'vitest';
import { namedCommands } from '../../src/cli/program/command-row.ts';
import { makeProgram } from '../../src/cli/program/program.ts';
import { notCalled, type Terminal } from '../../src/cli/terminal.ts';
import { makeStyle } from '../../src/report/style.ts';

/** A terminal without colours, 100 columns wide, that keeps what it is told. Nobody sits at it. */
export function bufferTerminal(): { terminal: Terminal; said: { out: string; err: string } } {
  const said = { out: '', err: '' };
  const style = makeStyle(false);
  const terminal: Terminal = {
    out(text) {
      said.out += text;
    },
    err(text) {
      said.err += text;
    },
    style,
    outStyle: style,
    width: 100,
    outWidth: 100,
    screen: false,
    interactive: false,
    ...notCalled,
  };
  return { terminal, said };
}

/** A program whose commands do nothing: it only reads a command line. */
export function makeReader() {
  const { terminal, said } = bufferTerminal();
  const program = makeProgram({ terminal, exit: () => {} });
  for (const [, command] of namedCommands(program)) command.action(() => {});
  return { program, said };
}

/** Somebody sits at the terminal of this process until the test ends. `onQuestion` is called at each yes-or-no prompt. */
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
