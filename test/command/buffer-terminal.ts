import { notCalled, type Terminal } from '../../src/cli/terminal.ts';
import { makeStyle } from '../../src/report/style.ts';

/** A terminal without colours, 100 columns wide, that keeps what it is told. Nobody sits at it. */
export function bufferTerminal(): { terminal: Terminal; said: { out: string; err: string } } {
  const said = { out: '', err: '' };
  const style = makeStyle(false);
  const terminal: Terminal = {
    out(text) {
      said.out += text;
    },
    err(text) {
      said.err += text;
    },
    style,
    outStyle: style,
    width: 100,
    outWidth: 100,
    screen: false,
    interactive: false,
    ...notCalled,
  };
  return { terminal, said };
}
