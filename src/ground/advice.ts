/** A command that a person may run next. It concerns the same lock as the running command. */
export interface Call {
  call: string;
  words: readonly string[];
  /** The manifest it concerns; absent when it is that of the running command. */
  file?: string;
  /** Drops all options of the running command. */
  bare?: true;
}

/** A command that is the same wherever it is printed, word by word. */
export interface Shell {
  shell: readonly string[];
}

/** A command, and what it is for: together they are a line of their own, which the command ends. */
export interface Way<Run = Call | Shell> {
  to: string;
  run: Run;
}

/**
 * The next thing to do, line by line: a sentence, or a way. There is no place for a command inside a sentence, where nobody
 * could select it as a whole.
 */
export type Advice<Run = Call | Shell> = string | Way<Run> | readonly (string | Way<Run>)[];

export function call(command: string, ...words: string[]): Call {
  return { call: command, words };
}

export function shell(...words: string[]): Shell {
  return { shell: words };
}

/** `way('take the pin off first', call('pin', address, '--undo'))`; what it is for ends without a colon. */
export function way<Run>(to: string, run: Run): Way<Run> {
  return { to, run };
}
