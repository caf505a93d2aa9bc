/** A mediabatch command that a user may run next. The renderer adds the lock option of the running command. */
export interface Call {
  call: string;
  words: readonly string[];
  /** Path of the manifest in the command. Defaults to the manifest of the running command. */
  file?: string;
  /** True if the renderer must not add options of the running command. */
  bare?: true;
  /** Option of the running command that the renderer must not add. */
  without?: string;
}

/** A complete shell command. Every view prints the words of the command unchanged. */
export interface Shell {
  shell: readonly string[];
}

/** A suggested action: the purpose and the command. */
export interface Way<Run = Call | Shell> {
  to: string;
  run: Run;
}

/** Suggested actions. Views print the command on its own line, so that a user can copy the whole line. */
export type Advice<Run = Call | Shell> = string | Way<Run> | readonly (string | Way<Run>)[];

export function call(command: string, ...words: string[]): Call {
  return { call: command, words };
}

export function shell(...words: string[]): Shell {
  return { shell: words };
}

export function way<Run>(to: string, run: Run): Way<Run> {
  return { to, run };
}
