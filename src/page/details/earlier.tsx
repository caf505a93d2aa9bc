import type { ReviewAsset, ReviewEarlier } from '../../contract/review.ts';
import { Film, Sound, Thumb } from '../parts/media.tsx';
import { credits } from '../parts/words.ts';
import type { Page } from '../state/page.ts';
import { RequestList } from './request-list.tsx';

interface EarlierProps {
  page: Page;
  earlier: ReviewEarlier;
  /** Request that asks for it now. */
  request: ReviewAsset['request'];
}

/** Earlier purchases for an asset: the picture where that was kept, its cost, and the request. */
export function Earlier({ page, earlier, request }: EarlierProps) {
  const { job, changed, files } = earlier;
  const file = files.find(({ is }) => is !== 'other');
  const facts = [earlier.credits === undefined ? '' : credits(earlier.credits), job ?? '', wordsOf(earlier)];
  return (
    <div class="earlier">
      {file === undefined && <p class="quiet">Its output is not on this disk any more.</p>}
      {file?.is === 'image' && <Thumb key={file.sha256} file={file} />}
      {file?.is === 'audio' && <Sound file={file} name={`Earlier version ${job ?? ''}`} />}
      {file?.is === 'video' && <Film file={file} name={`Earlier version ${job ?? ''}`} isPlayer />}
      <p>{facts.filter(Boolean).join(' · ')}</p>
      {changed.length > 0 && <RequestList page={page} request={earlier.request} others={[request]} isBrief />}
    </div>
  );
}

/** The lock keeps the request of the newest purchase; of older ones nobody may know it any more. */
function wordsOf({ request, changed }: ReviewEarlier): string {
  if (Object.keys(request).length === 0) return 'what it was asked for with is not in the lock any more';
  return changed.length === 0 ? 'the same request' : `changed since: ${changed.join(', ')}`;
}
