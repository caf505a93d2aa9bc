import { exitCodes } from '../../contract/exit.ts';
import { CampaignError, type FailureCode, failureOf } from '../../contract/failure.ts';
import { defined } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import { kindName } from '../../kinds/read-catalog.ts';
import { voices as documentedVoices } from '../../kinds/voices.ts';
import { isAssetUrl } from '../../lock/check-line.ts';
import { line } from '../../report/document.ts';
import { safeText } from '../../report/safe-text.ts';
import {
  type ModelRow,
  modelsJson,
  modelsView,
  type Source,
  type VoiceRow,
  voicesJson,
  voicesView,
} from '../../report/tables/models-text.ts';
import type { CatalogModel, Library, Voice } from '../../service/library.ts';
import { outJson, show, type Terminal, tell, tellNotice } from '../terminal.ts';
import { hasAccess, type ServiceOptions, tellLinksEnd, withService } from '../with-service.ts';

interface ModelsOptions {
  kind?: string;
  json?: boolean;
  sandbox?: boolean;
}

export async function models(options: ModelsOptions, terminal: Terminal): Promise<number> {
  const wanted = { documented: [], ask: (library: Library) => library.catalog() };
  const { listed, source } = await askService<CatalogModel[]>('models', wanted, { options, terminal });
  const rows = mergeModels(listed);
  const chosen = options.kind === undefined ? rows : rows.filter(({ kind }) => kind === options.kind);
  const known = [...new Set([...Object.keys(kinds), ...rows.map(({ kind }) => kind)])];
  if (options.kind !== undefined && !known.includes(options.kind)) {
    refuse(`there is no kind ${JSON.stringify(options.kind)}`, { value: options.kind, known });
  }
  if (options.json) {
    outJson(terminal, modelsJson(chosen, source));
    return exitCodes.done;
  }
  show(terminal, modelsView(chosen));
  if (source === 'service' && chosen.some(({ credits }) => credits !== null)) {
    tell(
      terminal,
      line('credits are for one job, or for each started unit where one is named; a plan prices each request'),
    );
  }
  const makers = known.filter((kind) => kinds[kind]?.act === 'job');
  const without = makers.filter((kind) => !rows.some((row) => row.kind === kind) && (options.kind ?? kind) === kind);
  if (without.length > 0) {
    const why = source === 'service' ? 'neither the documentation nor the catalog lists' : 'the documentation lists no';
    tell(terminal, line(`${why} models of: ${without.join(', ')}`));
  }
  return exitCodes.done;
}

/**
 * Queries the service. Without an API key or a catalog, `documented` is returned. The catalog is undocumented, so a
 * service without one is no error.
 */
async function askService<Listed>(
  what: 'models' | 'voices',
  { documented, ask }: { documented: Listed; ask: (library: Library) => Promise<Listed> },
  { options, terminal }: { options: ServiceOptions; terminal: Terminal },
): Promise<{ listed: Listed; source: Source }> {
  const fallBack = (why: string) => {
    tellNotice(terminal, `${why}; these are the ${what} that its documentation lists`);
    return { listed: documented, source: 'documented' as const };
  };
  if (!hasAccess(options)) return fallBack('the service was not asked, because MEDIABATCH_API_KEY is not set');
  try {
    return { listed: await withService(options, ({ library }) => ask(library)), source: 'service' };
  } catch (error) {
    const failure = failureOf(error);
    const bearable: FailureCode[] = ['MB3203', 'MB3204', ...(what === 'models' ? (['MB3205'] as const) : [])];
    if (failure === undefined || !bearable.includes(failure.code)) throw error;
    return fallBack(safeText(failure.message));
  }
}

function refuse(message: string, { value, hint, known }: { value: string; hint?: string; known?: string[] }): never {
  const of = { value, ...defined({ known }) };
  throw new CampaignError({ code: 'MB3000', message, hint: hint ?? `there are: ${known?.join(', ')}`, ...of });
}

/**
 * Merges models in the order of the kinds; within a kind the documented ones come first. Prices of the catalog
 * override documented prices.
 */
