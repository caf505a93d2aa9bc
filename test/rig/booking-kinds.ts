/**
 * The kinds of a `BookingService` that cost something: image and music replay keys, video and voiceover have lists,
 * influencer has neither. A post has neither, and is free.
 */
export const prices: Readonly<Record<string, number>> = { image: 3, music: 4, video: 10, voiceover: 5, influencer: 8 };

export const kindsByCreate: Readonly<Record<string, string>> = {
  '/image-generations/create': 'image',
  '/music-generations/create': 'music',
  '/videos/create': 'video',
  '/voiceovers/create': 'voiceover',
  '/influencer-studio/create': 'influencer',
  '/influencer-studio': 'influencer',
  '/posts': 'post',
};

/** Where posts can go. */
export const accounts = ['acc_shop', 'acc_team'].map((id) => ({ id, provider: 'instagram', accountName: id }));

export const listPaths: Readonly<Record<string, string>> = { '/videos/all': 'video', '/voiceovers/all': 'voiceover' };

export const statusPaths: Readonly<Record<string, readonly string[]>> = {
  '/image/status': ['image', 'influencer'],
  '/music/status': ['music'],
  '/video/status': ['video'],
  '/voiceovers/status': ['voiceover'],
};

/** The smallest file that passes for the kind's output; its bytes are the job's own. */
export function mediaOf(kind: string, id: string): Buffer {
  const text = Buffer.from(id);
  switch (kind) {
    case 'video':
      return Buffer.concat([box('ftyp', Buffer.from('isom0000isom')), box('mdat', text), box('moov', text)]);
    case 'music':
    case 'voiceover':
      return wav(text);
    default:
      return Buffer.concat([
        Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
        text,
        Buffer.from([0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82]),
      ]);
  }
}

function box(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(content.length + 8);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, content]);
}

function wav(content: Buffer): Buffer {
  const padded = Buffer.concat([content, Buffer.alloc(content.length % 2)]);
  const head = Buffer.alloc(12);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(padded.length + 12, 4);
  head.write('WAVE', 8, 'latin1');
  const data = Buffer.alloc(8);
  data.write('data', 0, 'latin1');
  data.writeUInt32LE(padded.length, 4);
  return Buffer.concat([head, data, padded]);
}
