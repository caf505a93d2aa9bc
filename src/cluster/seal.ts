import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const nonceBytes = 12;
const tagBytes = 16;

/** Seals what a database must not learn (links, bodies of requests), readable for holders of the same API key alone. */
export interface Seal {
  seal(text: string): Buffer;
  /** `undefined`: sealed with another key, or damaged. */
  open(sealed: Buffer): string | undefined;
}

/** AES-256-GCM, with a key derived from the API key. */
export function makeSeal(token: string): Seal {
  const key = Buffer.from(hkdfSync('sha256', token, '', 'mediabatch seal 1', 32));
  return {
    seal(text) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]); // I36
    },
    open(sealed) {
      if (sealed.length < nonceBytes + tagBytes) return undefined;
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes));
      decipher.setAuthTag(sealed.subarray(-tagBytes));
      try {
        const text = [decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()];
        return Buffer.concat(text).toString('utf8');
      } catch {
        return undefined;
      }
    },
  };
}
