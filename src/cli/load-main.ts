/** From the sources. The build puts `load-built-main.ts` in this place. */
export async function loadMain(): Promise<typeof import('./main.ts')> {
  return import('./main.ts');
}
