import type { OpenCampaign } from '../../campaign/open-campaign.ts';
import { exitCodes } from '../../contract/exit.ts';
import { countOf } from '../../report/numbers.ts';
import { safeText } from '../../report/safe-text.ts';
import { type SavedSheets, saveSheets } from '../../review/sheet/save-sheets.ts';
import type { Terminal } from '../terminal.ts';

interface SheetOptions {
  open?: boolean;
  compare?: string;
  select?: string[];
  exclude?: string[];
}

/** Captions of other scripts that are told. */
const mostTold = 5;

/** Writes contact sheets: pictures for where no page can go. */
export async function reportSheet(
  campaign: OpenCampaign,
  path: string,
  { compare, select, exclude, open }: SheetOptions,
  { terminal, show }: { terminal: Terminal; show: (path: string) => Promise<unknown> },
): Promise<number> {
  const { err, style, paste } = terminal;
  const saved = await saveSheets(campaign, path, { compare, select, exclude, paste });
  for (const name of saved.paths) err(`${style.green('saved')}  ${safeText(name)}\n`);
  err(style.dim(`  ${countOf(saved.tiles, compare === undefined ? 'asset' : 'pair')}${leftText(saved)}\n`));
  err(otherScriptsText(saved));
  if (open) await show(path);
  return exitCodes.done;
}

function leftText({ left }: SavedSheets): string {
  return left === 0 ? '' : `; ${left} more are on none: choose fewer with --select`;
}

/** Who looks at the sheet may see boxes; who made it can say what they stand for, or add a font. */
function otherScriptsText({ otherScripts }: SavedSheets): string {
  if (otherScripts.length === 0) return '';
  const told = otherScripts.slice(0, mostTold).map((text) => `    ${safeText(text)}\n`);
  const more = otherScripts.length > mostTold ? `    and ${otherScripts.length - mostTold} more\n` : '';
  const what = `${countOf(otherScripts.length, 'line')} ${otherScripts.length === 1 ? 'has' : 'have'}`;
  return `  ${what} signs that fonts of this system must have, or boxes stand in their place; those of the Noto family bring them:\n${told.join('')}${more}`;
}
