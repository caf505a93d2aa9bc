import type { RequestBodies } from '../contract/state.ts';

const firstOf = (key: string) => `${key}-first`;

/**
 * Keeps a body before it is sent. If others were sent under this key, and answered, the first of them stays beside it:
 * a key belongs to the bytes that it came with first, and a lock may have lost what became of them.
 */
export async function keepBody(bodies: RequestBodies, { key, body }: { key: string; body: string }): Promise<void> {
  const before = await bodies.read(key);
  if (before !== undefined && before !== body && (await bodies.read(firstOf(key))) === undefined) {
    await bodies.keep(firstOf(key), before);
  }
  await bodies.keep(key, body);
}

/** The bytes that a key came with first, as far as this machine knows, where they are not those sent last. */
export function readFirstBody(bodies: RequestBodies, key: string): Promise<string | undefined> {
  return bodies.read(firstOf(key));
}
