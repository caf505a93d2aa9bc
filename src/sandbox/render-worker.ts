import { parentPort } from 'node:worker_threads';
import type { RenderOrder } from './kinds/kind.ts';
import { renderHere, type WorkerAnswer } from './renderer.ts';

parentPort?.on('message', async ({ number, order }: { number: number; order: RenderOrder }) => {
  const answer = await renderHere(order).then(
    (bytes): WorkerAnswer => ({ type: 'done', number, bytes: new Uint8Array(bytes) }),
    (error: unknown): WorkerAnswer => ({ type: 'failed', number, message: String(error) }),
  );
  parentPort?.postMessage(answer, answer.type === 'done' ? [answer.bytes.buffer as ArrayBuffer] : []);
});
