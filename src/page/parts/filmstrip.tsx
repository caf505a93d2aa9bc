import type { ReviewAsset } from '../../contract/review.ts';
import { digitOf, markOf, type ShownGroup } from '../model/shown.ts';
import type { Page } from '../state/page.ts';
import { Small } from './tile.tsx';
import { nameIn } from './words.ts';

/** Maximum number of outputs in the strip. In a larger group, the strip shows the outputs near the active output. */
const most = 24;

interface FilmstripProps {
  page: Page;
  group: ShownGroup;
  placeOf?(asset: ReviewAsset): string | undefined;
}

export function Filmstrip({ page, group, placeOf }: FilmstripProps) {
  const { assets } = group;
  const active = page.active.value;
  const here = assets.findIndex(({ address }) => address === active);
  const from = Math.max(0, Math.min(here - most / 2, assets.length - most));
  return (
    <ul class="filmstrip" aria-label={`Outputs of ${group.group.name}`}>
      {assets.slice(from, from + most).map((asset) => {
        const mark = markOf(asset);
        const place = placeOf?.(asset);
        const digit = digitOf(group, asset);
        return (
          <li key={asset.address}>
            <button
              type="button"
              class={mark}
              aria-pressed={placeOf === undefined ? asset.address === active : place !== undefined}
              onClick={() => page.activate(asset.address, false)}
            >
              <Small asset={asset} />
              <span>
                {digit !== undefined && <kbd>{digit}</kbd>}{' '}
                {[nameIn(group, asset), place, mark === 'undecided' ? undefined : mark].filter(Boolean).join(' · ')}
              </span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}
