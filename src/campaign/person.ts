import { hostname, userInfo } from 'node:os';
import { runGit } from '../disk/git/git-command.ts';
import { isPlainText } from '../ground/values.ts';
import { mostReason } from '../lock/decisions.ts';

/** The name that git knows a person by in this folder, else that of the user. */
export async function nameOfPerson(folder: string): Promise<string> {
  return (await nameInGit(folder)) ?? userName() ?? 'an unnamed user';
}

/** The name that git knows a person by in this folder. Undefined: none, or none that a lock would take. */
export async function nameInGit(folder: string): Promise<string | undefined> {
  const { code, out } = await runGit(folder, ['config', 'user.name']).catch(() => ({ code: 1, out: Buffer.alloc(0) }));
  const name = out.toString('utf8').trim();
  return code === 0 && isPlainText(name, mostReason) ? name : undefined;
}

/** The system's name for this user. A user of a container may have none. */
export function userName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}

/** User and machine, as shown to users on other machines. */
export function whoIsHere(): string {
  return `${userName() ?? 'a user'} on ${hostname()}`;
}
