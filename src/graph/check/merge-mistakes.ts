import type { Diagnostic } from '../../ground/diagnostic.ts';
import type { Expansion } from '../expansion.ts';

const mostNamed = 5;

/**
 * Merges mistakes that several tasks have because of one row of a data file. A mistake that a task has in all of its
 * rows is one of the manifest, and is not merged.
 */
export function mergeMistakes({ diagnostics, rows }: Pick<Expansion, 'diagnostics' | 'rows'>): Diagnostic[] {
  const rowsOfMistake = new Map<string, Set<string>>();
  for (const diagnostic of diagnostics) {
    const at = rowOf(diagnostic);
    if (at === undefined) continue;
    const id = idOf(diagnostic, at.task);
    rowsOfMistake.set(id, (rowsOfMistake.get(id) ?? new Set()).add(at.row));
  }
  const isOfRow = (diagnostic: Diagnostic, { task }: { task: string }) => {
    const all = rows.get(task);
    const count = typeof all === 'object' ? all.rows.length : 0;
    return count === 1 || (rowsOfMistake.get(idOf(diagnostic, task))?.size ?? 0) < count;
  };
  const merged = new Map<string, { first: Diagnostic; task: string; tasks: Set<string> }>();
  const kept: Diagnostic[] = [];
  for (const diagnostic of diagnostics) {
    const at = rowOf(diagnostic);
    const id = at === undefined || !isOfRow(diagnostic, at) ? undefined : idOf(diagnostic, at.row);
    const known = id === undefined ? undefined : merged.get(id);
    if (at === undefined || id === undefined) {
      kept.push(diagnostic);
    } else if (known === undefined) {
      const first = { ...diagnostic };
      merged.set(id, { first, task: at.task, tasks: new Set([at.task]) });
      kept.push(first);
    } else if (known.task === at.task) {
      // The same task may have the mistake at another place too.
      kept.push(diagnostic);
    } else {
      known.tasks.add(at.task);
    }
  }
  for (const { first, tasks } of merged.values()) {
    if (tasks.size > 1) first.trail = [nameTasks([...tasks]), ...(first.trail ?? []).slice(1, 2)];
  }
  return kept;
}

/** Names tasks as a part of a trail, for example `tasks hero, teaser`. */
export function nameTasks(tasks: readonly string[]): string {
  if (tasks.length === 1) return `task ${tasks[0]}`;
  const named = tasks.slice(0, mostNamed).join(', ');
  return tasks.length > mostNamed ? `${tasks.length} tasks: ${named} …` : `tasks ${named}`;
}

/** Returns the task and the row of a mistake, which are the first two parts of its trail. */
function rowOf({ trail }: Diagnostic): { task: string; row: string } | undefined {
  const [first, row] = trail ?? [];
  if (first === undefined || row === undefined || !/^row \d+ of /.test(row)) return undefined;
  return { task: first.replace(/^task /, ''), row };
}

function idOf({ code, message }: Diagnostic, of: string): string {
  return `${code} ${of} ${message}`;
}
