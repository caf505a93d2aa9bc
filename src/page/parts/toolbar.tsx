import type { Page } from '../state/page.ts';
import { views } from '../views/registry.ts';
import { counted, credits } from './words.ts';

/** Above the views: what is decided, what waits, what a run does; views, filters and search. */
export function Toolbar({ page }: { page: Page }) {
  const { campaign, run } = page.data.value;
  return (
    <header class="top">
      <div class="title">
        <h1>{campaign}</h1>
        <p class="counts">{countWords(page)}</p>
        {run !== undefined && <p class={`run ${run.is}`}>{run.text}</p>}
      </div>
      <nav class="views" aria-label="Views">
        {views.map(({ name, label }) => (
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
  const { gates, decided, left, rejected, waiting, waitingCredits } = counts.value;
  if (gates === 0) return `${counted(shown.value.assets.size, 'output')}, and no gate: nothing is to be decided`;
  const parts = [`${decided} of ${counted(gates, 'gate')} decided`, `${left} left`];
  if (rejected > 0) parts.push(`${rejected} with nothing left to pick`);
  if (waiting > 0) parts.push(`${credits(waitingCredits)} wait in ${counted(waiting, 'step')}`);
  return parts.join(' · ');
}

const states: readonly [value: string, label: string][] = [
  ['', 'Every state'],
  ['picked', 'Picked'],
  ['rejected', 'Rejected'],
  ['done', 'Done'],
  ['changed', 'Input changed'],
  ['running', 'Running'],
  ['failed', 'Failed'],
  ['unresolved', 'Unresolved'],
  ['planned', 'Planned'],
];

function Filters({ page }: { page: Page }) {
  const { undecided, task, kind, state, text } = page.filter.value;
  const { assets } = page.data.value;
  const tasks = [...new Set(assets.map((asset) => asset.task))];
  const kinds = [...new Set(assets.map((asset) => asset.kind))];
  return (
    <search class="filters" data-open={page.hasFilters.value}>
      <label>
        <input
          type="checkbox"
          checked={undecided}
          onChange={({ currentTarget }) => page.setFilter({ undecided: currentTarget.checked })}
        />
        Undecided only
      </label>
      <Choice
        label="Task"
        value={task}
        all="Every task"
        values={tasks}
        onChoose={(value) => page.setFilter({ task: value })}
      />
      <Choice
        label="Kind"
        value={kind}
        all="Every kind"
        values={kinds}
        onChoose={(value) => page.setFilter({ kind: value })}
      />
      <select
        aria-label="State"
        value={state}
        onChange={({ currentTarget }) => page.setFilter({ state: currentTarget.value })}
      >
        {states.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <input
        id="search"
        type="search"
        aria-label="Search"
        placeholder="Search /"
        value={text}
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

interface ChoiceProps {
  label: string;
  value: string;
  all: string;
  values: readonly string[];
  onChoose(value: string): void;
}

/** Shown only where there is something to choose between. */
function Choice({ label, value, all, values, onChoose }: ChoiceProps) {
  if (values.length < 2) return null;
  return (
    <select aria-label={label} value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
      <option value="">{all}</option>
      {values.map((one) => (
        <option key={one} value={one}>
          {one}
        </option>
      ))}
    </select>
  );
}
