import { extname } from 'node:path';

const byExtension: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
  '.gif': 'image/gif',
  '.avif': 'image/avif',
  '.svg': 'image/svg+xml',
  '.mp4': 'video/mp4',
  '.m4v': 'video/mp4',
  '.mov': 'video/quicktime',
  '.webm': 'video/webm',
  '.mkv': 'video/x-matroska',
  '.mp3': 'audio/mpeg',
  '.wav': 'audio/wav',
  '.flac': 'audio/flac',
  '.m4a': 'audio/mp4',
  '.ogg': 'audio/ogg',
  '.pdf': 'application/pdf',
  '.txt': 'text/plain',
};

export const unknownMediaType = 'application/octet-stream';

export function guessMediaType(fileName: string): string {
  const extension = extname(fileName).toLowerCase();
  return (Object.hasOwn(byExtension, extension) ? byExtension[extension] : undefined) ?? unknownMediaType;
}

export function isMediaType(text: string): boolean {
  return /^[\w.+-]+\/[\w.+-]+(\s*;[\x20-\x7e]*)?$/.test(text);
}

export function assetType(mediaType: string): 'IMAGE' | 'VIDEO' | 'AUDIO' | 'DOCUMENT' {
  switch (mediaType.toLowerCase().split('/')[0]) {
    case 'image':
      return 'IMAGE';
    case 'video':
      return 'VIDEO';
    case 'audio':
      return 'AUDIO';
    default:
      return 'DOCUMENT';
  }
}
