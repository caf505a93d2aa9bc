import { createRequire } from 'node:module';

/** Returns how to install the native code of sharp, or undefined if it is installed. Loads sharp only if necessary. */
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
