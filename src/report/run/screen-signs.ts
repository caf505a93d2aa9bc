import { isUnicodeSupported } from 'listr2';

/** Signs that the terminal can show. Each takes one column. */
export interface Signs {
  done: string;
  failed: string;
  barDone: string;
  barBusy: string;
  barRest: string;
  /** Signs for what is under way, one after the other. */
  spinner: readonly string[];
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
