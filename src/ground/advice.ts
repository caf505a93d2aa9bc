/** Command that a user may run next, with the lock of the running command. */
export interface Call {
  call: string;
  words: readonly string[];
  /** Path of the manifest. Defaults to that of the running command. */
  file?: string;
  /** Omits the options of the running command. */
  bare?: true;
}

/** Words of a shell command, which every view prints unchanged. */
export interface Shell {
  shell: readonly string[];
}

/** Purpose and command, on one line. */
export interface Way<Run = Call | Shell> {
  to: string;
  run: Run;
}

/** Lines of a suggested action. A command is never inside a sentence, so that a user can select it as a whole. */
export type Advice<Run = Call | Shell> = string | Way<Run> | readonly (string | Way<Run>)[];

export function call(command: string, ...words: string[]): Call {
  return { call: command, words };
}

export function shell(...words: string[]): Shell {
  return { shell: words };
}

/** For example `way('remove the pin first', call('pin', address, '--undo'))`. */
export function way<Run>(to: string, run: Run): Way<Run> {
  return { to, run };
}
