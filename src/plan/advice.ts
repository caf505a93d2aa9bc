/** A command that a person may run next. It concerns the same lock as the running command. */
export interface Call {
  call: string;
  words: readonly string[];
  /** The manifest it concerns; absent when it is that of the running command. */
  file?: string;
  /** Drops all options of the running command. */
  bare?: true;
}

/** Words and commands that say what to do next. */
export type Advice = string | readonly (string | Call)[];

export function call(command: string, ...words: string[]): Call {
  return { call: command, words };
}

/** ``advise`first ${call('unpin', address)}, then …` `` */
export function advise(texts: TemplateStringsArray, ...values: readonly (string | Call)[]): Advice {
  const parts = texts.flatMap((text, index) => [text, values[index] ?? '']);
  return parts.filter((part) => part !== '');
}
