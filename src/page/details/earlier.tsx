import type { ReviewAsset, ReviewEarlier } from '../../contract/review.ts';
import { Film, Sound, Thumb } from '../parts/media.tsx';
import { credits } from '../parts/words.ts';
import type { Page } from '../state/page.ts';
import { RequestList } from './request-list.tsx';

interface EarlierProps {
  page: Page;
  earlier: ReviewEarlier;
  /** What it is asked for with now. */
  request: ReviewAsset['request'];
}

/** What was bought for an asset before: its picture where that was kept, what it cost, and what it was asked for with. */
export function Earlier({ page, earlier, request }: EarlierProps) {
  const { job, changed, files } = earlier;
  const file = files.find(({ is }) => is !== 'other');
  const facts = [
    earlier.credits === undefined ? '' : credits(earlier.credits),
    job ?? '',
    changed.length === 0 ? 'the same request' : `changed since: ${changed.join(', ')}`,
  ];
  return (
    <div class="earlier">
      {file === undefined && <p class="quiet">Its output is not on this disk any more.</p>}
      {file?.is === 'image' && <Thumb file={file} />}
      {file?.is === 'audio' && <Sound file={file} name={`Earlier version ${job ?? ''}`} />}
      {file?.is === 'video' && <Film file={file} name={`Earlier version ${job ?? ''}`} isPlayer />}
      <p>{facts.filter(Boolean).join(' · ')}</p>
      {changed.length > 0 && <RequestList page={page} request={earlier.request} others={[request]} isBrief />}
    </div>
  );
}
