import { Isolated } from '../parts/isolated.tsx';
import type { Page } from '../state/page.ts';

/** Other steps, as buttons that lead there. */
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

/** Leads to a step, also where a filter hides it. A step that is not on the page is only named. */
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

/** Makes a step active, also where a filter hides it. */
export function leadTo(page: Page, address: string): void {
  const isShown = page.strips.value.some(({ assets }) => assets.some((asset) => asset.address === address));
  if (!isShown) page.clearFilter();
  page.activate(address);
}
