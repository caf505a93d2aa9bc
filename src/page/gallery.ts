import type { PackedData } from '../contract/report.ts';
import type { ReviewAsset, ReviewData } from '../contract/review.ts';
import { openGallery } from './gallery/open.ts';
import { unpack } from './gallery/unpack.ts';
import { startPage } from './start.tsx';
import { dataInPage } from './state/host.ts';

function galleryInPage(): ReviewData | undefined {
  const value = dataInPage() as ReviewData | PackedData | undefined;
  if (value === undefined) return undefined;
  const data = 'shapes' in value ? unpack(value) : value;
  if (data.report?.embedded !== undefined) for (const asset of data.assets) showSmallOnes(asset);
  return data;
}

/** Uses thumbnails as pictures: a single-file gallery has no others. */
function showSmallOnes({ files, earlier, before }: ReviewAsset): void {
  for (const file of [...files, ...earlier.flatMap((one) => one.files), ...(before?.files ?? [])]) {
    if (file.thumb !== undefined) file.url ??= file.thumb;
  }
}

startPage({ read: galleryInPage, loadLater: () => import('./gallery/later.ts'), prepare: openGallery });
