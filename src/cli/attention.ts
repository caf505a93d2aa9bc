import type { RunReporter } from '../report/run/run-reporter.ts';
import type { RunView } from '../report/run/run-view.ts';
import { noProgress, progressSequence } from '../report/run/terminal-progress.ts';

export interface AttentionOptions {
  view: RunView;
  write(text: string): void;
  /** Ring when people are wanted: at a gate, and at the end. */
  bell: boolean;
  /** Show progress in the tab or window. */
  progress: boolean;
  /** Calls `call` every `ms` until the returned function is called. */
  every(ms: number, call: () => void): () => void;
}

const bell = '\u0007';
const tickMs = 1000;
/** Ticks after which progress is shown anew. Terminals drop it after some 15 s: whoever showed it may be gone. */
const renewTicks = 8;

/** Shows a run on the terminal beside its text. However the process ends, the progress is taken away. */
export function createAttention({ view, write, every, ...options }: AttentionOptions): RunReporter {
  let shown = '';
  let ticks = 0;
  let stopTicking = () => {};
  const clear = () => write(noProgress);
  const show = () => {
    ticks += 1;
    const sequence = progressSequence(view);
    if (sequence === shown && ticks % renewTicks !== 0) return;
    shown = sequence;
    write(sequence);
  };
  return {
    on(event) {
      if (event.event === 'run-started' && options.progress) {
        process.on('exit', clear);
        stopTicking = every(tickMs, show);
        show();
      }
      if (event.event === 'picks-awaited' && options.bell) write(bell);
    },
    async end() {
      stopTicking();
      if (shown !== '') {
        process.off('exit', clear);
        clear();
      }
      if (options.bell) write(bell);
    },
  };
}
