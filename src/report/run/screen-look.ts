import { isUnicodeSupported } from 'listr2';
import type { Mark } from '../document.ts';
import type { Style } from '../style.ts';
import type { PlannedWork } from './planned-work.ts';
import type { RunTimes } from './run-time.ts';
import { type Piece, piece } from './screen-line.ts';

/** Characters for states that the terminal can show. Each takes one column. */
interface Signs {
  done: string;
  failed: string;
  barDone: string;
  barBusy: string;
  barRest: string;
  spinner: readonly string[];
}

export interface Look {
  columns: number;
  rows: number;
  style: Style;
  signs: Signs;
  /** Ms since 1970. */
  now: number;
  startedAt: number;
  frame: number;
  planned: PlannedWork;
  times: RunTimes;
  page: string | undefined;
  /** Whether the run has ended, so that steps that have not started stay so. */
  isOver: boolean;
}

/** Returns whether words are replaced by single characters. */
export function isNarrow({ columns }: Pick<Look, 'columns'>): boolean {
  return columns < 70;
}

/** Returns whether there is space for rates and expected values. */
export function isWide({ columns }: Pick<Look, 'columns'>): boolean {
  return columns > 100;
}

/** Returns a bar. Any work in progress is visible, and the bar is full only when all is done. */
export function barPieces({ all, done, busy }: { all: number; done: number; busy: number }, look: Look): Piece[] {
  const width = isNarrow(look) ? 10 : isWide(look) ? 24 : 16;
  const { barDone, barBusy, barRest } = look.signs;
  const cells = (count: number) => (all <= 0 ? 0 : Math.min(width, Math.floor((count / all) * width)));
  const doneCells = cells(done);
  const busyCells = busy <= 0 ? 0 : Math.min(width - doneCells, Math.max(1, cells(done + busy) - doneCells));
  return [
    bar(barDone, doneCells, 'good'),
    bar(barBusy, busyCells, 'active'),
    bar(barRest, width - doneCells - busyCells, 'faint'),
  ];
}

function bar(sign: string, width: number, mark: Mark): Piece {
  return { ...piece('', mark), text: sign.repeat(width), width };
}

export const unicodeSigns: Signs = {
  done: '✔',
  failed: '✖',
  barDone: '█',
  barBusy: '▒',
  barRest: '·',
  spinner: ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'],
};

const plainSigns: Signs = {
  done: '+',
  failed: 'x',
  barDone: '#',
  barBusy: '=',
  barRest: '.',
  spinner: ['-', '\\', '|', '/'],
};

export function signsOfTerminal(): Signs {
  return isUnicodeSupported() ? unicodeSigns : plainSigns;
}
