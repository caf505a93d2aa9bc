import type { Terminal } from '../terminal.ts';

/** Context for the definitions of commands. */
export interface ProgramContext {
  terminal: Terminal;
  /** Called by an action at its end with the exit code of the process. */
  exit(code: number): void;
}
