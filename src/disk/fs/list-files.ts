import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { foldPath } from '../../graph/fold-path.ts';
import { messageOf } from '../../ground/values.ts';

const mostFiles = 100_000;

export type ListedFiles = { files: string[] } | { problem: 'outside' | 'too-large' | 'unreadable'; detail?: string };

const special = /[*?[\]{}()!+@\\]/;

/**
 * Lists the files below a folder that match a pattern. Ignores case. Returns relative paths, sorted by code unit. Skips
 * hidden files, `node_modules`, outputs of the sandbox, and symbolic links.
 */
export function listFiles(folder: string, given: string): Promise<ListedFiles> {
  const names = given.replace(/^(?:\.\/)+/, '').split('/');
  // Enters only folders that the names at the start of the pattern allow.
  const plain = names.slice(
    0,
    names.findIndex((name) => special.test(name)),
  );
  const deepest = names.includes('**') || /\{[^}]*\//.test(given) ? Number.POSITIVE_INFINITY : names.length;
  return selectFiles(given, async (matches) => {
    const root = await realpath(folder);
    const files: string[] = [];
    const walk = async (parts: readonly string[]): Promise<void> => {
      const wanted = plain[parts.length];
      const entries = await readdir(join(root, ...parts), { withFileTypes: true }).catch(() => []);
      for (const entry of entries) {
        const { name } = entry;
        if (name.startsWith('.') || (wanted !== undefined && foldPath(name) !== foldPath(wanted))) continue;
        const path = [...parts, name];
        const isOpen = entry.isDirectory() && name !== 'node_modules' && !name.endsWith('.sandbox');
        if (isOpen && path.length < deepest) await walk(path);
        if (entry.isFile() && matches(path.join('/'))) files.push(path.join('/'));
      }
    };
    await walk([]);
    return files;
  });
}

export async function selectFiles(
  pattern: string,
  find: (matches: (path: string) => boolean) => string[] | Promise<string[]>,
): Promise<ListedFiles> {
  if (/^[/\\]|^[A-Za-z]:|(^|[/{,(|])\.\.([/},)|]|$)/.test(pattern)) {
    return { problem: 'outside', detail: 'patterns must stay below the folder of the manifest' };
  }
  try {
    const files = await find(await compileFilePattern(pattern));
    if (files.length > mostFiles) return { problem: 'too-large', detail: `more than ${mostFiles} files match` };
    return { files: files.sort() };
  } catch (error) {
    return { problem: 'unreadable', detail: messageOf(error) };
  }
}

async function compileFilePattern(given: string): Promise<(path: string) => boolean> {
  const pattern = given.replace(/^(?:\.\/)+/, '');
  const { compileLinearPattern, PatternProblem } = await import('../../manifest/check/linear-pattern.ts');
  if (pattern.includes('(') || /\{[^{}]*\.\.[^{}]*\}/.test(pattern)) {
    throw new PatternProblem('contains parentheses or a range; use `*`, `?`, `[…]` and `{…,…}`');
  }
  const { test } = compileLinearPattern(`^${toExpression(foldPath(pattern))}$`);
  return (path) => test(foldPath(path));
}

function toExpression(pattern: string): string {
  let depth = 0;
  return pattern.replace(/\*\*\/|\*+|\?|\[!?\]?[^\]/]*\]|\\.|[\s\S]/gu, (piece) => {
    switch (piece) {
      case '**/':
        return '(?:[^/]+/)*';
      case '?':
        return '[^/]';
      case '{':
        depth += 1;
        return '(?:';
      case '}':
        depth -= 1;
        return depth < 0 ? '\\}' : ')';
      case ',':
        return depth > 0 ? '|' : ',';
      default:
    }
    if (piece.startsWith('*')) return piece === '**' ? '.*' : '[^/]*';
    if (/^\[.+\]$/su.test(piece)) return piece.replace(/^\[!/, '[^').replace(/\\/g, '\\\\');
    return piece.replace(/^\\/, '').replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  });
}
