import { useMemo } from 'preact/hooks';
import type { Page } from '../state/page.ts';
import { counted, waitWords } from './words.ts';

/** Above the views: what is decided, what waits, what a run does; views, filters and search. */
export function Toolbar({ page }: { page: Page }) {
  const { campaign, run, next } = page.data.value;
  return (
    <header class="top">
      <div class="title">
        <h1>{campaign}</h1>
        <p class="counts">{countWords(page)}</p>
        {run !== undefined && <p class={`run ${run.is}`}>{run.text}</p>}
        {next !== undefined && <p class="run">{next}</p>}
      </div>
      <nav class="views" aria-label="Views">
        {page.offer.views.map(({ name, label }) => (
          <button key={name} type="button" aria-pressed={page.view.value === name} onClick={() => page.open(name)}>
            {label}
          </button>
        ))}
      </nav>
      <button
        type="button"
        class="show-filters"
        aria-expanded={page.hasFilters.value}
        onClick={() => {
          page.hasFilters.value = !page.hasFilters.value;
        }}
      >
        Filters
      </button>
      <Filters page={page} />
    </header>
  );
}

function countWords({ counts, shown }: Page): string {
  const { gates, decided, left, rejected, waits } = counts.value;
  if (gates === 0) return `${counted(shown.value.assets.size, 'output')}, and no gate: nothing is to be decided`;
  const parts = [`${decided} of ${counted(gates, 'gate')} decided`];
  if (left > 0) parts.push(`${left} to decide now`);
  if (rejected > 0) parts.push(`${rejected} with nothing left to pick`);
  if (waits.steps > 0) parts.push(waitWords(waits));
  return parts.join(' · ');
}

function Filters({ page }: { page: Page }) {
  const filter = page.filter.value;
  const { assets } = page.data.value;
  const offered = useMemo(
    () =>
      page.offer.facets.map(({ name, valuesOf, values }) => ({
        name,
        values: values ?? distinct(assets.flatMap(valuesOf)),
      })),
    [page, assets],
  );
  return (
    <search class="filters" data-open={page.hasFilters.value}>
      {(page.counts.value.gates > 0 || filter.undecided) && (
        <label>
          <input
            type="checkbox"
            checked={filter.undecided}
            onChange={({ currentTarget }) => page.setFilter({ undecided: currentTarget.checked })}
          />
          Undecided only
        </label>
      )}
      {offered.map(
        ({ name, values }) =>
          // Shown only where there is something to choose between.
          values.length > 1 && (
            <select
              key={name}
              aria-label={name}
              value={filter[name] ?? ''}
              onChange={({ currentTarget }) => page.setFilter({ [name]: currentTarget.value })}
            >
              <option value="">{`Every ${name}`}</option>
              {values.map((value) => (
                <option key={value} value={value}>
                  {value}
                </option>
              ))}
            </select>
          ),
      )}
      <input
        id="search"
        type="search"
        aria-label="Search"
        placeholder="Search /"
        value={filter.text}
        onInput={({ currentTarget }) => page.setFilter({ text: currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' && event.key !== 'Enter') return;
          event.preventDefault();
          event.currentTarget.blur();
          page.activate(page.active.value);
        }}
      />
    </search>
  );
}

function distinct(values: readonly (string | undefined)[]): string[] {
  return [...new Set(values)].filter((value) => value !== undefined);
}
