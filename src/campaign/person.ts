import { hostname, userInfo } from 'node:os';
import { runGit } from '../disk/git/git-command.ts';
import { isPlainText } from '../ground/values.ts';
import { mostReason } from '../lock/decisions.ts';

export async function nameOfPerson(folder: string): Promise<string> {
  return (await nameInGit(folder)) ?? userName() ?? 'an unnamed user';
}

export async function nameInGit(folder: string): Promise<string | undefined> {
  const { code, out } = await runGit(folder, ['config', 'user.name']).catch(() => ({ code: 1, out: Buffer.alloc(0) }));
  const name = out.toString('utf8').trim();
  return code === 0 && isPlainText(name, mostReason) ? name : undefined;
}

export function userName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}

export function currentUser(): string {
  return `${userName() ?? 'a user'} on ${hostname()}`;
}
