import { createRequire } from 'node:module';

/**
 * Returns the instruction to install sharp's native code, which is optional for npm; undefined if it is installed.
 * Loads sharp only if the usual package is not found.
 */
export async function findMissing(
  here = createRequire(import.meta.url),
  load = (): Promise<unknown> => import('sharp'),
): Promise<string | undefined> {
  const name = `@img/sharp-${process.platform}-${process.arch}`;
  try {
    createRequire(here.resolve('sharp')).resolve(`${name}/sharp.node`);
    return undefined;
  } catch {
    const advice = `pictures need the package ${name}, which is not installed; run npm install --include=optional sharp`;
    return load().then(
      () => undefined,
      () => advice,
    );
  }
}