function mergeModels(catalog: readonly CatalogModel[]): ModelRow[] {
  const rows: ModelRow[] = [];
  for (const kind of Object.values(kinds)) {
    for (const [model, facts] of Object.entries(kind.model?.models ?? {})) {
      rows.push({
        kind: kind.name,
        model,
        credits: facts.credits ?? null,
        isDefault: kind.model?.default === model,
        known: 'documented',
        notes: facts.description,
        ...defined({ aliasOf: facts.aliasOf }),
      });
    }
  }
  for (const entry of catalog) addEntry(rows, entry);
  const order = Object.keys(kinds);
  const place = ({ kind }: ModelRow) => (order.includes(kind) ? order.indexOf(kind) : order.length);
  return rows.sort((a, b) => place(a) - place(b));
}

function addEntry(rows: ModelRow[], { model, kind, credits, per, aliasOf, description }: CatalogModel): void {
  const row = rows.find(
    (known) => known.model === model && (kind === undefined || known.kind === kindName(kind, kinds)),
  );
  if (row === undefined) {
    rows.push({
      kind: kind === undefined ? '?' : kindName(kind, kinds),
      model,
      credits: credits ?? null,
      ...defined({ per }),
      isDefault: false,
      known: 'catalog',
      notes: description === undefined || description === model ? '' : description,
      ...defined({ aliasOf }),
    });
    return;
  }
  row.known = row.known === 'documented' ? 'both' : row.known;
  if (credits === undefined || (credits === row.credits && per === undefined)) return;
  if (row.credits !== null) row.notes = `${row.notes} Documented: ${row.credits} credits.`.trim();
  row.credits = credits;
  if (per !== undefined) row.per = per;
}

interface VoicesOptions {
  gender?: string;
  accent?: string;
  /** Voice id. If given, only the link of its sample is printed. */
  play?: string;
  json?: boolean;
  sandbox?: boolean;
}

/** Lists the voices for voiceovers. Without an API key, those of the documentation. */
export async function voices(options: VoicesOptions, terminal: Terminal): Promise<number> {
  const { listed: rows, source } = await findVoices(options, terminal);
  if (options.play !== undefined) {
    terminal.out(`${safeText(previewOf(rows, options.play), 4096)}\n`);
    tellLinksEnd(options, terminal);
    return exitCodes.done;
  }
  const chosen = filterVoices(rows, options);
  if (options.json) outJson(terminal, voicesJson(chosen, source));
  else show(terminal, voicesView(chosen));
  if (chosen.length === 0) terminal.err('the service lists no voices\n');
  return exitCodes.done;
}

async function findVoices(options: VoicesOptions, terminal: Terminal): Promise<{ listed: VoiceRow[]; source: Source }> {
  const ask = async (library: Library) => (await library.voices()).map(rowOf);
  // The documented list has no samples.
  if (options.play !== undefined) {
    return { listed: await withService(options, ({ library }) => ask(library)), source: 'service' };
  }
  const documented = Object.entries(documentedVoices).map(([id, facts]) => ({ id, ...facts }));
  return askService<VoiceRow[]>('voices', { documented, ask }, { options, terminal });
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
      refuse(`no voice has the ${field} ${JSON.stringify(options[field])}`, { value: wanted, known: values });
    }
    chosen = chosen.filter((row) => row[field].toLowerCase() === wanted);
  }
  if (chosen.length > 0 || rows.length === 0) return chosen;
  const accents = new Set(
    rows.filter(({ gender }) => gender.toLowerCase() === options.gender?.toLowerCase()).map(({ accent }) => accent),
  );
  return refuse(`no voice is both ${options.gender} and ${options.accent}`, {
    hint: `${options.gender} voices are: ${[...accents].sort().join(', ')}`,
    value: options.accent ?? '',
  });
}

function previewOf(rows: VoiceRow[], id: string): string {
  const voice = rows.find((row) => row.id === id) ?? rows.find((row) => row.id.toLowerCase() === id.toLowerCase());
  if (voice === undefined) {
    return refuse(`there is no voice ${JSON.stringify(id)}`, { value: id, known: rows.map((row) => row.id) });
  }
  if (voice.previewUrl === undefined) {
    return refuse(`the service has no sample of ${voice.id}`, { hint: 'try another voice', value: voice.id });
  }
  return safeText(voice.previewUrl, 2048);
}
