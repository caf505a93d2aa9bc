import { Details } from '../details/details.tsx';
import type { Page } from '../state/page.ts';
import { viewOf } from '../views/registry.ts';
import { Actions } from './actions.tsx';
import { Help } from './help.tsx';
import { Toolbar } from './toolbar.tsx';

/** The whole page. */
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
        : 'Nothing here passes the filters.'}{' '}
      <button type="button" onClick={() => page.clearFilter()}>
        Show everything
      </button>
    </p>
  );
}
