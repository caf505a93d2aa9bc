import { Isolated } from '../parts/isolated.tsx';
import type { Page } from '../state/page.ts';

export function Steps({ page, title, addresses }: { page: Page; title: string; addresses: readonly string[] }) {
  if (addresses.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul>
        {addresses.map((address) => (
          <li key={address}>
            <StepButton page={page} address={address} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** Button that leads to a step, even if a filter hides it. A step that is not on the page is shown as text. */
export function StepButton({ page, address }: { page: Page; address: string }) {
  if (!page.shown.value.assets.has(address))
    return (
      <code>
        <Isolated text={address} />
      </code>
    );
  return (
    <button type="button" class="step" onClick={() => leadTo(page, address)}>
      <Isolated text={address} />
    </button>
  );
}

/** Makes a step active; clears the filter if it hides the step. */
export function leadTo(page: Page, address: string): void {
  const isShown = page.strips.value.some(({ assets }) => assets.some((asset) => asset.address === address));
  if (!isShown) page.clearFilter();
  page.activate(address);
}
