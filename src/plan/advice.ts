/** A command that a person may run next. Whose lock it is about is as in the command that is running. */
export interface Call {
  call: string;
  words: readonly string[];
  /** What it is about, where that is not the manifest of the command that is running. */
  file?: string;
  /** No option of the command that is running goes with it. */
  bare?: true;
}

/** What to do next, in words and commands. */
export type Advice = string | readonly (string | Call)[];

export function call(command: string, ...words: string[]): Call {
  return { call: command, words };
}

/** ``advise`first ${call('unpin', address)}, then …` `` */
export function advise(texts: TemplateStringsArray, ...values: readonly (string | Call)[]): Advice {
  const parts = texts.flatMap((text, index) => [text, values[index] ?? '']);
  return parts.filter((part) => part !== '');
}
