import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { pathToFileURL } from 'node:url';
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-jsonrpc/node.js';

export interface Problem {
  readonly message: string;
  readonly line: number;
}

export interface Editor {
  /** What is offered at the cursor, by the names that are shown. The cursor stands where the text holds `|`. */
  complete(text: string): Promise<string[]>;
  /** What is said about the word at the cursor, as Markdown; empty: nothing. */
  hover(text: string): Promise<string>;
  /** Lines are those of the text. */
  problems(text: string): Promise<Problem[]>;
  /** Of a file on disk, by the schema that its own first line names. */
  problemsIn(path: string): Promise<Problem[]>;
  /** How often the server wanted to reach anything on the network. */
  networkCalls(): number;
  close(): Promise<void>;
}

/** The server that editors run for YAML, spoken to as an editor does. A line that names the schema is put before each text. */
export async function openEditor(schemaUrl: string): Promise<Editor> {
  const server = createRequire(import.meta.url).resolve('yaml-language-server/out/server/src/server.js');
  const proxy = await countConnections();
  const proxyUrl = `http://127.0.0.1:${proxy.port}`;
  const child = spawn(process.execPath, [server, '--stdio'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    // As well as the setting, which comes a moment later.
    env: { ...process.env, http_proxy: proxyUrl, https_proxy: proxyUrl, HTTP_PROXY: proxyUrl, HTTPS_PROXY: proxyUrl },
  });
  const connection = createMessageConnection(
    new StreamMessageReader(child.stdout),
    new StreamMessageWriter(child.stdin),
  );
  const settings: Readonly<Record<string, unknown>> = {
    yaml: {
      schemaStore: { enable: false },
      kubernetesCRDStore: { enable: false },
      validate: true,
      hover: true,
      completion: true,
    },
    http: { proxy: proxyUrl, proxyStrictSSL: false },
  };
  connection.onRequest('workspace/configuration', ({ items }: { items: { section: string }[] }) =>
    items.map(({ section }) => settings[section] ?? null),
  );
  connection.onRequest('client/registerCapability', () => null);
  const waiting = new Map<string, (problems: Problem[]) => void>();
  connection.onNotification('textDocument/publishDiagnostics', ({ uri, diagnostics }: Published) => {
    waiting.get(uri)?.(diagnostics.map(({ message, range }) => ({ message, line: range.start.line + 1 })));
  });
  connection.listen();
  await connection.sendRequest('initialize', {
    processId: process.pid,
    rootUri: null,
    capabilities: {
      workspace: { configuration: true, didChangeConfiguration: { dynamicRegistration: true } },
      textDocument: {
        hover: { contentFormat: ['markdown'] },
        completion: { completionItem: { snippetSupport: true } },
      },
    },
  });
  await connection.sendNotification('initialized', {});

  let opened = 0;
  const modeline = `# yaml-language-server: $schema=${schemaUrl}\n`;
  const open = (uri: string, text: string) =>
    connection.sendNotification('textDocument/didOpen', {
      textDocument: { uri, languageId: 'yaml', version: 1, text },
    });
  const nextUri = () => {
    opened += 1;
    return `file:///campaign-${opened}.yaml`;
  };
  const openWithCursor = async (text: string) => {
    const [before = '', after] = text.split('|');
    if (after === undefined) throw new Error('the text has no cursor');
    const lines = (modeline + before).split('\n');
    const uri = nextUri();
    await open(uri, modeline + before + after);
    return { textDocument: { uri }, position: { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 } };
  };
  const problemsOf = async (uri: string, text: string) => {
    const published = new Promise<Problem[]>((resolve) => waiting.set(uri, resolve));
    await open(uri, text);
    return published;
  };

  return {
    async complete(text) {
      const at = await openWithCursor(text);
      const list: { items: { label: string }[] } | null = await connection.sendRequest('textDocument/completion', at);
      return (list?.items ?? []).map(({ label }) => label);
    },
    async hover(text) {
      const at = await openWithCursor(text);
      const hover: { contents: { value: string } } | null = await connection.sendRequest('textDocument/hover', at);
      return hover?.contents.value ?? '';
    },
    async problems(text) {
      const problems = await problemsOf(nextUri(), modeline + text);
      return problems.map(({ message, line }) => ({ message, line: line - 1 }));
    },
    problemsIn: (path) => problemsOf(pathToFileURL(path).href, readFileSync(path, 'utf8')),
    networkCalls: proxy.count,
    async close() {
      await connection.sendRequest('shutdown');
      await connection.sendNotification('exit');
      connection.dispose();
      child.kill();
      await proxy.close();
    },
  };
}

interface Published {
  readonly uri: string;
  readonly diagnostics: { readonly message: string; readonly range: { readonly start: { readonly line: number } } }[];
}

/** Given to the server as its proxy: whatever it asks of the network comes here, and goes no further. */
async function countConnections() {
  let count = 0;
  const server = createServer((socket) => {
    count += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('there is no free port');
  return {
    port: address.port,
    count: () => count,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
