import type { ReviewAsset } from '../../contract/review.ts';
import { markOf, type ShownGroup } from '../model/shown.ts';
import { mainFile, Nothing, Thumb, whyNothing } from '../parts/media.tsx';
import { shortName } from '../parts/words.ts';
import type { Page } from '../state/page.ts';
import { compareOf } from './state.ts';

/** All of the group, small: pressing one puts it on the active side. */
export function Candidates({ page, group }: { page: Page; group: ShownGroup }) {
  const { sides } = compareOf(page);
  if (group.assets.length < 3) return null;
  const sideOf = ({ address }: ReviewAsset) => {
    if (sides.value?.left === address) return 'left';
    return sides.value?.right === address ? 'right' : undefined;
  };
  return (
    <ul class="candidates" aria-label={`Outputs of ${group.group.name}`}>
      {group.assets.map((asset, index) => {
        const side = sideOf(asset);
        const mark = markOf(asset);
        return (
          <li key={asset.address}>
            <button
              type="button"
              class={mark}
              aria-pressed={side !== undefined}
              onClick={() => page.activate(asset.address, false)}
            >
              <Small asset={asset} />
              <span>
                {[shortName(asset, index), side, mark === 'undecided' ? undefined : mark].filter(Boolean).join(' · ')}
              </span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}

function Small({ asset }: { asset: ReviewAsset }) {
  const file = mainFile(asset);
  if (file?.is !== 'image' || whyNothing(asset) !== undefined) return <Nothing text={asset.kind} />;
  return <Thumb key={file.sha256} file={file} />;
}
