import type { PackedData } from '../contract/report.ts';
import type { ReviewAsset, ReviewData } from '../contract/review.ts';
import { openGallery } from './gallery/open.ts';
import { unpack } from './gallery/unpack.ts';
import { startPage } from './start.tsx';

async function galleryInPage(): Promise<ReviewData> {
  const text = document.getElementById('data')?.textContent ?? '';
  const value = JSON.parse(text) as ReviewData | PackedData;
  const data = 'shapes' in value ? unpack(value) : value;
  if (data.report?.embedded !== undefined) for (const asset of data.assets) showSmallOnes(asset);
  return data;
}

function showSmallOnes({ files, earlier, report }: ReviewAsset): void {
  for (const file of [...files, ...earlier.flatMap((one) => one.files), ...(report?.before?.files ?? [])]) {
    if (file.thumb !== undefined) file.url ??= file.thumb;
  }
}

startPage({ load: galleryInPage, prepare: openGallery });
