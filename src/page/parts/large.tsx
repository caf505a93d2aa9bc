import { useEffect, useState } from 'preact/hooks';
import type { ReviewAsset } from '../../contract/review.ts';
import { Film, mainFile, Nothing, Sound, Unreadable, whyNothing } from './media.tsx';

/** One asset as large as its place allows. */
export function Large({ asset }: { asset: ReviewAsset }) {
  const file = mainFile(asset);
  const nothing = whyNothing(asset);
  const [isUnreadable, setUnreadable] = useState(false);
  useEffect(() => setUnreadable(false), [file?.sha256]);
  if (file === undefined || nothing !== undefined) return <Nothing text={nothing ?? ''} />;
  if (isUnreadable) return <Unreadable file={file} />;
  switch (file.is) {
    case 'image':
      return <img src={file.url} alt={asset.address} decoding="sync" onError={() => setUnreadable(true)} />;
    case 'audio':
      return <Sound file={file} name={`Play ${asset.address}`} />;
    case 'video':
      return <Film file={file} name={`Play ${asset.address}`} isPlayer />;
    case 'other':
      return <Nothing text={`${file.path} (${file.mediaType}) cannot be shown here`} />;
    default:
      return file.is satisfies never;
  }
}
