import { useMemo } from 'preact/hooks';
import type { ReportCost, ReportCostTable } from '../../contract/report.ts';
import { counted, credits } from '../parts/words.ts';
import type { LateView, Page } from '../state/page.ts';
import { type CostLine, costLines, givenUp, isKept } from './cost-tables.ts';
import { galleryOf } from './state.ts';

/** Where credits went. */
export const costView: LateView = {
  name: 'cost',
  Component: CostView,
  move: () => undefined,
};

const headings: Record<ReportCostTable['by'], string> = {
  task: 'By task',
  kind: 'By kind',
  tag: 'By tag',
  model: 'By model',
  outcome: 'By what became of it',
};

function CostView({ page }: { page: Page }) {
  const { cost } = galleryOf(page).report;
  if (cost === undefined) return null;
  return (
    <div class="cost">
      <Sums page={page} cost={cost} />
      {cost.tables.map((table) => table.lines.length > 0 && <Table key={table.by} page={page} table={table} />)}
    </div>
  );
}

function Sums({ page, cost }: { page: Page; cost: ReportCost }) {
  const shown = page.shown.value;
  const kept = useMemo(() => [...shown.assets.values()].filter((asset) => isKept(asset, shown)).length, [shown]);
  const { spent, inUse, held, budget } = cost;
  const lost = givenUp(cost);
  const share = lost !== null && spent !== null && spent > 0 ? `, ${Math.round((lost / spent) * 100)} %` : '';
  const sums: [string, string][] = [
    ['Charged', credits(spent)],
    ['In use', credits(inUse)],
    ['Given up', `${credits(lost)}${share}`],
    [`For each of ${kept} kept`, spent === null || kept === 0 ? 'not known' : `${amount(spent / kept)} credits`],
    ...(held > 0 ? [['Reserved for jobs under way', credits(held)] satisfies [string, string]] : []),
    ...(budget === undefined ? [] : [['Budget', credits(budget)] satisfies [string, string]]),
  ];
  return (
    <section class="cost-sums" aria-label="In all">
      <dl>
        {sums.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {budget !== undefined && spent !== null && <BudgetBar cost={cost} spent={spent} budget={budget} />}
    </section>
  );
}

/** Shares of the budget that are in use, given up and held. */
function BudgetBar({ cost, spent, budget }: { cost: ReportCost; spent: number; budget: number }) {
  const whole = Math.max(budget, spent + cost.held, 1);
  const lost = givenUp(cost) ?? 0;
  const parts = [
    { name: 'in use', is: 'use', credits: spent - lost },
    { name: 'given up', is: 'lost', credits: lost },
    { name: 'reserved', is: 'held', credits: cost.held },
    { name: 'free', is: 'free', credits: Math.max(0, budget - spent - cost.held) },
  ].filter((part) => part.credits > 0);
  return (
    <div class="budget">
      <div class="budget-bar" aria-hidden="true">
        {parts.map((part) => (
          <span key={part.is} class={part.is} style={{ width: `${(part.credits / whole) * 100}%` }} />
        ))}
      </div>
      <ul>
        {parts.map((part) => (
          <li key={part.is} class={part.is}>
            {`${part.name} ${amount(part.credits)}`}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Table({ page, table }: { page: Page; table: ReportCostTable }) {
  const shown = page.shown.value;
  const lines = useMemo(() => costLines(table, shown), [table, shown]);
  const hasKept = lines.some(({ kept }) => kept !== undefined);
  return (
    <section class="cost-table">
      <h2 id={`cost-${table.by}`}>{headings[table.by]}</h2>
      <div class="cost-scroll">
        <table aria-labelledby={`cost-${table.by}`}>
          <thead>
            <tr>
              <th scope="col">{table.by}</th>
              <th scope="col" class="number">
                credits
              </th>
              <th scope="col" class="number">
                jobs
              </th>
              {hasKept && (
                <>
                  <th scope="col" class="number">
                    kept
                  </th>
                  <th scope="col" class="number">
                    per kept
                  </th>
                </>
              )}
            </tr>
          </thead>
          <tbody>
            {lines.map((line) => (
              <tr key={line.name}>
                <th scope="row">
                  <Name page={page} by={table.by} line={line} />
                </th>
                <td class="number">{amount(line.credits)}</td>
                <td class="number">{line.jobs}</td>
                {hasKept && (
                  <>
                    <td class="number">{line.kept}</td>
                    <td class="number">{line.perKept === undefined ? '' : amount(line.perKept)}</td>
                  </>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** Its bar lies beneath the name. What can be filtered by leads there. */
function Name({ page, by, line }: { page: Page; by: ReportCostTable['by']; line: CostLine }) {
  const bar = <span class="cost-bar" aria-hidden="true" style={{ width: `${line.part * 100}%` }} />;
  if (by === 'model' || by === 'outcome') {
    return (
      <span class="cost-name">
        {line.name}
        {bar}
      </span>
    );
  }
  const known = [...page.shown.value.assets.values()].filter((asset) =>
    by === 'tag' ? asset.tags.includes(line.name) : asset[by] === line.name,
  );
  if (known.length === 0) {
    return (
      <span class="cost-name">
        {line.name}
        {bar}
      </span>
    );
  }
  return (
    <button
      type="button"
      class="cost-name"
      title={`Show ${counted(known.length, 'output')}`}
      onClick={() => {
        page.clearFilter();
        page.setFilter({ [by]: line.name });
        page.open('grid');
      }}
    >
      {line.name}
      {bar}
    </button>
  );
}

/** At most two places; `?` where nobody knows. */
function amount(number: number | null): string {
  return number === null ? '?' : number.toLocaleString('en', { maximumFractionDigits: 2 });
}
