import type { RunView, TaskView } from './run-view.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const escapeCharacter = '\u001b';

/** Takes the progress of this tab or window away. */
export const noProgress = sequence(0);

/**
 * True where progress by `OSC 9;4` is known to show: elsewhere it may pop up as a notification. Not within a multiplexer,
 * which inherits the environment of the terminal around it.
 */
export function showsProgress(env: Environment): boolean {
  if (env.TMUX || env.STY || /^(?:screen|tmux)/.test(env.TERM ?? '')) return false;
  if (env.WT_SESSION || env.ConEmuANSI === 'ON') return true;
  if (Number(env.KONSOLE_VERSION) >= 260_400) return true;
  switch (env.TERM_PROGRAM) {
    case 'ghostty':
    case 'WezTerm':
      return true;
    case 'iTerm.app':
      return isAtLeast(env.TERM_PROGRAM_VERSION ?? '', [3, 6, 6]);
    default:
      return false;
  }
}

function isAtLeast(version: string, wanted: readonly number[]): boolean {
  const numbers = version.split('.').map(Number);
  const differs = wanted.findIndex((number, index) => numbers[index] !== number);
  return differs === -1 || (numbers[differs] ?? 0) > (wanted[differs] ?? 0);
}

/** The progress of a run: red when something has failed or spending has stopped, yellow while it waits. */
export function progressSequence(view: RunView): string {
  const ended = [...view.tasks.values()].reduce((sum, { steps, stages }) => {
    const open = (stages.get('working') ?? 0) + (stages.get('running') ?? 0) + (stages.get('saving') ?? 0);
    const named = [...stages.values()].reduce((all, count) => all + count, 0);
    return sum + Math.min(steps, named) - open;
  }, 0);
  const percent = view.steps === 0 ? 0 : Math.floor((100 * Math.max(0, ended)) / view.steps);
  if (view.awaited !== undefined || view.awaitedGates !== undefined) return sequence(4, percent);
  const isBad = view.stopped !== undefined || [...view.tasks.values()].some(({ stages }) => hasFailed(stages));
  if (isBad) return sequence(2, percent);
  return percent === 0 ? sequence(3) : sequence(1, percent);
}

function hasFailed(stages: TaskView['stages']): boolean {
  return (stages.get('failed') ?? 0) + (stages.get('refused') ?? 0) + (stages.get('lost') ?? 0) > 0;
}

/** `state`: 0 none, 1 normal, 2 error, 3 unknown, 4 paused. Ended by ST, which all of them take. */
function sequence(state: 0 | 1 | 2 | 3 | 4, percent = 0): string {
  return `${escapeCharacter}]9;4;${state};${percent}${escapeCharacter}\\`;
}
