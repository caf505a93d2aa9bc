import type { Tell } from '../contract/notice.ts';
import { adviceText } from '../report/advice-text.ts';
import { diagnosticsGithub } from '../report/diagnostics/diagnostics-github.ts';
import { diagnosticsText } from '../report/diagnostics/diagnostics-text.ts';
import { safeText } from '../report/safe-text.ts';
import { toCheckoutPath } from './checkout-path.ts';
import type { Terminal } from './terminal.ts';

const longestText = 2000;

/** Shows notices of the application to whoever sits at the terminal. */
export function tellOn(terminal: Pick<Terminal, 'err' | 'style' | 'github' | 'paste'>): Tell {
  const { err, style, github } = terminal;
  return (notice) => {
    switch (notice.is) {
      case 'notice': {
        const mark = notice.code === undefined ? 'notice' : `notice ${notice.code}`;
        const hint = notice.hint === undefined ? '' : `  → ${adviceText(notice.hint, terminal.paste)}\n`;
        return err(`${style.yellow(mark)} ${safeText(notice.text, longestText)}\n${hint}`);
      }
      case 'waiting':
      case 'cannot reach':
        return err(`${style.yellow(notice.is)} ${safeText(notice.text, longestText)}\n`);
      case 'connecting':
        return err(`connecting to ${safeText(notice.text)} …\n`);
      case 'diagnostics': {
        const { diagnostics, sources } = notice;
        err(diagnosticsText(diagnostics, sources, { style }));
        return github?.(diagnosticsGithub(diagnostics, { toCheckoutPath, limit: true }));
      }
      default:
        return notice satisfies never;
    }
  };
}
