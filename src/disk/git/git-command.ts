import { execFile } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CampaignError } from '../../contract/failure.ts';
import { shell, way } from '../../ground/advice.ts';

interface GitAnswer {
  code: number;
  out: Buffer;
  /** Stderr. Output of git on stderr, always in English. */
  err: string;
}

interface GitOptions {
  input?: string;
  /** Maximum number of bytes on stdout. Defaults to 64 MiB. */
  mostBytes?: number;
  timeoutMs?: number;
}

const gitTimeoutMs = 60_000;
const defaultMostBytes = 64 * 1024 ** 2;

/**
 * Disables git settings that could run a program, prompt, write files, or change git's output. Filters and text
 * conversions need no entry, because mediabatch only runs git commands that read objects.
 */
const harmless = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'core.pager=cat',
  'core.askPass=',
  'core.alternateRefsCommand=',
  'credential.helper=',
  'color.ui=false',
  'diff.external=',
  'diff.orderFile=/dev/null',
  'format.pretty=medium',
  'i18n.logOutputEncoding=UTF-8',
  'gc.auto=0',
  'log.follow=false',
  'log.showSignature=false',
  'maintenance.auto=false',
  // A git branch may contain a bare repository, whose configuration git would use.
  'safe.bareRepository=explicit',
];

/** Runs git in a folder. Resolves with the exit code, even if it is not 0. */
export function runGit(folder: string, words: readonly string[], options: GitOptions = {}): Promise<GitAnswer> {
  const { input, mostBytes = defaultMostBytes, timeoutMs = gitTimeoutMs } = options;
  return new Promise((resolve, reject) => {
    const child = execFile(
      'git',
      gitWords(folder, words),
      { ...gitProcess(), encoding: 'buffer', timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: mostBytes },
      (error, out, err) => {
        if (error === null) return resolve({ code: 0, out, err: err.toString('utf8') });
        if (typeof error.code === 'number') return resolve({ code: error.code, out, err: err.toString('utf8') });
        reject(gitProblem(error, words));
      },
    );
    // git may exit before it has read all of its input.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input ?? '');
  });
}

/** Runs git and returns its stdout. Throws if the exit code is not 0. */
export async function askGit(folder: string, words: readonly string[], options: GitOptions = {}): Promise<Buffer> {
  const { code, out, err } = await runGit(folder, words, options);
  if (code === 0) return out;
  throw gitRefusal(words, err);
}

function gitWords(folder: string, words: readonly string[]): string[] {
  const config = harmless.flatMap((setting) => ['-c', setting]);
  return ['--no-pager', '--no-optional-locks', ...config, '-C', folder, ...words];
}

function gitProcess(): { cwd: string; env: NodeJS.ProcessEnv; windowsHide: true } {
  const env: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(process.env)) if (isKept(name)) env[name] = value;
  Object.assign(env, {
    LC_ALL: 'C',
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_NO_LAZY_FETCH: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
  });
  return { cwd: dirname(process.execPath), env, windowsHide: true };
}

/**
 * Returns whether the git process gets an environment variable. Of the variables `GIT_…`, passes only those with which
 * a user marks repositories as trusted.
 */
function isKept(name: string): boolean {
  if (/^(LC_|LANG)/.test(name)) return false;
  return !/^GIT_/i.test(name) || /^GIT_(CONFIG|CEILING_DIRECTORIES$|DISCOVERY_ACROSS_FILESYSTEM$)/.test(name);
}

function gitProblem(error: Error & { code?: unknown; killed?: boolean }, words: readonly string[]): Error {
  if (error.code === 'ENOENT' || error.code === 'EACCES' || error.code === 'ENOTDIR') {
    return new CampaignError({
      code: 'MB3605',
      message: 'git cannot be run: PATH contains no program with this name',
      hint: 'install git, or add the folder of git to PATH',
    });
  }
  const why =
    error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER'
      ? 'produced more output than can be read'
      : `was ended after ${gitTimeoutMs / 1000} s without an answer`;
  return new CampaignError({ code: 'MB3606', message: `git ${words[0]} ${why}` });
}

export function gitRefusal(words: readonly string[], err: string): CampaignError {
  const [line = ''] = err.split('\n').filter((one) => /^(fatal|error): /.test(one));
  const said = line.replace(/^(fatal|error): /, '') || 'git gave no reason';
  const isPartial = /promisor|lazy|could not fetch|transport '.*' not allowed/.test(err);
  return new CampaignError({
    code: 'MB3606',
    message: `git ${words[0]} failed: ${said}`,
    ...(isPartial && {
      hint: way('this is a partial clone; to fetch the missing objects', shell('git', 'fetch', '--refetch')),
    }),
  });
}

export async function findCheckedOutCommit(folder: string): Promise<string | undefined> {
  const out = await orUndefined(folder, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}']);
  return out?.toString('latin1').trim();
}

/** Content of a file in git. `source` is `index`, `HEAD`, or a short commit id. */
interface GitVersion {
  bytes: Buffer;
  source: string;
}

/**
 * Returns the versions of a file in the index and, if it differs, in HEAD. If neither has the file, returns the version
 * of the last commit that had it. Returns an empty list if no commit has the file, or if git takes too long.
 */
export async function readVersions(folder: string, name: string): Promise<GitVersion[]> {
  const read = (object: string) => orUndefined(folder, ['cat-file', 'blob', `${object}:./${name}`]);
  const staged = await read('');
  const committed = await read('HEAD');
  const versions = [
    ...(staged === undefined ? [] : [{ bytes: staged, source: 'index' }]),
    ...(committed === undefined || staged?.equals(committed) === true ? [] : [{ bytes: committed, source: 'HEAD' }]),
  ];
  if (versions.length > 0) return versions;
  const walk = ['rev-list', '--max-count=1', '--abbrev-commit', 'HEAD', '--', `:(literal)${name}`];
  const removal = (await orUndefined(folder, walk, { timeoutMs: mostWalkMs }))?.toString('utf8').trim() ?? '';
  if (removal === '') return [];
  for (const parent of [`${removal}^1`, `${removal}^2`]) {
    const earlier = await read(parent);
    const id = await orUndefined(folder, ['rev-parse', '--short', parent]);
    if (earlier !== undefined && id !== undefined) return [{ bytes: earlier, source: id.toString('utf8').trim() }];
  }
  return [];
}

/** Timeout in ms of a search through the git history. */
const mostWalkMs = 2000;

async function orUndefined(
  folder: string,
  words: readonly string[],
  options: GitOptions = {},
): Promise<Buffer | undefined> {
  try {
    if (!mayHaveRepository(realpathSync(folder))) return undefined;
    const { code, out } = await runGit(folder, words, options);
    return code === 0 ? out : undefined;
  } catch {
    return undefined;
  }
}

function mayHaveRepository(folder: string): boolean {
  if (existsSync(join(folder, '.git'))) return true;
  const above = dirname(folder);
  return above !== folder && mayHaveRepository(above);
}
