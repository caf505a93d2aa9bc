import { parentPort } from 'node:worker_threads';
import { makeThumb, type ThumbOrder } from './thumbs/make-thumb.ts';

/** A thread of `ThumbPool`: one order in, one small picture or the reason why there is none out. */
parentPort?.on('message', async (order: ThumbOrder) => {
  const thumb = await makeThumb(order);
  parentPort?.postMessage(thumb);
});
