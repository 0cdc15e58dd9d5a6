import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageIdentity, verifySignature } from '../../src/receiver.js';
import { type Command, command, type Invocation } from './command-line/command.js';
import { firstSignal } from './first-signal.js';
import { listenParts } from './settings/process-settings.js';
import { Stopped } from './stopped.js';

/** Maximum size of a body in bytes; longer ones are not read. */
const mostBytes = 1_048_576;

const options = {
  listen: { type: 'text', value: 'HOST:PORT', summary: 'address to listen on (127.0.0.1:4647)' },
  'token-file': { type: 'text', value: 'FILE', summary: 'file with the secret that signatures are checked with' },
  status: { type: 'text', value: 'STATUS', summary: 'what is answered, for trying out failures (204)' },
} as const;

/** `signalbox receive`: a destination for trying things out. Prints each notification; `--json` prints bodies as they came. */
export const receive: Command = command({
  words: 'receive',
  parameters: '',
  summary: 'receive notifications and print them, until a signal',
  options,
  local: true,
  run: async (invocation) => {
    // Whoever reads that it listens may end it at once.
    const signalled = firstSignal();
    const server = await startReceiver(invocation);
    await signalled;
    server.close();
    server.closeAllConnections();
    return 0;
  },
});

/** Listens and prints; the caller closes it. */
export async function startReceiver(invocation: Invocation<typeof options>): Promise<Server> {
  const { terminal, json } = invocation;
  const address = listenParts(invocation.options.listen ?? '127.0.0.1:4647');
  if (address === undefined) throw new Stopped('--listen takes HOST:PORT, such as 127.0.0.1:4647', 2);
  const status = Number(invocation.options.status ?? 204);
  if (!(Number.isInteger(status) && status >= 200 && status <= 599)) throw new Stopped('--status takes 200 to 599', 2);
  const file = invocation.options['token-file'];
  const token = file === undefined ? undefined : (await terminal.read(file)).trim();
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      terminal.out(json ? `${body}\n` : lineOf(request, body, token));
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new Stopped(`cannot listen: ${error.message}`)));
    server.listen(address.port, address.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  terminal.error(`receiving on http://${host}:${port}\n`);
  return server;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > mostBytes) break;
      chunks.push(chunk);
    }
  } catch {
    // The sender went away; what came is printed.
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** `run:errored "Run Errored" id=… signature=right`. What was sent by others is printed as JSON text: no control characters. */
function lineOf(request: IncomingMessage, body: string, token: string | undefined): string {
  const id = messageIdentity(request.headers).map((identity) => identity.id);
  const checked =
    token === undefined
      ? ''
      : ` signature=${verifySignature({ body, headers: request.headers, token }).isOk() ? 'right' : 'wrong'}`;
  const { trigger, message } = saidIn(body);
  return `${JSON.stringify(trigger).slice(1, -1)} ${JSON.stringify(message)} id=${id.map((text) => JSON.stringify(text).slice(1, -1)).unwrapOr('none')}${checked}\n`;
}

function saidIn(body: string): { readonly trigger: string; readonly message: string } {
  try {
    const payload = JSON.parse(body) as {
      notifications?: readonly { trigger?: unknown; message?: unknown }[];
      text?: unknown;
    };
    const [first] = payload.notifications ?? [];
    if (first === undefined) return { trigger: 'message', message: String(payload.text ?? body.slice(0, 200)) };
    return { trigger: String(first.trigger), message: String(first.message) };
  } catch {
    return { trigger: 'unknown', message: body.slice(0, 200) };
  }
}
