import type { Style } from '../report/style.ts';
import type { Terminal } from './terminal.ts';

/** How tables on stdout look: they fit a terminal, and are whole where stdout is a file or a pipe. */
export function tableOptions(terminal: Terminal): { style: Style; width?: number } {
  return { style: terminal.outStyle, ...(process.stdout.isTTY === true && { width: terminal.outWidth }) };
}
