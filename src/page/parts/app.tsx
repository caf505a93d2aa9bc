import { useMemo } from 'preact/hooks';
import { Details } from '../details/details.tsx';
import type { Page, View } from '../state/page.ts';
import { viewOf } from '../views/registry.ts';
import { Actions } from './actions.tsx';
import { Help } from './help.tsx';
import { Address } from './tile.tsx';
import { counted, waitWords } from './words.ts';

export function App({ page }: { page: Page }) {
  const view = viewOf(page);
  const isEmpty = page.strips.value.length === 0;
  return (
    <>
      <Toolbar page={page} />
      <div class="middle">
        <main aria-label={view.label}>
          {isEmpty ? <Empty page={page} /> : <view.Component key={view.name} page={page} />}
        </main>
        {page.hasDetails.value && <Details page={page} />}
      </div>
      <Actions page={page} />
      {page.hasHelp.value && <Help page={page} />}
    </>
  );
}

function Empty({ page }: { page: Page }) {
  if (page.data.value.assets.length === 0) return <p class="empty">The campaign has no steps.</p>;
  return (
    <p class="empty">
      {page.filter.value.undecided && page.counts.value.left === 0
        ? 'Everything is decided.'
        : 'No output passes the filters.'}{' '}
      <button type="button" onClick={() => page.clearFilter()}>
        Show everything
      </button>
    </p>
  );
}

function Toolbar({ page }: { page: Page }) {
  const { campaign, run } = page.data.value;
  const { gates, decided, rejected, waits } = page.counts.value;
  const fresh = page.fresh.value;
  const set = Object.values(page.filter.value).filter(Boolean).length;
  return (
    <header class="top">
      <h1 title={campaign}>
        <Address text={campaign} />
      </h1>
      {gates > 0 && (
        <p class="counts" title={waits.steps > 0 ? waitWords(waits) : undefined}>
          <progress aria-label="Decided" value={decided} max={gates} />
          {`${decided} of ${gates} `}
          <span class="wide">{gates === 1 ? 'group decided' : 'groups decided'}</span>
          {rejected > 0 && ` · ${rejected} ${rejected === 1 ? 'needs' : 'need'} replacements`}
        </p>
      )}
      <p class={page.isForClient ? 'for-client' : `run ${run?.is ?? ''}`} title={run?.text}>
        {run?.text ?? page.data.value.report?.client}
      </p>
      {fresh.length > 0 && (
        <button type="button" class="fresh" title={fresh.join(', ')} onClick={() => page.goFresh()}>
          {counted(fresh.length, 'new output')}
        </button>
      )}
      <Views page={page} />
      <button
        type="button"
        class={set > 0 ? 'show-filters set' : 'show-filters'}
        aria-expanded={page.hasFilters.value}
        onClick={() => {
          page.hasFilters.value = !page.hasFilters.value;
        }}
      >
        Filters{set > 0 && ` · ${set}`}
      </button>
      <Filters page={page} />
    </header>
  );
}

function Views({ page }: { page: Page }) {
  const buttons = (views: readonly View[]) =>
    views.map(({ name, label }) => (
      <button key={name} type="button" aria-pressed={page.view.value === name} onClick={() => page.open(name)}>
        {label}
      </button>
    ));
  const views = page.offer.views.filter(({ isOffered }) => isOffered?.(page.data.value) ?? true);
  const sizes = views.filter(({ size }) => size);
  return (
    <>
      <nav class="views" aria-label="Views">
        {buttons(views.filter(({ size }) => !size))}
      </nav>
      {sizes.length > 0 && (
        <nav class="views sizes" aria-label="Sizes">
          {buttons(sizes)}
        </nav>
      )}
    </>
  );
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
          // A filter with fewer than two values is not shown.
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
          if (event.isComposing || (event.key !== 'Escape' && event.key !== 'Enter')) return;
          event.preventDefault();
          if (event.key === 'Escape') page.setFilter({ text: '' });
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
