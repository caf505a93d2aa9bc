import picocolors from 'picocolors';

export type Style = Readonly<Record<'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', (text: string) => string>>;

export function makeStyle(color: boolean): Style {
  return picocolors.createColors(color);
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns whether to color a stream. A non-empty NO_COLOR forbids color. Without NO_COLOR, FORCE_COLOR decides (`0`
 * and `false` mean no). Without either variable, only a terminal that is not `dumb` gets color.
 */
export function wantsColor(env: Environment, isTerminal: boolean): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  return isTerminal && env.TERM !== 'dumb';
}

export function wantsScreen(env: Environment, isTerminal: boolean): boolean {
  const isCi = env.CI !== undefined && env.CI !== '' && env.CI !== '0' && env.CI !== 'false';
  return isTerminal && env.TERM !== 'dumb' && !isCi;
}
