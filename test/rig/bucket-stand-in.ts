import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { serveHere } from './listen.ts';

interface Stored {
  bytes: Buffer;
  headers: Record<string, string>;
}

interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: Buffer | string;
}

/** `break`: the connection breaks. A status: answered with it. `cut`: half of the body. */
export type BucketTrouble = 'break' | 'cut' | { status: number; code: string };

interface Asked {
  method: string;
  /** Path and query, as on the wire. */
  url: string;
}

export const bucketEnv = {
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  AWS_REGION: 'eu-central-1',
};

/** An S3-compatible storage on loopback: checks signatures and digests by its own reading of Signature Version 4. */
export class BucketStandIn {
  readonly objects = new Map<string, Stored>();
  readonly asked: Asked[] = [];
  trouble: (asked: Asked) => BucketTrouble | undefined = () => undefined;
  /** As storages that never heard of `If-None-Match` on a PUT. */
  knowsConditions = true;
  endpoint = '';

  get env(): NodeJS.Dict<string> {
    return { ...bucketEnv, AWS_ENDPOINT_URL_S3: this.endpoint };
  }

  static async start(): Promise<BucketStandIn> {
    const bucket = new BucketStandIn();
    bucket.endpoint = await serveHere(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const asked = { method: request.method ?? '', url: request.url ?? '' };
      bucket.asked.push(asked);
      const trouble = bucket.trouble(asked);
      if (trouble === 'break') return request.socket.destroy();
      const answer =
        typeof trouble === 'object'
          ? failure(trouble.status, trouble.code)
          : bucket.#answer(asked, request, Buffer.concat(chunks));
      const body = Buffer.from(answer.body ?? '');
      response.writeHead(answer.status, { 'content-length': body.length, ...answer.headers });
      if (trouble === 'cut') return response.write(body.subarray(0, body.length / 2), () => response.destroy());
      response.end(request.method === 'HEAD' ? undefined : body);
    });
    return bucket;
  }

  #answer({ method, url }: Asked, request: IncomingMessage, body: Buffer): Answer {
    const [path = '', query = ''] = url.split('?');
    const refused = checkSignature({ method, path, query }, request, body);
    if (refused !== undefined) return failure(403, refused);
    const key = decodeURIComponent(path.slice(1));
    if (method === 'PUT') return this.#put(key, request, body);
    const found = this.objects.get(key);
    if (found === undefined) return failure(404, 'NoSuchKey');
    return {
      status: 200,
      headers: { ...found.headers, etag: etagOf(found.bytes), 'content-length': String(found.bytes.length) },
      body: found.bytes,
    };
  }

  #put(key: string, { headers }: IncomingMessage, body: Buffer): Answer {
    if (headers['if-none-match'] !== undefined) {
      if (!this.knowsConditions) return failure(501, 'NotImplemented');
      if (this.objects.has(key)) return failure(412, 'PreconditionFailed');
    }
    const source = headers['x-amz-copy-source'];
    if (source === undefined) {
      this.objects.set(key, { bytes: body, headers: keptOf(headers) });
      return { status: 200, headers: { etag: etagOf(body) } };
    }
    const from = this.objects.get(decodeURIComponent(String(source).slice(1)));
    if (from === undefined) return failure(404, 'NoSuchKey');
    this.objects.set(key, from);
    return { status: 200, body: '<CopyObjectResult></CopyObjectResult>' };
  }
}

function keptOf(headers: IncomingMessage['headers']): Record<string, string> {
  const { 'content-type': type = '', 'x-amz-meta-sha256': sha256 } = headers;
  return { 'content-type': type, ...(typeof sha256 === 'string' && { 'x-amz-meta-sha256': sha256 }) };
}

function etagOf(bytes: Buffer): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`;
}

function failure(status: number, code: string): Answer {
  return { status, body: `<Error><Code>${code}</Code><Message>no, said the storage</Message></Error>` };
}

/** The code of the refusal, if the request is not signed with the secret, or has other bytes than it was signed for. */
function checkSignature(
  { method, path, query }: { method: string; path: string; query: string },
  { headers }: IncomingMessage,
  body: Buffer,
): string | undefined {
  const form =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=(\w+)$/;
  const [, id, day = '', region = '', names = '', signature] = form.exec(headers.authorization ?? '') ?? [];
  if (id !== bucketEnv.AWS_ACCESS_KEY_ID) return 'InvalidAccessKeyId';
  const digest = headers['x-amz-content-sha256'];
  if (digest !== sha256(body)) return 'XAmzContentSHA256Mismatch';
  const isSigned = ['host', 'x-amz-date', 'x-amz-content-sha256'].every((name) => names.split(';').includes(name));
  const date = String(headers['x-amz-date']);
  if (!isSigned || Math.abs(Date.now() - timeOf(date)) > 15 * 60_000) return 'RequestTimeTooSkewed';
  const canonical = [
    method,
    path
      .split('/')
      .map((part) => encode(decodeURIComponent(part)))
      .join('/'),
    [...new URLSearchParams(query)]
      .map((pair) => pair.map(encode).join('='))
      .sort()
      .join('&'),
    ...names.split(';').map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    names,
    digest,
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256(Buffer.from(canonical))].join('\n');
  const key = [day, region, 's3', 'aws4_request'].reduce<Buffer | string>(
    hmac,
    `AWS4${bucketEnv.AWS_SECRET_ACCESS_KEY}`,
  );
  return hmac(key, text).toString('hex') === signature ? undefined : 'SignatureDoesNotMatch';
}

function timeOf(date: string): number {
  return Date.parse(date.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/, '$1-$2-$3:$4:$5'));
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}
