import { exitCodes } from '../../contract/exit.ts';
import { CampaignError, type FailureCode, failureOf } from '../../contract/failure.ts';
import { kinds } from '../../kinds/index.ts';
import { kindName } from '../../kinds/read-catalog.ts';
import { safeJson, safeText } from '../../report/safe-text.ts';
import { type ModelRow, modelsJson, modelsText } from '../../report/tables/models-text.ts';
import type { Source } from '../../report/tables/voices-text.ts';
import type { CatalogModel } from '../../service/library.ts';
import { tableOptions } from '../table-options.ts';
import type { Terminal } from '../terminal.ts';
import { hasAccess, withService } from '../with-service.ts';

export interface ModelsOptions {
  kind?: string;
  json?: boolean;
  sandbox?: boolean;
}

/** The models by kind: those that are documented, and what the service's catalog adds where it can be asked. */
export async function models(options: ModelsOptions, terminal: Terminal): Promise<number> {
  const { catalog, source } = await findCatalog(options, terminal);
  const rows = mergeModels(catalog);
  const chosen = options.kind === undefined ? rows : rows.filter(({ kind }) => kind === options.kind);
  const known = [...new Set([...Object.keys(kinds), ...rows.map(({ kind }) => kind)])];
  if (options.kind !== undefined && !known.includes(options.kind)) {
    throw new CampaignError({
      code: 'MB3003',
      message: `there is no kind ${JSON.stringify(options.kind)}`,
      hint: `there are: ${known.join(', ')}`,
      value: options.kind,
      known,
    });
  }
  if (options.json) {
    terminal.out(`${safeJson(modelsJson(chosen, source), 2)}\n`);
    return exitCodes.done;
  }
  terminal.out(modelsText(chosen, tableOptions(terminal)));
  if (source === 'service' && chosen.some(({ credits }) => credits !== null)) {
    terminal.err('credits are for one job, or for each started unit where one is named; a plan prices each request\n');
  }
  const makers = known.filter((kind) => kinds[kind]?.act === 'job');
  const without = makers.filter((kind) => !rows.some((row) => row.kind === kind) && (options.kind ?? kind) === kind);
  if (without.length > 0) {
    const why = source === 'service' ? 'neither the documentation nor the catalog lists' : 'the documentation lists no';
    terminal.err(`${why} models of: ${safeText(without.join(', '))}\n`);
  }
  return exitCodes.done;
}

/** The service gives no catalog, for whatever reason of its own. */
const bearable: ReadonlySet<FailureCode> = new Set(['MB3203', 'MB3204', 'MB3205']);

async function findCatalog(
  options: ModelsOptions,
  terminal: Terminal,
): Promise<{ catalog: CatalogModel[]; source: Source }> {
  const fallBack = (why: string) => {
    terminal.err(`${terminal.style.yellow('notice')} ${why}; these are the models that its documentation lists\n`);
    return { catalog: [], source: 'documented' as const };
  };
  if (!hasAccess(options)) return fallBack('the service was not asked, because MEDIABATCH_API_KEY is not set');
  try {
    return { catalog: await withService(options, ({ library }) => library.catalog()), source: 'service' };
  } catch (error) {
    // The catalog is not documented: a service without one is no reason to show nothing.
    const failure = failureOf(error);
    if (failure === undefined || !bearable.has(failure.code)) throw error;
    return fallBack(safeText(failure.message));
  }
}

/** In the order of the kinds; within a kind the documented ones first. What the catalog charges goes before what is documented. */
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
        ...(facts.aliasOf !== undefined && { aliasOf: facts.aliasOf }),
      });
    }
  }
  for (const entry of catalog) addEntry(rows, entry);
  const order = Object.keys(kinds);
  const place = ({ kind }: ModelRow) => (order.includes(kind) ? order.indexOf(kind) : order.length);
  return rows
    .map((row, index) => ({ row, index }))
    .sort((a, b) => place(a.row) - place(b.row) || a.index - b.index)
    .map(({ row }) => row);
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
      ...(per !== undefined && { per }),
      isDefault: false,
      known: 'catalog',
      notes: description === undefined || description === model ? '' : description,
      ...(aliasOf !== undefined && { aliasOf }),
    });
    return;
  }
  row.known = row.known === 'documented' ? 'both' : row.known;
  if (credits === undefined || (credits === row.credits && per === undefined)) return;
  if (row.credits !== null) row.notes = `${row.notes} Documented: ${row.credits} credits.`.trim();
  row.credits = credits;
  if (per !== undefined) row.per = per;
}
