/** A command that a person may run next. It uses the same lock as the running command. */
export interface Call {
  call: string;
  words: readonly string[];
  /** Path of its manifest; omitted if it is that of the running command. */
  file?: string;
  /** Drops all options of the running command. */
  bare?: true;
}

/** A shell command, word by word, that is printed unchanged in every context. */
export interface Shell {
  shell: readonly string[];
}

/** A command with its purpose: printed on a line of their own that ends with the command. */
export interface Way<Run = Call | Shell> {
  to: string;
  run: Run;
}

/**
 * Suggested next action, line by line: a sentence, or a command with its purpose. A command is never printed inside a
 * sentence, so that it can be selected as a whole.
 */
export type Advice<Run = Call | Shell> = string | Way<Run> | readonly (string | Way<Run>)[];

export function call(command: string, ...words: string[]): Call {
  return { call: command, words };
}

export function shell(...words: string[]): Shell {
  return { shell: words };
}

/**
 * Builds a command with its purpose, which has no colon at the end: `way('remove the pin first', call('pin', address,
 * '--undo'))`.
 */
export function way<Run>(to: string, run: Run): Way<Run> {
  return { to, run };
}
