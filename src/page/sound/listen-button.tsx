import type { ReviewAsset } from '../../contract/review.ts';
import type { Page } from '../state/page.ts';
import { soundsOf } from './state.ts';

/** On a tile: lets its sound be heard, or stops it. */
export function ListenButton({ page, asset }: { page: Page; asset: ReviewAsset }) {
  const sounds = soundsOf(page);
  const deck = sounds.deck.value;
  const heard = deck?.tracks.value.find(({ url }) => url === deck.heard.value);
  const isHeard = heard?.address === asset.address && deck?.isPlaying.value === true;
  return (
    <button
      type="button"
      class="listen"
      aria-pressed={isHeard}
      onClick={() => (isHeard ? sounds.toggle() : sounds.listenTo(asset.address))}
    >
      {isHeard ? 'Stop' : 'Listen'}
      <span class="away"> {asset.address}</span>
    </button>
  );
}
