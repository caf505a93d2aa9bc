import { runGit } from './git-command.ts';

/** Tells whether git has a file of just these bytes, whatever its name; false where there is no repository, or no git. */
export async function isKnownToGit(folder: string, bytes: Buffer): Promise<boolean> {
  const text = bytes.toString('utf8');
  // Git may have given the file other line ends.
  for (const content of new Set([text, text.replaceAll('\r\n', '\n')])) {
    const hashed = await orNothing(folder, ['hash-object', '--no-filters', '--stdin'], content);
    const id = hashed?.toString('utf8').trim();
    if (id !== undefined && (await orNothing(folder, ['cat-file', '-e', id])) !== undefined) return true;
  }
  return false;
}

/** The file as the checked-out commit has it; undefined where it does not. */
export function readCommittedFile(folder: string, name: string): Promise<Buffer | undefined> {
  return orNothing(folder, ['cat-file', 'blob', `HEAD:./${name}`]);
}

async function orNothing(folder: string, words: readonly string[], input?: string): Promise<Buffer | undefined> {
  try {
    const { code, out } = await runGit(folder, words, input === undefined ? {} : { input });
    return code === 0 ? out : undefined;
  } catch {
    return undefined;
  }
}
