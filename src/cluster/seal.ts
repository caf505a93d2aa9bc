import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { sameAddress } from '../ground/same-address.ts';
import { accountName } from '../service/secrets.ts';

const nonceBytes = 12;
const tagBytes = 16;

/** Encrypts links, request bodies and plans, so that the database cannot reveal or change them. */
export interface Seal {
  seal(text: string, context?: string): Buffer;
  /** Returns `undefined` if the text was encrypted with another key or `context`, or was changed. */
  open(sealed: Buffer, context?: string): string | undefined;
}

export function makeSeal(token: string): Seal {
  const key = Buffer.from(hkdfSync('sha256', token, '', 'mediabatch seal 1', 32));
  return {
    seal(text, context = '') {
      const nonce = randomBytes(nonceBytes);
      // Compresses the text before the encryption, because the database cannot compress encrypted data.
      const bytes = deflateRawSync(text, { level: 1 });
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
      return Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]); // I36
    },
    open(sealed, context = '') {
      if (sealed.length < nonceBytes + tagBytes) return undefined;
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes));
      decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(-tagBytes));
      try {
        const bytes = Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()]);
        return inflateRawSync(bytes).toString('utf8');
      } catch {
        return undefined;
      }
    },
  };
}

/** Returns an account's name on an engine: a keyed hash of 32 hex digits, which does not reveal the API key. */
export function accountOf({ token, baseUrl }: { token: string; baseUrl: string }): string {
  const of = sameAddress(baseUrl) ?? baseUrl;
  return createHmac('sha256', accountName(token)).update(`mediabatch account\n${of}`).digest('hex').slice(0, 32);
}
