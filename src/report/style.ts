import picocolors from 'picocolors';

/** Text styles. Without color every function returns its text unchanged. */
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
 * Decides whether to color a stream: by a non-empty NO_COLOR; else by FORCE_COLOR (`0` and `false` mean no); else by
 * whether the stream is a terminal that is not `dumb`. On a CI, colors need FORCE_COLOR or a terminal, because output
 * that is redirected to a file there is often pasted elsewhere.
 */
export function wantsColor(env: Environment, isTerminal: boolean): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  return isTerminal && env.TERM !== 'dumb';
}

/** Decides whether to show a screen that is redrawn: on a terminal that can move its cursor, and never on a CI. */
export function wantsScreen(env: Environment, isTerminal: boolean): boolean {
  const isCi = env.CI !== undefined && env.CI !== '' && env.CI !== '0' && env.CI !== 'false';
  return isTerminal && env.TERM !== 'dumb' && !isCi;
}
