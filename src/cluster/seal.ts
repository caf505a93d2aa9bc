import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';

const nonceBytes = 12;
const tagBytes = 16;

/**
 * Seals what a database must not learn or change (links, bodies of requests, plans), readable for holders of the same API key
 * alone. A text that was sealed with a `context` opens with the same one only: it cannot be put in the place of another.
 */
export interface Seal {
  seal(text: string, context?: string): Buffer;
  /** `undefined`: sealed with another key or in another context, or changed since. */
  open(sealed: Buffer, context?: string): string | undefined;
  /** The same for a long text, which no database can make smaller once it is sealed. */
  sealLong(text: string, context: string): Buffer;
  openLong(sealed: Buffer, context: string): string | undefined;
}

/** AES-256-GCM, with a key derived from the API key. */
export function makeSeal(token: string): Seal {
  const key = Buffer.from(hkdfSync('sha256', token, '', 'mediabatch seal 1', 32));
  const seal = (bytes: Uint8Array, context = '') => {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
    return Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]); // I36
  };
  const open = (sealed: Buffer, context = '') => {
    if (sealed.length < nonceBytes + tagBytes) return undefined;
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes));
    decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(-tagBytes));
    try {
      return Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()]);
    } catch {
      return undefined;
    }
  };
  return {
    seal: (text, context) => seal(Buffer.from(text), context),
    open: (sealed, context) => open(sealed, context)?.toString('utf8'),
    sealLong: (text, context) => seal(deflateRawSync(text, { level: 1 }), context),
    openLong(sealed, context) {
      const bytes = open(sealed, context);
      return bytes && inflateRawSync(bytes).toString('utf8');
    },
  };
}
