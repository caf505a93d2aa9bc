import { type DeliverOptions, deliver, deliveryIndex } from '../../campaign/deliver.ts';
import { exitCodes } from '../../contract/exit.ts';
import { call } from '../../ground/advice.ts';
import { countOf } from '../../report/numbers.ts';
import { safeText, shortList } from '../../report/safe-text.ts';
import { open, type StateOptions } from '../open.ts';
import type { Terminal } from '../terminal.ts';

const mostNamed = 10;

export async function deliverOutputs(
  file: string,
  options: StateOptions & DeliverOptions,
  terminal: Terminal,
): Promise<number> {
  const campaign = await open(file, options, terminal);
  const { copied, replaced, there, undecided } = await deliver(campaign, options, process.env);
  const { to = '' } = options;
  const over = replaced.length === 0 ? '' : `, ${replaced.length} replacing an earlier copy`;
  const before = `${over}${there.length === 0 ? '' : `, ${there.length} already copied`}`;
  if (options.dryRun === true) {
    terminal.out(copied.map((name) => `${safeText(below(to, name))}\n`).join(''));
    terminal.err(`${countOf(copied.length, 'file')} to copy${before}\n`);
  } else {
    const list = copied.length + there.length === 0 ? '' : `; listed in ${below(to, deliveryIndex)}`;
    terminal.err(
      `${terminal.style.green('copied')} ${safeText(`${countOf(copied.length, 'file')}${before}${list}`)}\n`,
    );
  }
  if (undecided.length === 0) return exitCodes.done;
  const groups = `${countOf(undecided.length, 'group')}: ${shortList(undecided, mostNamed)}`;
  terminal.err(
    `not copied, because the gates are undecided: ${groups}\nto decide: ${terminal.paste(call('review'))}\n`,
  );
  return exitCodes.waitsForPerson;
}

function below(to: string, name: string): string {
  return to.endsWith('/') ? `${to}${name}` : `${to}/${name}`;
}
