import type { OpenCampaign } from '../../campaign/open-campaign.ts';
import { exitCodes } from '../../contract/exit.ts';
import { countOf } from '../../report/numbers.ts';
import { safeText } from '../../report/safe-text.ts';
import { type SavedSheets, saveSheets } from '../../review/sheet/save-sheets.ts';
import type { Terminal } from '../terminal.ts';

interface SheetOptions {
  run?: string | undefined;
  compare?: string | undefined;
  select?: string[] | undefined;
  exclude?: string[] | undefined;
  open?: boolean | undefined;
}

/** Captions with boxes in them that are told. */
const mostTold = 5;

/** Writes contact sheets: pictures for where no page can go. */
export async function reportSheet(
  campaign: OpenCampaign,
  path: string,
  { run, compare, select, exclude, open }: SheetOptions,
  { terminal, show }: { terminal: Terminal; show: (path: string) => Promise<unknown> },
): Promise<number> {
  const { err, style, paste } = terminal;
  const saved = await saveSheets(campaign, path, { run, compare, select, exclude, paste });
  for (const name of saved.paths) err(`${style.green('saved')}  ${safeText(name)}\n`);
  err(style.dim(`  ${countOf(saved.tiles, compare === undefined ? 'asset' : 'pair')}${leftText(saved)}\n`));
  err(undrawnText(saved));
  if (open) await show(path);
  return exitCodes.done;
}

function leftText({ left }: SavedSheets): string {
  return left === 0 ? '' : `; ${left} more are on none: choose fewer with --select`;
}

/** Who looks at the sheet sees boxes; who made it can say what they stand for, or add a font. */
function undrawnText({ undrawn }: SavedSheets): string {
  if (undrawn.length === 0) return '';
  const told = undrawn.slice(0, mostTold).map((text) => `    ${safeText(text)}\n`);
  const more = undrawn.length > mostTold ? `    and ${undrawn.length - mostTold} more\n` : '';
  const what = `${countOf(undrawn.length, 'line')} ${undrawn.length === 1 ? 'has' : 'have'}`;
  return `  ${what} boxes for signs that no font of this system has; a font of the Noto family brings them:\n${told.join('')}${more}`;
}
