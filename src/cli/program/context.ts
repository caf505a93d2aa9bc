import type { Terminal } from '../terminal.ts';

/** What the definitions of commands are given. */
export interface ProgramContext {
  terminal: Terminal;
  /** Called by an action at its end with the exit code of the process. */
  exit(code: number): void;
}
