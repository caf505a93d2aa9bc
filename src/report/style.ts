import picocolors from 'picocolors';

/** How words are set off. Without colour every function returns its text unchanged. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

export function makeStyle(color: boolean): Style {
  const { bold, dim, red, green, yellow, cyan } = picocolors.createColors(color);
  return { bold, dim, red, green, yellow, cyan };
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Whether to colour what goes to a stream. NO_COLOR, when it is not empty, settles it; then FORCE_COLOR (`0` and `false`
 * mean no); then whether the stream is a terminal that is not `dumb`. A CI gets colours only when it asks by
 * FORCE_COLOR or gives us a terminal: output redirected to a file there is often pasted elsewhere.
 */
export function wantsColor(env: Environment, isTerminal: boolean): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  return isTerminal && env.TERM !== 'dumb';
}

/** Whether to show a screen that redraws itself: on a terminal that can move its cursor, and never on a CI. */
export function wantsScreen(env: Environment, isTerminal: boolean): boolean {
  const isCi = env.CI !== undefined && env.CI !== '' && env.CI !== '0' && env.CI !== 'false';
  return isTerminal && env.TERM !== 'dumb' && !isCi;
}
