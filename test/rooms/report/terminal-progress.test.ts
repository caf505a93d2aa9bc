import { expect, test } from 'vitest';
import type { RunFact } from '../../../src/contract/event.ts';
import { foldEvent } from '../../../src/report/run/fold-event.ts';
import { createRunView } from '../../../src/report/run/run-view.ts';
import { progressSequence, showsProgress } from '../../../src/report/run/terminal-progress.ts';
import { at, boughtStep, runStarted } from './samples.ts';

test.each<[string, Record<string, string>, boolean]>([
  ['Windows Terminal', { WT_SESSION: 'c0ffee' }, true],
  ['ConEmu', { ConEmuANSI: 'ON' }, true],
  ['ConEmu without escapes', { ConEmuANSI: 'OFF' }, false],
  ['Ghostty', { TERM_PROGRAM: 'ghostty' }, true],
  ['WezTerm', { TERM_PROGRAM: 'WezTerm' }, true],
  ['iTerm2', { TERM_PROGRAM: 'iTerm.app', TERM_PROGRAM_VERSION: '3.6.6' }, true],
  ['a later iTerm2', { TERM_PROGRAM: 'iTerm.app', TERM_PROGRAM_VERSION: '3.10.0beta1' }, true],
  ['an iTerm2 that shows a notification', { TERM_PROGRAM: 'iTerm.app', TERM_PROGRAM_VERSION: '3.6.5' }, false],
  ['an iTerm2 that does not say which', { TERM_PROGRAM: 'iTerm.app' }, false],
  ['Konsole', { KONSOLE_VERSION: '260400' }, true],
  ['an earlier Konsole', { KONSOLE_VERSION: '251203' }, false],
  ['kitty', { TERM: 'xterm-kitty' }, false],
  ['tmux within a terminal that shows it', { WT_SESSION: 'c0ffee', TMUX: '/tmp/tmux-0' }, false],
  ['screen within such a one', { WT_SESSION: 'c0ffee', STY: '1.pts' }, false],
  ['tmux through ssh', { TERM_PROGRAM: 'ghostty', TERM: 'tmux-256color' }, false],
  ['nothing known', {}, false],
])('%s', (_name, env, shows) => {
  expect(showsProgress(env)).toBe(shows);
});

test('says how far a run is, and in which state', () => {
  const view = createRunView();
  const after = (...facts: RunFact[]) => {
    for (const fact of facts) foldEvent(view, at(0, fact));
    return progressSequence(view).replaceAll('\u001b', '^');
  };
  expect(after(runStarted([{ id: 'hero', kind: 'image', steps: 4 }]))).toBe('^]9;4;3;0^\\');
  expect(after(...boughtStep('hero@1').slice(0, 3))).toBe('^]9;4;3;0^\\');
  expect(after(...boughtStep('hero@2'))).toBe('^]9;4;1;25^\\');
  expect(after({ event: 'credits-awaited', until: '', nextTryAt: '', detail: '' })).toBe('^]9;4;4;25^\\');
  expect(after({ event: 'spending-resumed', waitedMs: 1 })).toBe('^]9;4;1;25^\\');
  const failed = { address: 'hero@1', task: 'hero', outcome: 'failed', credits: 0 } as const;
  expect(after({ event: 'step-finished', ...failed })).toBe('^]9;4;2;50^\\');
});
