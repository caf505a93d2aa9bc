import { text } from 'node:stream/consumers';
import { Bucket, BucketError, parseS3 } from '../../cluster/store/s3.ts';
import { systemClock } from '../../contract/clock.ts';
import type { CampaignError } from '../../contract/failure.ts';
import { hashFile } from '../../disk/outputs/hash-file.ts';
import { checkOutputPath } from '../../disk/outputs/output-path.ts';
import type { Output } from '../../lock/record.ts';
import { wrongOptions } from '../option-table.ts';
import { ownList } from '../outputs-list.ts';

export async function bucketPlace(
  to: string,
  { env, fail }: { env: NodeJS.Dict<string>; fail: (why: string) => CampaignError },
) {
  const place = parseS3(to);
  if (place === undefined) {
    throw wrongOptions(`--to ${to} names no bucket`, 'add the bucket, for example --to s3://shop/spring', '--to');
  }
  const bucket = await Bucket.open(place.bucket, { env, clock: systemClock });
  const asking = <T>(work: () => Promise<T>): Promise<T> =>
    work().catch((error: unknown) => {
      throw error instanceof BucketError ? fail(error.message) : error;
    });
  const keyOf = (name: string) => `${place.prefix}${checkOutputPath(name).join('/')}`;
  return {
    look: (name: string): Promise<{ bytes: number; sha256?: string | undefined } | undefined> =>
      asking(() => bucket.head(keyOf(name))),
    put: (source: string, name: string, { sha256, type }: Output) =>
      asking(async () => {
        if ((await hashFile(source))?.sha256 !== sha256) return false;
        await bucket.putFile(keyOf(name), { path: source, sha256, type });
        return true;
      }),
    readIndex: (name: string) =>
      asking(async () => {
        const body = await bucket.get(keyOf(name));
        const own = ownList('csv');
        const list = body && (await text(body));
        if (list === undefined || own.isOwn(list)) return list;
        throw fail(`${name} already exists and is not a ${own.what}; it was not changed`);
      }),
    putIndex: (name: string, list: string) =>
      asking(() => bucket.putBytes(keyOf(name), Buffer.from(list), { type: 'text/csv; charset=utf-8' })),
  };
}
