import { type GitOptions, runGit } from './git-command.ts';

/** Tells whether git has a file of just these bytes, whatever its name; false where there is no repository, or no git. */
export async function isKnownToGit(folder: string, bytes: Buffer): Promise<boolean> {
  const text = bytes.toString('utf8');
  // Git may have given the file other line ends.
  for (const content of new Set([text, text.replaceAll('\r\n', '\n')])) {
    const hashed = await orNothing(folder, ['hash-object', '--no-filters', '--stdin'], { input: content });
    const id = hashed?.toString('utf8').trim();
    if (id !== undefined && (await orNothing(folder, ['cat-file', '-e', id])) !== undefined) return true;
  }
  return false;
}

/** The file as the checked-out commit has it; undefined where it does not. */
export function readCommittedFile(folder: string, name: string): Promise<Buffer | undefined> {
  return orNothing(folder, ['cat-file', 'blob', `HEAD:./${name}`]);
}

/**
 * The file as the last commit of this branch that has it; `commit`: its short id, or `HEAD`. Undefined where none has it,
 * or where git takes too long to say so.
 */
export async function readLastCommitted(
  folder: string,
  name: string,
): Promise<{ bytes: Buffer; commit: string } | undefined> {
  const bytes = await readCommittedFile(folder, name);
  if (bytes !== undefined) return { bytes, commit: 'HEAD' };
  const walk = ['rev-list', '--max-count=1', '--abbrev-commit', 'HEAD', '--', `:(literal)${name}`];
  const removal = (await orNothing(folder, walk, { timeoutMs: mostWalkMs }))?.toString('utf8').trim() ?? '';
  if (removal === '') return undefined;
  for (const parent of [`${removal}^1`, `${removal}^2`]) {
    const earlier = await orNothing(folder, ['cat-file', 'blob', `${parent}:./${name}`]);
    const id = await orNothing(folder, ['rev-parse', '--short', parent]);
    if (earlier !== undefined && id !== undefined) return { bytes: earlier, commit: id.toString('utf8').trim() };
  }
  return undefined;
}

/** Most time for a walk through the history, in ms: a million commits that never had the file are no reason to wait. */
const mostWalkMs = 2000;

async function orNothing(
  folder: string,
  words: readonly string[],
  options: GitOptions = {},
): Promise<Buffer | undefined> {
  try {
    const { code, out } = await runGit(folder, words, options);
    return code === 0 ? out : undefined;
  } catch {
    return undefined;
  }
}
