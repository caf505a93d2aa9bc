import { describe, expect, it } from 'vitest';
import type { UploadAnswer } from '../../../src/contract/answer.ts';
import { uploadFile } from '../../../src/run/upload.ts';
import { orderOf, type Script, tracedPorts } from './traced-ports.ts';

const file = { path: 'a.png', sha256: 'a'.repeat(64), bytes: 7 };
const uploaded: UploadAnswer = { is: 'uploaded', assetId: 'asset-1', url: 'https://l.example/a' };
const onRecord = ['finish', { state: 'done', jobId: 'asset-1', outputs: [], url: 'https://l.example/a' }];

async function upload(facts: Parameters<typeof orderOf>[0], answer: UploadAnswer = uploaded, script: Script = {}) {
  const sent: unknown[] = [];
  const service = {
    upload: async (order: unknown) => {
      sent.push(order);
      return answer;
    },
  };
  const { ports, told, events } = tracedPorts({ service, ...script });
  const end = await uploadFile(orderOf({ kind: 'upload', request: {}, ...facts }), ports);
  return { end, sent, told, events };
}

const done = { outcome: 'done', credits: 0 };
const left = { outcome: 'left', credits: 0 };

describe('bringing a file into the library', () => {
  it('sends the file under its name and type, and puts its address on record', async () => {
    const request = { fileName: 'b.png', contentType: 'image/png' };
    expect(await upload({ file, request })).toEqual({
      end: done,
      sent: [{ ...file, ...request }],
      told: [['release'], onRecord],
      events: [{ event: 'file-uploaded', address: 'hero@de', assetId: 'asset-1', bytes: 7 }],
    });
  });

  it('has a link fetched by the service; its size is not known', async () => {
    const { sent, events } = await upload({ request: { url: 'https://a.example/x', fileName: 7, contentType: null } });
    expect(sent).toEqual([{ url: 'https://a.example/x' }]);
    expect(events).toMatchObject([{ bytes: null }]);
  });

  it('is a bug without either', async () => {
    await expect(upload({})).rejects.toThrow('internal error: hero@de has nothing to upload');
  });

  it('sends nothing where it was done before', async () => {
    expect(await upload({ file, jobId: 'asset-0' })).toEqual({ end: done, sent: [], told: [], events: [] });
  });

  it('shares what another step sent, if that has an address', async () => {
    const jobOf = (url?: string) => ({
      ledger: {
        jobOf: async () => ({ kind: 'upload', jobId: 'asset-1', files: 0, ...(url !== undefined && { url }) }),
      },
    });
    const shared = await upload({ file, sharesJobOf: 'x' }, uploaded, jobOf('https://l.example/a'));
    expect(shared).toEqual({ end: done, sent: [], told: [onRecord], events: [] });
    expect((await upload({ file, sharesJobOf: 'x' }, uploaded, jobOf())).sent).toHaveLength(1);
    expect((await upload({ file }, uploaded, jobOf('https://l.example/a'))).sent).toHaveLength(1);
  });

  it('sends nothing in a run that is ending', async () => {
    const nothing = { end: left, sent: [], told: [], events: [] };
    expect(await upload({ file }, uploaded, { aborted: true })).toEqual(nothing);
    const begin = async () => ({ do: 'stop', because: 'auth' }) as const;
    expect(await upload({ file }, uploaded, { ledger: { begin } })).toEqual(nothing);
  });

  it.each<[Extract<UploadAnswer, { is: 'failed' }>['why'], object, unknown[]]>([
    ['changed', { outcome: 'refused', credits: 0, error: 'm' }, []],
    ['refused', { outcome: 'refused', credits: 0, error: 'm' }, []],
    ['auth', { ...left, error: 'm' }, [['stop', 'auth', 'm']]],
    ['unreachable', { ...left, error: 'm' }, [['stop', 'unreachable', 'm']]],
    ['interrupted', left, []],
  ])('ends with “%s”', async (why, end, stops) => {
    const answer = await upload({ file }, { is: 'failed', why, message: 'm' });
    expect(answer).toEqual({ end, sent: [file], told: [['release'], ...stops], events: [] });
  });
});
