import { access, statfs, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { exitCodes } from '../../contract/exit.ts';
import type { Finding } from '../../contract/notice.ts';
import { syncFolder } from '../../disk/fs/durable.ts';
import { readSmallFile, statPlainFile } from '../../disk/fs/plain-file.ts';
import { temporaryName, writeNewFile } from '../../disk/fs/replace.ts';
import { messageOf } from '../../ground/values.ts';
import { bytesText } from '../../report/numbers.ts';

const about = 'folder';
const littleRoom = 1_000_000_000;
/** In bytes. */
const longestText = 1024 * 1024;

/** Checks the file system of the campaign, and whether git knows about locks and secrets. */
export async function checkFolder(folder: string): Promise<Finding[]> {
  return [...(await checkFileSystem(folder)), ...(await checkRoom(folder)), ...(await checkGit(folder))];
}

async function checkFileSystem(folder: string): Promise<Finding[]> {
  const name = temporaryName('tmp');
  const path = join(folder, name);
  try {
    await writeNewFile(path, Buffer.from('mediabatch doctor\n'));
    try {
      await syncFolder(folder);
      const folded = statPlainFile(join(folder, name.toUpperCase())) !== undefined;
      return [
        { about, state: 'ok', text: 'files can be written here and made durable (fsync)' },
        {
          about,
          state: 'ok',
          text: folded
            ? 'the file system ignores case: output names that differ only in case are refused'
            : 'the file system tells upper from lower case',
        },
      ];
    } finally {
      await unlink(path);
    }
  } catch (error) {
    const message = messageOf(error);
    return [
      {
        about,
        state: 'problem',
        text: `files cannot be written here: ${message}`,
        hint: 'the lock stands beside the manifest and must be writable before anything is bought',
        exit: exitCodes.cannotWrite,
      },
    ];
  }
}

async function checkRoom(folder: string): Promise<Finding[]> {
  try {
    const { bavail, bsize } = await statfs(folder);
    const free = bavail * bsize;
    if (free >= littleRoom) return [{ about, state: 'ok', text: `${bytesText(free)} free` }];
    return [
      { about, state: 'warning', text: `only ${bytesText(free)} free`, hint: 'make room: outputs are saved here' },
    ];
  } catch {
    return [];
  }
}

/** Texts of git's files from here up to the top of the repository. */
async function checkGit(folder: string): Promise<Finding[]> {
  const folders = await foldersOfRepository(folder);
  if (folders === undefined) {
    return [
      {
        about,
        state: 'warning',
        text: 'this is not a git repository',
        hint: 'commit the lock beside the manifest: it is the only record of what was bought',
      },
    ];
  }
  const attributes = readLines(folders, '.gitattributes');
  const ignored = readLines(folders, '.gitignore');
  const hasUnion = attributes.some((line) => /^\S*\*\.lock\.jsonl\s/.test(line) && /\smerge=union(\s|$)/.test(line));
  const covers = (names: readonly string[]) => ignored.some((line) => names.includes(line.replace(/^\/|\/$/g, '')));
  // The folder says so itself once it has been made.
  const ownIgnore = readLines([join(folder, '.mediabatch')], '.gitignore');
  const hasEnv = await exists(join(folder, '.env'));
  const findings: Finding[] = [
    hasUnion
      ? { about, state: 'ok', text: '.gitattributes merges locks by keeping every line' }
      : {
          about,
          state: 'warning',
          text: '.gitattributes does not say how locks are merged, so two branches that buy things will conflict',
          hint: 'add the line: *.lock.jsonl merge=union text eol=lf',
        },
    covers(['.mediabatch', '**/.mediabatch']) || ownIgnore.includes('*')
      ? { about, state: 'ok', text: '.mediabatch is kept out of git' }
      : {
          about,
          state: 'warning',
          text: '.gitignore does not cover .mediabatch, which holds links and state of this machine',
          hint: 'add the line: .mediabatch/',
        },
  ];
  if (hasEnv && !covers(['.env', '.env*', '*.env', '**/.env'])) {
    const text = '.gitignore does not cover .env, which holds your key';
    findings.push({ about, state: 'warning', text, hint: 'add the line: .env' });
  }
  return findings;
}

/** From `folder` up to the one that holds `.git`; undefined outside of any repository. */
async function foldersOfRepository(folder: string): Promise<string[] | undefined> {
  const folders: string[] = [];
  for (let current = folder; ; current = dirname(current)) {
    folders.push(current);
    const isTop = await exists(join(current, '.git'));
    if (isTop) return folders;
    if (dirname(current) === current) return undefined;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}

function readLines(folders: readonly string[], name: string): string[] {
  const lines: string[] = [];
  for (const folder of folders) {
    const text = readSmallFile(join(folder, name), longestText)?.toString('utf8') ?? '';
    lines.push(...text.split(/\r?\n/).map((line) => line.trim()));
  }
  return lines.filter((line) => line !== '' && !line.startsWith('#'));
}
