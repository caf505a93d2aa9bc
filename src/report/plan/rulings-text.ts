import type { Json } from '../../ground/json.ts';
import type { Ruling } from '../../plan/ruling.ts';
import { adviceText, type Paste } from '../advice-text.ts';
import { countOf } from '../numbers.ts';
import { safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';

/** Up to this many rulings with the same result are listed one by one. */
const mostTold = 20;

interface Facts {
  /** The command as the person wrote it. */
  command: string;
  /** `asked`: about to be recorded, if the person agrees. */
  stage: 'recorded' | 'dry run' | 'asked';
}

/** The decisions, step by step, for people. Ends with a line feed. */
export function rulingsText(rulings: readonly Ruling[], { command, stage, style }: Facts & { style: Style }): string {
  const word = stage === 'recorded' ? pastOf(command) : `would ${command}`;
  const lines = [
    ...section(rulings, 'recorded', style.green(word)),
    ...section(rulings, 'unchanged', style.dim('unchanged')),
    ...section(rulings, 'refused', style.yellow('left alone')),
  ];
  if (stage !== 'asked') lines.push(footer(rulings, stage));
  return `${lines.join('\n')}\n`;
}

function footer(rulings: readonly Ruling[], stage: 'recorded' | 'dry run'): string {
  const recorded = rulings.filter(({ is }) => is === 'recorded').length;
  if (recorded === 0) return 'nothing was recorded';
  const steps = countOf(recorded, 'step');
  return stage === 'recorded' ? `${steps} recorded in the lock; 0 credits` : `--dry-run: nothing was recorded`;
}

export function rulingsJson(
  rulings: readonly Ruling[],
  { command, dryRun, paste }: { command: string; dryRun: boolean; paste: Paste },
): Json {
  return {
    mediabatch: 'decisions',
    version: 1,
    command,
    dryRun,
    steps: rulings.map((ruling) => ({
      address: ruling.address,
      result: ruling.is,
      text: ruling.text,
      ...(ruling.is === 'refused' && { hint: adviceText(ruling.hint, paste) }),
    })),
  };
}

function section(rulings: readonly Ruling[], is: Ruling['is'], word: string): string[] {
  const all = rulings.filter((ruling) => ruling.is === is);
  const told = all.slice(0, mostTold).map(({ address, text }) => `${word} ${safeText(`${address}: ${text}`, 1000)}`);
  return all.length > mostTold ? [...told, `${word} … and ${countOf(all.length - mostTold, 'step')} more`] : told;
}

function pastOf(command: string): string {
  switch (command) {
    case 'pin':
      return 'pinned';
    case 'unpin':
      return 'unpinned';
    case 'forget':
      return 'forgotten';
    case 'move':
      return 'moved';
    case 'adopt':
      return 'adopted';
    default:
      return `${command}ed`;
  }
}
