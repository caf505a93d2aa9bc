import { createServer } from 'node:http';

/** One pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=',
  'base64',
);

/**
 * The service with nothing behind it: jobs are done at once, and every output is the same pixel. Measures the client, not
 * the service. Runs as a process of its own, and prints its base URL.
 */
const server = createServer((request, response) => {
  const { method = '', url = '' } = request;
  const origin = `http://${request.headers.host}`;
  const answer = (body: unknown) => {
    const bytes = Buffer.from(JSON.stringify(body));
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length });
    response.end(bytes);
  };
  request.resume();
  request.on('end', () => {
    if (method === 'POST') {
      // Like the service, it gives the same job for the same key.
      const id = String(request.headers['idempotency-key'] ?? '').slice(4, 28);
      answer({ success: true, generation: { id, status: 'QUEUED' }, creditsDeducted: 1, creditsRemaining: 1_000_000 });
    } else if (url.startsWith('/files/')) {
      response.writeHead(200, { 'content-type': 'image/png', 'content-length': png.length });
      response.end(png);
    } else {
      const id = url.slice(url.lastIndexOf('/') + 1);
      const now = new Date().toISOString();
      const times = { createdAt: now, updatedAt: now, completedAt: now };
      answer({
        success: true,
        data: { id, status: 'COMPLETED', outputUrl: `${origin}/files/${id}.png`, error: null, ...times },
      });
    }
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  process.stdout.write(`http://127.0.0.1:${address.port}/api/v1\n`);
});
