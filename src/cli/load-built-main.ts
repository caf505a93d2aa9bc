import { createLoader } from './load-code.ts';

/** From what the build made of the sources. */
export async function loadMain(): Promise<typeof import('./main.ts')> {
  const { fileURLToPath } = process.getBuiltinModule('node:url');
  const load = createLoader(fileURLToPath(new URL('../chunks/', import.meta.url)));
  return load('./main.cjs') as typeof import('./main.ts');
}
