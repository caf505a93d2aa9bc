import { exitCodes } from '../../contract/exit.ts';
import { CampaignError, failureOf } from '../../contract/failure.ts';
import { voices as documentedVoices } from '../../kinds/voices.ts';
import { isAssetUrl } from '../../lock/check-line.ts';
import { safeJson, safeText } from '../../report/safe-text.ts';
import { type Source, type VoiceRow, voicesJson, voicesText } from '../../report/tables/voices-text.ts';
import type { Voice } from '../../service/library.ts';
import { tableOptions } from '../table-options.ts';
import type { Terminal } from '../terminal.ts';
import { hasAccess, tellLinksEnd, withService } from '../with-service.ts';

export interface VoicesOptions {
  gender?: string;
  accent?: string;
  /** A voice_id: print nothing but the link of its sample. */
  play?: string;
  json?: boolean;
  sandbox?: boolean;
}

/** The voices that a voiceover can have. Without a key: those that the documentation lists. */
export async function voices(options: VoicesOptions, terminal: Terminal): Promise<number> {
  const { rows, source } = await findVoices(options, terminal);
  if (options.play !== undefined) {
    terminal.out(`${safeText(previewOf(rows, options.play), 4096)}\n`);
    tellLinksEnd(options, terminal);
    return exitCodes.done;
  }
  const chosen = filterVoices(rows, options);
  if (options.json) terminal.out(`${safeJson(voicesJson(chosen, source), 2)}\n`);
  else terminal.out(voicesText(chosen, tableOptions(terminal)));
  if (chosen.length === 0) terminal.err('the service lists no voices\n');
  return exitCodes.done;
}

async function findVoices(options: VoicesOptions, terminal: Terminal): Promise<{ rows: VoiceRow[]; source: Source }> {
  const documented = Object.entries(documentedVoices).map(([id, facts]) => ({ id, ...facts }));
  // The documentation has no samples.
  const mustAsk = options.play !== undefined;
  const fallBack = (why: string) => {
    terminal.err(`${terminal.style.yellow('notice')} ${why}; these are the voices that its documentation lists\n`);
    return { rows: documented, source: 'documented' as const };
  };
  if (!mustAsk && !hasAccess(options))
    return fallBack('the service was not asked, because MEDIABATCH_API_KEY is not set');
  try {
    const rows = await withService(options, async ({ library }) => (await library.voices()).map(rowOf));
    return { rows, source: 'service' };
  } catch (error) {
    const failure = failureOf(error);
    if (mustAsk || (failure?.code !== 'MB3203' && failure?.code !== 'MB3204')) throw error;
    return fallBack(safeText(failure.message));
  }
}

function rowOf({ id, gender, accent, label, description, previewUrl }: Voice): VoiceRow {
  return { id, gender, accent, label, description, ...(isAssetUrl(previewUrl) && { previewUrl }) };
}

function filterVoices(rows: VoiceRow[], options: VoicesOptions): VoiceRow[] {
  let chosen = rows;
  for (const field of ['gender', 'accent'] as const) {
    const wanted = options[field]?.trim().toLowerCase();
    if (wanted === undefined) continue;
    const values = [...new Set(rows.map((row) => row[field].toLowerCase()))].sort();
    if (!values.includes(wanted)) {
      throw new CampaignError({
        code: 'MB3003',
        message: `no voice has the ${field} ${JSON.stringify(options[field])}`,
        hint: `there are: ${values.join(', ')}`,
        value: wanted,
        known: values,
      });
    }
    chosen = chosen.filter((row) => row[field].toLowerCase() === wanted);
  }
  if (chosen.length > 0 || rows.length === 0) return chosen;
  const accents = new Set(
    rows.filter(({ gender }) => gender.toLowerCase() === options.gender?.toLowerCase()).map(({ accent }) => accent),
  );
  throw new CampaignError({
    code: 'MB3003',
    message: `no voice is both ${options.gender} and ${options.accent}`,
    hint: `${options.gender} voices are: ${[...accents].sort().join(', ')}`,
    value: options.accent ?? '',
  });
}

function previewOf(rows: VoiceRow[], id: string): string {
  const voice = rows.find((row) => row.id === id) ?? rows.find((row) => row.id.toLowerCase() === id.toLowerCase());
  if (voice === undefined) {
    throw new CampaignError({
      code: 'MB3003',
      message: `there is no voice ${JSON.stringify(id)}`,
      hint: `there are: ${rows.map((row) => row.id).join(', ')}`,
      value: id,
      known: rows.map((row) => row.id),
    });
  }
  if (voice.previewUrl === undefined) {
    throw new CampaignError({
      code: 'MB3003',
      message: `the service has no sample of ${voice.id}`,
      hint: 'try another voice',
      value: voice.id,
    });
  }
  return safeText(voice.previewUrl, 2048);
}
