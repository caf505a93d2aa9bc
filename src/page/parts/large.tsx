import type { ReviewAsset } from '../../contract/review.ts';
import { Film, Nothing, Sound, Unreadable, useFailures, whyNothing } from './media.tsx';
import { mainFile } from './words.ts';

export function Large({ asset }: { asset: ReviewAsset }) {
  const file = mainFile(asset);
  const nothing = whyNothing(asset);
  const [failures, fail, isRetried] = useFailures(file?.sha256 ?? '');
  if (file === undefined || nothing !== undefined) return <Nothing text={nothing ?? ''} />;
  if (failures > 0) return <Unreadable file={file} isRetried={isRetried} />;
  switch (file.is) {
    case 'image':
      return (
        <img
          key={file.sha256}
          src={file.url}
          alt={asset.address}
          decoding="sync"
          // The thumbnail is the background until the picture is loaded.
          style={file.thumb && { backgroundImage: `url(${file.thumb})` }}
          onLoad={({ currentTarget }) => currentTarget.style.removeProperty('background-image')}
          onError={fail}
        />
      );
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
