import type { Page, View } from '../state/page.ts';

/**
 * Placeholder for a view that is loaded after the first picture: it has a button and a key, and renders nothing before.
 */
export function lateView(named: Pick<View, 'name' | 'label' | 'key' | 'isOffered'>): View {
  const find = (page: Page) => page.later.value?.views.find(({ name }) => name === named.name);
  return {
    ...named,
    Component({ page }) {
      const view = find(page);
      return view === undefined ? null : <view.Component page={page} />;
    },
    move: (page, direction) => find(page)?.move(page, direction),
    lead: (page, address, is) => find(page)?.lead?.(page, address, is),
    onKey: (page, press) => find(page)?.onKey?.(page, press) ?? false,
  };
}
